// Limits of a program, and whether it is parked, in two steps: what they should be, then what that changes, which has to be confirmed.
import { changeLimits, park } from "./api.js";
import { $, el, setText } from "./dom.js";
import { counted, quantity } from "./words.js";

export class Limits {
  constructor(onChanged) {
    this.onChanged = onChanged;
    this.dialog = $("limits");
    $("limits-form").addEventListener("submit", (event) => {
      event.preventDefault();
      if (this.changes) this.apply();
      else this.review();
    });
    $("limits-back").addEventListener("click", () => (this.changes ? this.edit() : this.dialog.close()));
  }

  open(program) {
    const { memory_limit: memory, compute_percent: compute, priority, burst } = program.limits;
    this.program = program;
    this.before = {
      memory_limit: memory === null ? "" : quantity(memory),
      compute_percent: compute === null ? "" : String(compute),
      burst: Boolean(burst),
      priority: priority ?? "normal",
      parked: program.parked === "by hand",
    };
    setText($("limits-title"), `Limits of ${program.program}`);
    const where = program.pod_name ? `pod ${program.pod_name}, ` : "";
    setText($("limits-who"), `${where}${program.user}, pid ${program.pid}, GPU ${program.gpu?.index ?? "?"} of ${program.node.name}`);
    $("limit-memory").value = this.before.memory_limit;
    $("limit-compute").value = this.before.compute_percent;
    $("limit-burst").checked = this.before.burst;
    $("limit-priority").value = this.before.priority;
    $("limit-parked").checked = this.before.parked;
    this.edit();
    this.dialog.showModal();
    $("limit-memory").focus();
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
    const wanted = {
      memory_limit: $("limit-memory").value.trim(),
      compute_percent: $("limit-compute").value.trim(),
      burst: $("limit-burst").checked,
      priority: $("limit-priority").value,
      parked: $("limit-parked").checked,
    };
    const changed = Object.keys(wanted).filter((name) => wanted[name] !== this.before[name]);
    if (!changed.length) {
      setText($("limits-problem"), "Nothing is different from what is in force.");
      return;
    }
    const rows = changed.flatMap((name) => [
      el("dt", {}, LABELS[name]),
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

const LABELS = { memory_limit: "Memory limit", compute_percent: "Share of compute", burst: "Burst", priority: "Priority", parked: "Parked" };

function inWords(name, value) {
  if (name === "parked") return value ? "yes: its memory leaves the GPU, and its CUDA calls wait" : "no";
  if (name === "burst") return value ? "yes" : "no";
  if (value === "") return "none";
  return name === "compute_percent" ? `${value} %` : value;
}
