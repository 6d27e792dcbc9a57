// The state of all nodes, and the user's choice of what to show. Draws nothing.
import { namespaceOf, stateOf } from "./words.js";

const KEPT = 300_000;

export class Store {
  constructor() {
    this.nodes = new Map();
    this.filter = "";
    this.namespace = null;
    this.node = "";
    this.span = 300;
  }

  // The time from which the next answer has to report: the latest sample of the slowest node, or 0 if a node is new.
  get after() {
    const told = [...this.nodes.values()].filter((one) => one.status).map((one) => one.last);
    return told.length ? Math.min(...told) : 0;
  }

  take(view) {
    const before = this.nodes;
    this.nodes = new Map(view.nodes.map((one) => [one.name, join(before.get(one.name), one)]));
    if (!this.nodes.has(this.node)) this.node = "";
  }

  get isCluster() {
    return this.nodes.size > 1;
  }

  shownNodes() {
    return [...this.nodes.values()].filter((one) => !this.node || one.name === this.node);
  }

  // All programs of the nodes that are shown, each with its node and GPU, whether they pass the filter or not.
  programs() {
    return this.shownNodes().flatMap((node) => {
      const gpus = new Map(node.status?.devices.map((gpu) => [gpu.uuid, gpu]));
      return (node.status?.clients ?? []).map((one) => ({ ...one, node, gpu: gpus.get(one.device), key: `${node.name}/${one.id}` }));
    });
  }

  passes(one) {
    if (this.namespace !== null && namespaceOf(one) !== this.namespace) return false;
    const words = [one.program, one.pod_name, one.user, one.state ? stateOf(one) : "", String(one.pid ?? "")];
    return !this.filter || words.some((text) => text.toLowerCase().includes(this.filter));
  }
}

function join(before, now) {
  const isSame = before?.status && now.status && before.status.pid === now.status.pid;
  const old = isSame || !now.status ? (before?.samples ?? []) : [];
  const last = old.length ? old[old.length - 1].until : 0;
  const samples = [...old, ...now.samples.filter((one) => one.until > last)];
  const newest = samples.length ? samples[samples.length - 1].until : 0;
  const kept = samples.filter((one) => one.until > newest - KEPT);
  return { ...now, lanes: now.status ? now.lanes : (before?.lanes ?? []), samples: kept, last: newest };
}
