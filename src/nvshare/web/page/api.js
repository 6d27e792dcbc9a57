// Talks to the server. The token comes after "#" in the URL, a part that browsers do not send; it is removed from the address
// bar at once, kept for this tab, and sent in a header, which no other page can make a browser send here.
const KEY = "nvshare-token";

export class Refused extends Error {
  constructor(status, error) {
    super([error.what, error.why, error.do].filter(Boolean).join("; "));
    this.status = status;
  }
}

export function takeToken() {
  const given = decodeURIComponent(location.hash.slice(1));
  // "#programs" and the like are anchors of this page.
  if (given.length >= 22) {
    sessionStorage.setItem(KEY, given);
    history.replaceState(null, "", location.pathname);
  }
  return sessionStorage.getItem(KEY) !== null;
}

export function setToken(token) {
  sessionStorage.setItem(KEY, token);
}

export function dropToken() {
  sessionStorage.removeItem(KEY);
}

async function ask(method, path, body) {
  const headers = { Authorization: `Bearer ${sessionStorage.getItem(KEY)}` };
  if (body !== undefined) headers["Content-Type"] = "application/json";
  const answer = await fetch(path, {
    method,
    headers,
    body: body === undefined ? undefined : JSON.stringify(body),
    cache: "no-store",
    credentials: "omit",
    signal: AbortSignal.timeout(15000),
  });
  const content = await answer.json();
  if (!answer.ok) throw new Refused(answer.status, content.error);
  return content;
}

export const view = (after) => ask("GET", `/v1/view?after=${after}`);
export const why = (node, program) => ask("GET", `/v1/why?node=${encodeURIComponent(node)}&program=${program}`);
export const park = (node, program, parked) => ask("POST", "/v1/park", { node, program, parked });
export const changeLimits = (node, program, changes) => ask("POST", "/v1/limits", { node, program, changes });
