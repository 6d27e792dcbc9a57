// Numbers as people read them; the same as in src/nvshare/telemetry/words.py.
const GIB = 2 ** 30;

export const PARTS = ["computing", "waiting", "held_back", "memory_in", "memory_out", "idle"];
export const PART_WORDS = {
  computing: "computing",
  waiting: "waiting",
  held_back: "held back by share",
  memory_in: "memory coming in",
  memory_out: "memory going out",
  idle: "idle",
};

export function gib(bytes) {
  const value = bytes / GIB;
  return value < 100 ? value.toFixed(1) : value.toFixed(0);
}

export function duration(seconds) {
  if (seconds < 60) return `${seconds.toFixed(seconds < 10 ? 1 : 0)} s`;
  const minutes = Math.floor(seconds / 60);
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

export function percent(part) {
  const value = 100 * part;
  return value > 0 && value < 1 ? `${value.toFixed(1)} %` : `${value.toFixed(0)} %`;
}

// A memory limit as people type it: the largest unit that loses nothing.
export function quantity(bytes) {
  for (const [unit, size] of [["Gi", 2 ** 30], ["Mi", 2 ** 20], ["Ki", 2 ** 10]]) {
    if (bytes % size === 0) return `${bytes / size}${unit}`;
  }
  return String(bytes);
}

export const counted = (number, one, many) => `${number} ${number === 1 ? one : many}`;

export function stateOf(program) {
  if (program.parked && ["idle", "waiting"].includes(program.state)) return "parked";
  return program.state;
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
  return words.join(", ") || "–";
}

export const isOverLimit = (program) =>
  program.limits.memory_limit !== null && program.group_used > program.limits.memory_limit;

export const namespaceOf = (one) => (one.pod_name.includes("/") ? one.pod_name.split("/")[0] : "");
