// Limits of a program in two steps: what they should be, then what that changes, which has to be confirmed.
import { changeLimits } from "./api.js";
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
    };
    setText($("limits-title"), `Limits of ${program.program}`);
    const where = program.pod_name ? `pod ${program.pod_name}, ` : "";
    setText($("limits-who"), `${where}${program.user}, pid ${program.pid}, GPU ${program.gpu?.index ?? "?"} of ${program.node.name}`);
    $("limit-memory").value = this.before.memory_limit;
    $("limit-compute").value = this.before.compute_percent;
    $("limit-burst").checked = this.before.burst;
    $("limit-priority").value = this.before.priority;
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
    setText($("limits-shared"), others > 0 ? `It shares its limits with ${counted(others, "other process", "other processes")}.` : "");
    this.changes = Object.fromEntries(changed.map((name) => [name, wanted[name] === "" ? null : wanted[name]]));
    this.step("Apply", "Back");
    $("limits-go").focus();
  }

  async apply() {
    $("limits-go").disabled = true;
    try {
      await changeLimits(this.program.node.name, this.program.id, this.changes);
    } catch (error) {
      this.edit();
      setText($("limits-problem"), `Nothing was changed: ${error.message}`);
      return;
    }
    this.dialog.close();
    this.onChanged(`Limits of ${this.program.program} changed.`);
  }
}

const LABELS = { memory_limit: "Memory limit", compute_percent: "Share of compute", burst: "Burst", priority: "Priority" };

function inWords(name, value) {
  if (name === "burst") return value ? "yes" : "no";
  if (value === "") return "none";
  return name === "compute_percent" ? `${value} %` : value;
}
