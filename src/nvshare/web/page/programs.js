// The programs as a table that can be sorted; a row opens to show how its time was spent, and why.
import { why } from "./api.js";
import { $, el, keep, setAttribute, setText } from "./dom.js";
import { PARTS, PART_WORDS, counted, duration, gib, isOverLimit, limitWords, partOf, percent, stateOf, usedPercent } from "./words.js";

const SVG = "http://www.w3.org/2000/svg";
// Reasons change slowly.
const WHY_PERIOD = 5000;

// Each: heading, sort key, and the first direction.
const COLUMNS = [
  { name: "Program", by: (one) => one.program.toLowerCase() },
  { name: "User", by: (one) => one.user },
  { name: "GPU", by: (one) => [one.node.name, one.gpu?.index ?? -1, one.id] },
  { name: "State", by: (one) => stateOf(one) },
  { name: "GPU time", by: (one) => usedPercent(one), falls: true },
  { name: "Memory", by: (one) => one.allocated, falls: true, number: true },
  { name: "Waited", by: (one) => partOf(one, "waiting"), falls: true, number: true },
  { name: "Limits", by: (one) => limitWords(one) },
];

export class Programs {
  constructor(store, onLimits) {
    this.store = store;
    this.onLimits = onLimits;
    this.sort = { column: COLUMNS[2], falls: false };
    this.open = new Set();
    this.heads = COLUMNS.map((column) => {
      const button = el("button", { type: "button", onclick: () => this.sortBy(column) }, column.name);
      return el("th", { scope: "col", class: column.number ? "number" : "" }, button);
    });
    $("heads").append(...this.heads, el("th", { scope: "col" }, el("span", { class: "unseen" }, "Change")));
  }

  sortBy(column) {
    const falls = this.sort.column === column ? !this.sort.falls : Boolean(column.falls);
    this.sort = { column, falls };
    this.show();
  }

  show() {
    const all = this.store.programs();
    const shown = all.filter((one) => this.store.passes(one)).sort((a, b) => this.compare(a, b));
    COLUMNS.forEach((column, place) => {
      const way = this.sort.falls ? "descending" : "ascending";
      setAttribute(this.heads[place], "aria-sort", this.sort.column === column ? way : null);
    });
    const items = shown.flatMap((one) => (this.open.has(one.key) ? [{ one }, { one, isDetails: true }] : [{ one }]));
    keep($("rows"), items, (item) => `${item.one.key}${item.isDetails ? "+" : ""}`, (item) =>
      item.isDetails ? new Details() : new Row(this));
    $("nobody").hidden = shown.length > 0;
    setText($("nobody"), all.length ? "No program passes the filter." : "No program uses a GPU. Start one with nvshare run.");
    setText($("programs-count"), shown.length === all.length ? "" : `${shown.length} of ${counted(all.length, "program", "programs")}`);
  }

  compare(a, b) {
    const [left, right] = [a, b].map(this.sort.column.by).map((value) => (Array.isArray(value) ? value : [value, ""]));
    for (let place = 0; place < left.length; place += 1) {
      if (left[place] < right[place]) return this.sort.falls ? 1 : -1;
      if (left[place] > right[place]) return this.sort.falls ? -1 : 1;
    }
    return a.id - b.id;
  }

  toggle(key) {
    if (!this.open.delete(key)) this.open.add(key);
    this.show();
  }
}

class Row {
  constructor(table) {
    this.table = table;
    this.name = el("button", { type: "button", class: "name", onclick: () => table.toggle(this.one.key) });
    this.about = el("small");
    this.user = el("td", { "data-label": "User" });
    this.gpu = el("td", { "data-label": "GPU" });
    this.state = el("span", { class: "state" });
    this.used = el("span");
    this.curve = curve();
    this.memory = el("span");
    this.away = el("small");
    this.waited = el("td", { class: "number", "data-label": "Waited" });
    this.limits = el("span");
    this.change = el("button", { type: "button", onclick: () => table.onLimits(this.one) }, "Change…");
    this.root = el("tr", { class: "program" },
      el("td", { class: "wide" }, this.name, this.about), this.user, this.gpu,
      el("td", { "data-label": "State" }, this.state),
      el("td", { "data-label": "GPU time" }, this.used, this.curve.root),
      el("td", { class: "number", "data-label": "Memory" }, this.memory, this.away),
      this.waited,
      el("td", { class: "limits", "data-label": "Limits" }, this.limits),
      el("td", { class: "change" }, this.change));
  }

  update({ one }) {
    this.one = one;
    setText(this.name, one.program);
    setAttribute(this.name, "aria-expanded", this.table.open.has(one.key));
    setText(this.about, `${one.pod_name ? `${one.pod_name} · ` : ""}id ${one.id} · pid ${one.pid}`);
    setText(this.user, one.user);
    setText(this.gpu, `${this.table.store.isCluster ? `${one.node.name} / ` : ""}${one.gpu?.index ?? "?"}`);
    setText(this.state, `${stateOf(one)}${one.overdue || one.cannot_drain ? " (overdue)" : ""}`);
    setAttribute(this.state, "data-state", stateOf(one));
    setAttribute(this.state, "title", `for ${duration(one.state_seconds)}`);
    setText(this.used, `${usedPercent(one).toFixed(0)} %`);
    this.curve.update(one.recent.computing_percent);
    setText(this.memory, `${gib(one.allocated)} GiB`);
    setText(this.away, one.swapped_out ? `${gib(one.swapped_out)} away` : "");
    setText(this.waited, percent(partOf(one, "waiting")));
    setText(this.limits, limitWords(one));
    this.limits.className = isOverLimit(one) ? "over" : "";
    setAttribute(this.limits, "title", isOverLimit(one) ? "more than the limit is in use" : null);
    setAttribute(this.change, "aria-label", `Change limits of ${one.program}, pid ${one.pid}`);
    this.change.hidden = !one.node.may_change;
  }
}

// The last seconds of a program, as a line without axes.
function curve() {
  const path = document.createElementNS(SVG, "path");
  const root = document.createElementNS(SVG, "svg");
  root.setAttribute("class", "curve");
  root.setAttribute("viewBox", "0 0 30 100");
  root.setAttribute("preserveAspectRatio", "none");
  root.setAttribute("aria-hidden", "true");
  root.append(path);
  const update = (values) => {
    const points = values.map((value, place) => `${30 - values.length + place + 0.5} ${96 - 0.92 * value}`);
    path.setAttribute("d", points.length > 1 ? `M${points.join("L")}` : "");
  };
  return { root, update };
}

class Details {
  constructor() {
    this.values = {};
    this.parts = el("dl", { class: "parts" });
    for (const name of PARTS) {
      const bar = el("i", { class: "swatch", "data-part": name });
      const value = el("dd", { class: "value" });
      bar.style.borderRadius = "4px";
      this.values[name] = { bar, value };
      this.parts.append(
        el("dt", {}, el("span", { class: "swatch", "data-part": name }), PART_WORDS[name]),
        el("dd", { class: "part-bar", "aria-hidden": "true" }, bar), value);
    }
    this.words = el("p", {}, "…");
    this.more = el("p", { class: "muted" });
    this.root = el("tr", { class: "details" },
      el("td", { colspan: COLUMNS.length + 1 }, el("div", { class: "closer" }, this.parts, el("div", {}, this.words, this.more))));
    this.asked = 0;
  }

  update({ one }) {
    for (const [name, { bar, value }] of Object.entries(this.values)) {
      setText(value, percent(partOf(one, name)));
      bar.style.width = `${100 * partOf(one, name)}%`;
    }
    setText(this.more, [
      `there for ${duration(one.connected_seconds)}`, counted(one.turns, "turn", "turns"),
      `longest wait ${duration(one.longest_wait_seconds)}`, `${gib(one.moved_in)} GiB moved in, ${gib(one.moved_out)} out`,
      `allocation ${one.allocation}`, ...(one.stuck_because ? [one.stuck_because] : []), ...(one.held_up_because ? [one.held_up_because] : []),
    ].join(" · "));
    if (Date.now() - this.asked > WHY_PERIOD) this.explain(one);
  }

  async explain(one) {
    this.asked = Date.now();
    try {
      this.words.replaceChildren(...withCode((await why(one.node.name, one.id)).sentences.join(" ")));
    } catch (error) {
      setText(this.words, error.message);
    }
  }
}

// Commands are between backticks.
const withCode = (text) => text.split("`").map((part, place) => (place % 2 ? el("code", {}, part) : part));
