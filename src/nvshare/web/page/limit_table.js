// Every limit of a program, for the form in which it is changed.
// Generated from protocol/limits.toml by `python -m protocol.generate`: do not edit.
export const LIMITS = [
  { name: "memory_limit", option: "memory", id: "limit-memory", kind: "text", title: "Memory limit", hint: "such as 6Gi or 1500Mi; empty: none", isAmount: true },
  { name: "compute_percent", option: "compute", id: "limit-compute", kind: "number", title: "Share of compute", hint: "1 to 100 of the GPU's time; empty: none", unit: "%" },
  { name: "burst", option: "burst", id: "limit-burst", kind: "check", title: "Burst", hint: "more while no other program wants the GPU" },
  { name: "priority", option: "priority", id: "limit-priority", kind: "select", title: "Priority", choices: ["high", "normal", "low"], normal: "normal" },
];
