// Puts the parts together: asks the server once a second while the page is visible, and shows the answer.
import { Refused, dropToken, setToken, takeToken, view } from "./api.js";
import { $, el, keep, setAttribute, setText } from "./dom.js";
import { showGpus } from "./gpus.js";
import { Limits } from "./limits.js";
import { Programs } from "./programs.js";
import { Store } from "./store.js";
import { startTheme } from "./theme.js";
import { PARTS, PART_WORDS, counted, duration, gib, namespaceOf, usedPercent } from "./words.js";

const PERIOD = 1000;
// The longest wait after failures; waits grow up to this.
const LONGEST = 8000;

const store = new Store();
const limits = new Limits((words) => {
  setText($("said"), words);
  look();
});
const programs = new Programs(store, (program) => limits.open(program));
let timer = 0;
let pause = PERIOD;
let isAsking = false;

async function look() {
  clearTimeout(timer);
  if (isAsking) return;
  isAsking = true;
  try {
    store.take(await view(store.after));
    pause = PERIOD;
    complain("");
    setLive("on", "live");
    show();
  } catch (error) {
    if (error instanceof Refused && error.status === 401) {
      isAsking = false;
      askForToken("This is not the token of this server: a new one is made each time it starts, unless it is kept in a file.");
      return;
    }
    pause = Math.min(LONGEST, 2 * pause);
    complain(error instanceof Refused ? error.message : "nvshare web does not answer. The page shows its last answer.");
    setLive("lost", "no answer");
  }
  isAsking = false;
  if (!document.hidden) timer = setTimeout(look, pause);
}

function show() {
  if ($("board").hidden) return;
  showSummary();
  showNamespaces();
  showGpus(store);
  programs.show();
}

function showSummary() {
  const nodes = store.shownNodes();
  const gpus = nodes.flatMap((one) => one.status?.devices ?? []);
  const waiting = gpus.reduce((sum, one) => sum + one.waiting, 0);
  const people = nodes.reduce((sum, one) => sum + (one.status?.clients.length ?? 0), 0);
  const where = store.isCluster ? counted(nodes.length, "node", "nodes") : (nodes[0]?.name ?? "");
  setText($("summary"), [where, counted(gpus.length, "GPU", "GPUs"), counted(people, "program", "programs"), `${waiting} waiting`].join(" · "));
  document.title = `${where} – nvshare`;
  $("node-field").hidden = store.nodes.size < 2;
  keep($("node"), ["", ...store.nodes.keys()], (name) => `=${name}`, (name) => ({
    root: el("option", { value: name }, name || "All nodes"),
    update: () => {},
  }));
  const told = nodes.filter((one) => one.status).map(({ name, status }) => `${store.isCluster ? `${name}: ` : ""}daemon ${status.version}, up ${duration(status.uptime_seconds)}`);
  setText($("foot"), told.slice(0, 3).join(" · "));
}

function showNamespaces() {
  const groups = new Map();
  for (const one of store.programs()) {
    const name = namespaceOf(one);
    const sums = groups.get(name) ?? { name, count: 0, memory: 0, used: 0 };
    groups.set(name, { name, count: sums.count + 1, memory: sums.memory + one.allocated, used: sums.used + usedPercent(one) });
  }
  const shown = [...groups.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  $("namespaces").hidden = !shown.some((one) => one.name) && store.namespace === null;
  keep($("namespaces"), shown, (one) => `=${one.name}`, ({ name }) => {
    const sums = el("small");
    const choose = () => {
      store.namespace = store.namespace === name ? null : name;
      show();
    };
    const root = el("button", { type: "button", class: "chip", onclick: choose }, name || "no namespace", sums);
    return {
      root,
      update: (one) => {
        setText(sums, `${counted(one.count, "program", "programs")} · ${gib(one.memory)} GiB · ${one.used.toFixed(0)} % of a GPU`);
        setAttribute(root, "aria-pressed", store.namespace === name);
      },
    };
  });
}

function setLive(state, words) {
  setAttribute($("live"), "data-state", state);
  setText($("live-words"), words);
}

function complain(words) {
  const troubles = [...store.nodes.values()].filter((one) => one.problem).map((one) => `${one.name}: ${one.problem}`);
  const text = words || (store.isCluster ? "" : troubles.join(" · "));
  setText($("banner"), text);
  $("banner").hidden = !text;
}

function askForToken(problem) {
  clearTimeout(timer);
  dropToken();
  $("board").hidden = true;
  $("login").hidden = false;
  setText($("login-problem"), problem);
  setLive("off", "not connected");
  $("token").focus();
}

function begin() {
  $("login").hidden = true;
  $("board").hidden = false;
  look();
}

function listen() {
  $("login-form").addEventListener("submit", (event) => {
    event.preventDefault();
    setToken($("token").value.trim());
    $("token").value = "";
    begin();
  });
  $("filter").addEventListener("input", () => {
    store.filter = $("filter").value.trim().toLowerCase();
    show();
  });
  $("node").addEventListener("change", () => {
    store.node = $("node").value;
    show();
  });
  for (const one of document.querySelectorAll("input[name=span]")) {
    one.addEventListener("change", () => {
      store.span = Number(one.value);
      show();
    });
  }
  document.addEventListener("keydown", (event) => {
    if (event.key === "/" && !event.target.closest("input, select, dialog")) {
      event.preventDefault();
      $("filter").focus();
    }
  });
  // A hidden page asks for nothing. It gets what it has missed when it is visible again.
  document.addEventListener("visibilitychange", () => (document.hidden ? clearTimeout(timer) : !$("board").hidden && look()));
  addEventListener("hashchange", () => takeToken() && begin());
  addEventListener("resize", show);
}

for (const name of PARTS) $("legend").append(el("li", {}, el("span", { class: "swatch", "data-part": name }), PART_WORDS[name]));
startTheme(show);
listen();
if (takeToken()) begin();
else askForToken("");
