// Changes a program's limits, or parks it, in two steps: the form, then the list of changes, which has to be confirmed.
import { changeLimits, park } from "./api.js";
import { $, el, setText } from "./dom.js";
import { LIMITS } from "./limit_table.js";
import { counted, quantity } from "./words.js";

export class Limits {
  constructor(onChanged) {
    this.onChanged = onChanged;
    this.dialog = $("limits");
    $("limits-edit").prepend(...LIMITS.flatMap(row));
    $("limits-form").addEventListener("submit", (event) => {
      event.preventDefault();
      if (this.changes) this.apply();
      else this.review();
    });
    $("limits-back").addEventListener("click", () => (this.changes ? this.edit() : this.dialog.close()));
  }

  open(program) {
    this.program = program;
    this.before = { ...Object.fromEntries(LIMITS.map((limit) => [limit.name, shown(limit, program.limits[limit.name])])), parked: program.parked === "by hand" };
    setText($("limits-title"), `Limits of ${program.program}`);
    const where = program.pod_name ? `pod ${program.pod_name}, ` : "";
    setText($("limits-who"), `${where}${program.user}, pid ${program.pid}, GPU ${program.gpu?.index ?? "?"} of ${program.node.name}`);
    for (const limit of LIMITS) {
      const input = $(limit.id);
      if (limit.kind === "check") input.checked = this.before[limit.name];
      else input.value = this.before[limit.name];
    }
    $("limit-parked").checked = this.before.parked;
    this.edit();
    this.dialog.showModal();
    $(LIMITS[0].id).focus();
  }

  edit() {
    this.changes = null;
    this.step("Review change", "Cancel");
  }

  step(go, back) {
    $("limits-edit").hidden = this.changes !== null;
    $("limits-review").hidden = this.changes === null;
    setText($("limits-go"), go);
    setText($("limits-back"), back);
    setText($("limits-problem"), "");
    $("limits-go").disabled = false;
  }

  review() {
    const inputs = LIMITS.map((limit) => [limit.name, limit.kind === "check" ? $(limit.id).checked : $(limit.id).value.trim()]);
    const wanted = { ...Object.fromEntries(inputs), parked: $("limit-parked").checked };
    const changed = Object.keys(wanted).filter((name) => wanted[name] !== this.before[name]);
    if (!changed.length) {
      setText($("limits-problem"), "Nothing was changed in this form.");
      return;
    }
    const rows = changed.flatMap((name) => [
      el("dt", {}, TITLES[name]),
      el("dd", {}, el("s", {}, inWords(name, this.before[name])), ` → ${inWords(name, wanted[name])}`),
    ]);
    $("limits-changes").replaceChildren(...rows);
    const group = this.program.node.status.groups.find((one) => one.key === this.program.group);
    const others = (group?.ids.length ?? 1) - 1;
    setText($("limits-shared"), others > 0 ? `The same happens to ${counted(others, "other process", "other processes")}, with which it shares its limits.` : "");
    this.changes = Object.fromEntries(changed.map((name) => [name, wanted[name] === "" ? null : wanted[name]]));
    this.step("Apply", "Back");
    $("limits-go").focus();
  }

  async apply() {
    $("limits-go").disabled = true;
    const { parked, ...limits } = this.changes;
    const { node, id, program } = this.program;
    let problem = "Nothing was changed";
    try {
      if (Object.keys(limits).length) {
        await changeLimits(node.name, id, limits);
        problem = "The limits were changed, and nothing else";
      }
      if (parked !== undefined) await park(node.name, id, parked);
    } catch (error) {
      this.edit();
      setText($("limits-problem"), `${problem}: ${error.message}`);
      return;
    }
    this.dialog.close();
    this.onChanged(parked === undefined ? `Limits of ${program} changed.` : `${program} ${parked ? "is parked" : "goes on"}.`);
  }
}

const TITLES = { ...Object.fromEntries(LIMITS.map(({ name, title }) => [name, title])), parked: "Parked" };

// A limit as the form has it; null: none.
function shown(limit, value) {
  if (limit.kind === "check") return Boolean(value);
  if (value === null) return limit.normal ?? "";
  return limit.isAmount ? quantity(value) : String(value);
}

function inWords(name, value) {
  if (name === "parked") return value ? "yes: its memory leaves the GPU, and its CUDA calls wait" : "no";
  const limit = LIMITS.find((one) => one.name === name);
  if (limit.kind === "check") return value ? "yes" : "no";
  if (value === "") return "none";
  return limit.unit ? `${value} ${limit.unit}` : value;
}

// The part of the form for one limit: a title, and an input.
function row({ id, kind, title, hint, unit, choices }) {
  if (kind === "check") return [el("span"), el("label", { class: "check" }, el("input", { id, type: "checkbox" }), ` ${hint}`)];
  const label = el("label", { for: id }, title);
  if (kind === "select") return [label, el("select", { id }, ...choices.map((choice) => el("option", {}, choice)))];
  const input = el("input", { id, autocomplete: "off", spellcheck: "false", "aria-describedby": `${id}-help`, ...(kind === "number" ? { inputmode: "numeric" } : {}) });
  const field = unit ? el("span", { class: "with-unit" }, input, ` ${unit}`) : input;
  return [label, el("div", {}, field, el("p", { id: `${id}-help`, class: "muted" }, hint))];
}
