// Requests to the broker, with a token if it asks for one, and event streams over fetch: EventSource can send neither a
// token nor a body, and a mail_id must be in a body.

const key = "mq9.token"; // in sessionStorage: it goes with the tab

/** A refusal of the broker: its code and its words. */
export class Refused extends Error {
  constructor(code, text) { super(text); this.code = code; }
}

/** Nobody answers, or the stream broke off. */
export class Gone extends Error {}

/** Keeps a token for this tab. */
export const keepToken = (token) => sessionStorage.setItem(key, token);

/** Forgets it; reports whether there was one. */
export function dropToken() {
  const had = sessionStorage.getItem(key) !== null;
  sessionStorage.removeItem(key);
  return had;
}

async function ask(path, { method = "GET", body, signal } = {}) {
  const headers = {};
  const token = sessionStorage.getItem(key);
  if (token) headers.Authorization = "Bearer " + token;
  if (body !== undefined) headers["Content-Type"] = "application/json";
  let answer;
  try {
    answer = await fetch(path, {
      method, headers, signal, cache: "no-store", credentials: "same-origin", body: body === undefined ? undefined : JSON.stringify(body),
    });
  } catch (cause) {
    if (signal?.aborted) throw cause;
    throw new Gone("The broker does not answer.", { cause });
  }
  if (answer.ok) return answer;
  let text = `${answer.status} ${answer.statusText}`;
  try {
    text = (await answer.json()).error ?? text;
  } catch { /* it is not the broker's own answer, so the status has to do */ }
  throw new Refused(answer.status, text);
}

/** Gets an object. Fails with Refused or Gone. */
export async function get(path, signal) { return (await ask(path, { signal })).json(); }

/** Sends an object and returns the answer's. Fails with Refused or Gone. */
export async function post(path, body) { return (await ask(path, { method: "POST", body })).json(); }

/**
 * Follows a stream of events and calls on(name, object) for each, until signal aborts or the stream ends, which is Gone.
 * With `quiet` milliseconds without an event it is Gone as well.
 */
export async function follow(path, { method, body, signal, quiet = 0, on }) {
  const silence = new AbortController();
  let timer;
  const heard = () => {
    clearTimeout(timer);
    if (quiet > 0) timer = setTimeout(() => silence.abort(), quiet);
  };
  heard();
  try {
    const answer = await ask(path, { method, body, signal: AbortSignal.any([signal, silence.signal]) });
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = "";
    for (;;) {
      const { done, value } = await reader.read();
      if (done) throw new Gone("The broker has ended the stream.");
      heard();
      const blocks = (rest + value).split("\n\n");
      rest = blocks.pop();
      for (const block of blocks) dispatch(block, on);
    }
  } catch (err) {
    if (signal.aborted || err instanceof Refused || err instanceof Gone) throw err;
    throw new Gone("The broker does not answer.", { cause: err });
  } finally {
    clearTimeout(timer);
  }
}

function dispatch(block, on) {
  let name = "message", data = "";
  for (const line of block.split("\n")) {
    if (line.startsWith("event: ")) name = line.slice(7);
    if (line.startsWith("data: ")) data += line.slice(6);
  }
  if (data) on(name, JSON.parse(data));
}
