// One panel per GPU: its holders, where its memory is, which programs ran, moved and waited, and its memory over time.
import { $, el, keep, setAttribute, setText } from "./dom.js";
import { drawLane, drawMemory, sampleAt } from "./draw.js";
import { programColour } from "./theme.js";
import { PARTS, PART_WORDS, duration, gib, usedPercent } from "./words.js";

const NAMES = 2;
const TICKS = { 60: ["60 s ago", "45", "30", "15", "now"], 300: ["5 min ago", "4", "3", "2", "1", "now"] };

export function showGpus(store) {
  const items = store.shownNodes().flatMap((node) => [
    ...(store.isCluster || !node.status ? [{ key: node.name, node }] : []),
    ...(node.status?.devices ?? []).map((gpu) => ({ key: `${node.name}/${gpu.uuid}`, node, gpu, store })),
  ]);
  keep($("gpus"), items, (one) => one.key, (one) => (one.gpu ? new Panel() : new NodeTitle()));
}

class NodeTitle {
  constructor() {
    this.name = el("h3");
    this.words = el("p", { class: "muted" });
    this.root = el("div", { class: "node-title" }, this.name, this.words);
  }

  update({ node }) {
    setText(this.name, node.name);
    setText(this.words, node.status ? nodeWords(node.status) : node.problem);
    this.words.className = node.status ? "muted" : "problem";
  }
}

function nodeWords(status) {
  const host = status.host;
  const missing = status.missing.map((one) => `GPU ${one.index} is not shared: ${one.why}`);
  const away = host.swapped_out ? [`${gib(host.swapped_out)} of ${gib(host.limit)} GiB of host memory used`] : [];
  return [...away, ...missing].join(" · ");
}

class Panel {
  constructor() {
    const title = `gpu-${crypto.getRandomValues(new Uint32Array(1))[0]}`;
    this.name = el("span");
    this.model = el("span", { class: "muted" });
    this.turn = el("div", { class: "gpu-turn" });
    this.bar = el("div", { class: "bar", role: "img" });
    this.barWords = el("div", { class: "bar-words" });
    this.lanesBox = el("figure", { class: "lanes" });
    this.axis = el("div", { class: "axis", "aria-hidden": "true" });
    this.canvas = el("canvas", { role: "img" });
    this.memoryBegin = el("span");
    this.memoryWords = el("span");
    const memory = el("figure", { class: "memory" }, el("div", { class: "memory-box" }, this.canvas),
      el("div", { class: "memory-axis", "aria-hidden": "true" }, this.memoryBegin, this.memoryWords, el("span", {}, "now")));
    this.root = el("article", { class: "gpu", "aria-labelledby": title },
      el("div", { class: "gpu-head" },
        el("div", { class: "gpu-about" }, el("h3", { class: "gpu-name", id: title }, this.name, this.model), this.turn),
        el("div", {}, this.bar, this.barWords)),
      el("div", { class: "charts" }, this.lanesBox, memory));
    this.canvas.addEventListener("pointermove", (event) => this.tellMemory(event));
    this.canvas.addEventListener("pointerleave", hideTip);
  }

  update({ node, gpu, store }) {
    const lanes = node.lanes.filter((one) => one.device === gpu.uuid);
    const programs = node.status.clients.filter((one) => one.device === gpu.uuid);
    this.shown = { samples: node.samples, end: node.last, seconds: store.span, lanes, gpu };
    setText(this.name, `GPU ${gpu.index}`);
    setText(this.model, gpu.name);
    this.showTurn(gpu, programs);
    this.showBar(gpu, programs, lanes);
    this.showLanes(lanes.filter((one) => store.passes(one)), lanes, programs);
    const ticks = TICKS[store.span];
    if (this.ticks !== ticks) this.axis.replaceChildren(...ticks.map((one) => el("span", {}, one)));
    this.ticks = ticks;
    setText(this.memoryBegin, ticks[0]);
    setText(this.memoryWords, `memory; full at ${gib(gpu.usable)} GiB`);
    this.drawMemory();
  }

  showTurn(gpu, programs) {
    const parts = [];
    if (gpu.lost_seconds !== null) {
      parts.push(el("span", { class: "gpu-lost" }, `lost ${duration(gpu.lost_seconds)} ago: ${gpu.lost_because}`));
    } else if (gpu.thrashing) {
      const { seconds, memory, room } = gpu.thrashing;
      const words = `thrashing for ${duration(seconds)}: programs with ${gib(memory)} GiB run at the same time, where ${gib(room)} GiB fit`;
      parts.push(el("span", { class: "gpu-lost" }, words));
    } else {
      const busy = Math.min(100, programs.reduce((sum, one) => sum + usedPercent(one), 0));
      parts.push(el("span", {}, el("b", {}, `${busy.toFixed(0)} %`), " busy"));
    }
    const running = programs.filter((one) => ["running", "yielding"].includes(one.state));
    const waiting = programs.filter((one) => one.state === "waiting" && one.parked !== "by hand");
    const left = gpu.turn_ends_in === null ? "" : `, ${duration(gpu.turn_ends_in)} left`;
    if (running.length) parts.push(el("span", {}, "turn: ", el("b", {}, names(running, programs)), left));
    if (waiting.length) parts.push(el("span", {}, "waiting: ", el("b", {}, names(waiting, programs))));
    if (!programs.length) parts.push(el("span", {}, "no program"));
    if (gpu.settings.mode !== "auto") parts.push(el("span", {}, `mode ${gpu.settings.mode}`));
    const words = parts.map((one) => one.textContent).join("|");
    if (words !== this.turnWords) this.turn.replaceChildren(...parts);
    this.turnWords = words;
  }

  showBar(gpu, programs, lanes) {
    const away = programs.reduce((sum, one) => sum + Math.min(one.swapped_out, one.allocated), 0);
    const here = programs.reduce((sum, one) => sum + one.allocated, 0) - away;
    const outside = gpu.outside.reduce((sum, one) => sum + one.memory, 0);
    const free = Math.max(0, gpu.usable - here);
    const whole = Math.max(gpu.usable, here) + away + outside;
    const place = new Map(lanes.map((one, number) => [one.id, number]));
    const piece = (one, bytes, kind) => ({ key: `${one}${kind}`, bytes, kind, number: place.get(one) });
    const pieces = [
      ...(outside ? [piece("", outside, "outside")] : []),
      ...programs.map((one) => piece(one.id, one.allocated - Math.min(one.swapped_out, one.allocated), "here")),
      piece("", free, "free"),
      ...programs.map((one) => piece(one.id, Math.min(one.swapped_out, one.allocated), "away")),
    ].filter((one) => one.bytes > 0);
    keep(this.bar, pieces, (one) => one.key, () => {
      const root = el("i");
      return {
        root,
        update: (one) => {
          root.className = one.kind;
          root.style.width = `${(100 * one.bytes) / whole}%`;
          root.style.background = one.number === undefined ? "" : programColour(one.number);
        },
      };
    });
    const words = [[gib(here), "on GPU"], [gib(free), "free"], ...(away ? [[gib(away), "away"]] : []),
      ...(outside ? [[gib(outside), "outside nvshare"]] : []), [gib(gpu.usable), "GiB usable"]];
    const text = words.map((one) => one.join(" ")).join(", ");
    setAttribute(this.bar, "aria-label", `Memory: ${text}`);
    if (text !== this.barText) {
      this.barWords.replaceChildren(...words.map(([number, what]) => el("span", {}, el("b", {}, number), ` ${what}`)));
    }
    this.barText = text;
  }

  showLanes(shown, all, programs) {
    const now = new Map(programs.map((one) => [one.id, one]));
    const items = shown.map((lane) => ({ lane, number: all.indexOf(lane), program: now.get(lane.id), shown: this.shown }));
    keep(this.lanesBox, items, (one) => one.lane.id, () => new Lane());
    this.note ??= el("p", { class: "quiet-note" });
    setText(this.note, all.length ? "No program of this GPU passes the filter." : "No program has used this GPU in the last minutes.");
    this.lanesBox.append(...(items.length ? [this.axis] : [this.note]));
    if (items.length) this.note.remove();
    else this.axis.remove();
  }

  drawMemory() {
    const { samples, end, seconds, lanes, gpu } = this.shown;
    drawMemory(this.canvas, samples, lanes, gpu.usable / 2 ** 20, end, seconds);
    setAttribute(this.canvas, "aria-label", `Memory of GPU ${gpu.index} over time. ${this.barText} now.`);
  }

  tellMemory(event) {
    const { samples, end, seconds, lanes } = this.shown;
    const sample = sampleAt(samples, this.canvas, event, end, seconds);
    if (!sample) return hideTip();
    const lines = lanes.filter((one) => sample.programs[one.id]).map((one) => {
      const [here, away] = sample.programs[one.id].slice(PARTS.length);
      return `${nameOf(one)}: ${gib(here * 2 ** 20)} GiB${away ? `, ${gib(away * 2 ** 20)} away` : ""}`;
    });
    return showTip(event, timeOf(sample), lines);
  }
}

class Lane {
  constructor() {
    this.swatch = el("span", { class: "swatch" });
    this.name = el("span");
    this.canvas = el("canvas", { role: "img" });
    this.now = el("span", { class: "lane-now" });
    this.root = el("div", { class: "lane" }, el("span", { class: "lane-name" }, this.swatch, this.name), this.canvas, this.now);
    this.canvas.addEventListener("pointermove", (event) => this.tell(event));
    this.canvas.addEventListener("pointerleave", hideTip);
  }

  update({ lane, number, program, shown }) {
    this.lane = lane;
    this.shown = shown;
    this.swatch.style.background = programColour(number);
    setText(this.name, nameOf(lane));
    setAttribute(this.name, "title", `${lane.pod_name || lane.user}: ${lane.program}`);
    setAttribute(this.root, "data-gone", lane.is_gone ? "" : null);
    setText(this.now, program ? `${usedPercent(program).toFixed(0)} %` : "ended");
    drawLane(this.canvas, shown.samples, lane.id, shown.end, shown.seconds);
    setAttribute(this.canvas, "aria-label", `${nameOf(lane)}: ${laneWords(shown, lane.id)}`);
  }

  tell(event) {
    const { samples, end, seconds } = this.shown;
    const sample = sampleAt(samples, this.canvas, event, end, seconds);
    const row = sample?.programs[this.lane.id];
    if (!row) return hideTip();
    const lines = PARTS.map((name, place) => [row[place], PART_WORDS[name]]).filter(([value]) => value);
    return showTip(event, `${nameOf(this.lane)}, ${timeOf(sample)}`, lines.map(([value, words]) => `${value} % ${words}`));
  }
}

// What a lane shows, as text for screen readers.
function laneWords({ samples, end, seconds }, id) {
  const rows = samples.filter((one) => one.until >= end - 1000 * seconds && one.programs[id]).map((one) => one.programs[id]);
  if (!rows.length) return "nothing seen yet";
  const means = PARTS.map((name, place) => [rows.reduce((sum, row) => sum + row[place], 0) / rows.length, PART_WORDS[name]]);
  return means.filter(([value]) => value >= 0.5).map(([value, words]) => `${value.toFixed(0)} % ${words}`).join(", ");
}

function nameOf(one) {
  return one.pod_name ? `${one.pod_name.split("/").pop()}: ${one.program}` : `${one.user}/${one.program}`;
}

// A name that another program on the GPU has is followed by a number: the pid, or the id if the pid is hidden.
function names(programs, among) {
  const isShared = (name) => among.filter((one) => nameOf(one) === name).length > 1;
  const numberOf = (one) => (one.pid > 0 ? `pid ${one.pid}` : `id ${one.id}`);
  const shown = programs.slice(0, NAMES).map((one) => (isShared(nameOf(one)) ? `${nameOf(one)} (${numberOf(one)})` : nameOf(one)));
  return [...shown, ...(programs.length > NAMES ? [`${programs.length - NAMES} more`] : [])].join(", ");
}

const timeOf = (sample) => new Date(sample.until).toLocaleTimeString();

function showTip(event, title, lines) {
  const tip = $("tip");
  tip.replaceChildren(el("b", {}, title), ...lines.map((line) => el("div", {}, line)));
  tip.hidden = false;
  tip.style.left = `${Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 8)}px`;
  tip.style.top = `${Math.min(event.clientY + 14, innerHeight - tip.offsetHeight - 8)}px`;
}

function hideTip() {
  $("tip").hidden = true;
}
