// Numbers and limits in words: the same as in src/nvshare/telemetry/words.py and src/nvshare/cli/limit_words.py (tests/web/test_words.py).
import { LIMITS } from "./limit_table.js";

const GIB = 2 ** 30;

export const PARTS = ["computing", "waiting", "held_back", "memory_in", "memory_out", "thrashing", "idle"];
export const PART_WORDS = {
  computing: "computing",
  waiting: "waiting",
  held_back: "held back by share",
  memory_in: "memory coming in",
  memory_out: "memory going out",
  thrashing: "thrashing",
  idle: "idle",
};

// A value halfway between two is rounded to the even digit, as Python does it; toFixed rounds it up.
function fixed(value, digits) {
  const scaled = value * 10 ** digits;
  const isHalfway = Number.isInteger(4 * value) && Math.abs(scaled % 1) === 0.5;
  return (isHalfway ? (2 * Math.round(scaled / 2)) / 10 ** digits : value).toFixed(digits);
}

export function gib(bytes) {
  const value = bytes / GIB;
  return fixed(value, value < 100 ? 1 : 0);
}

export function duration(seconds) {
  if (seconds < 60) return `${fixed(seconds, 1)} s`;
  const minutes = Math.floor(seconds / 60);
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

export function percent(part) {
  const value = 100 * part;
  return `${fixed(value, value > 0 && value < 1 ? 1 : 0)} %`;
}

// A memory limit as people type it: the largest unit that loses nothing.
export function quantity(bytes) {
  for (const [unit, size] of [["Pi", 2 ** 50], ["Ti", 2 ** 40], ["Gi", 2 ** 30], ["Mi", 2 ** 20], ["Ki", 2 ** 10]]) {
    if (bytes && bytes % size === 0) return `${bytes / size}${unit}`;
  }
  return String(bytes);
}

export const counted = (number, one, many) => `${number} ${number === 1 ? one : many}`;

export function stateOf(program) {
  if (program.parked && ["idle", "waiting"].includes(program.state)) return "parked";
  return program.thrashes ? "thrashing" : program.state;
}

export const usedPercent = (program) => program.used_percent["10"] ?? 0;

export function partOf(program, name) {
  const parts = program.recent.attribution;
  const total = PARTS.reduce((sum, one) => sum + parts[one], 0);
  return total ? parts[name] / total : 0;
}

export function limitWords(program) {
  const { memory_limit: memory, compute_percent: compute, priority, burst } = program.limits;
  const words = [];
  if (memory !== null) words.push(`${gib(memory)} GiB`);
  if (compute !== null) {
    const scaled = program.share !== null && Math.round(program.share) < compute ? ` (${program.share.toFixed(0)})` : "";
    words.push(`${compute} %${scaled}${burst ? " burst" : ""}`);
  }
  if (priority) words.push(priority);
  return [...words, ...furtherLimits(program.limits)].join(", ") || "–";
}

// Limits that have no words of their own above.
const SHOWN = ["memory_limit", "compute_percent", "burst", "priority"];

export function furtherLimits(limits, table = LIMITS) {
  const inForce = table.filter(({ name }) => !SHOWN.includes(name) && ![null, false].includes(limits[name]));
  return inForce.map((limit) => (limit.kind === "check" ? limit.option : `${limit.option}=${valueOf(limit, limits[limit.name])}`));
}

const valueOf = (limit, value) => (limit.isAmount ? quantity(value) : `${value}${limit.unit ?? ""}`);

export const isOverLimit = (program) =>
  program.limits.memory_limit !== null && program.group_used > program.limits.memory_limit;

export const namespaceOf = (one) => (one.pod_name.includes("/") ? one.pod_name.split("/")[0] : "");
