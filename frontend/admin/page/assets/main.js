// Follows the broker while the page is seen: events for the status, a look every two seconds for the tables.

import { dropToken, follow, keepToken, Refused } from "./api.js";
import { makeCharts } from "./charts.js";
import { makeDesk, pick } from "./desk.js";
import { at, mark, say, show } from "./dom.js";
import { Figures } from "./figures.js";
import { makeLists, readLists } from "./lists.js";
import { overview } from "./overview.js";

const lookEvery = 2000; // ms
const quiet = 6000; // ms without an event after which the broker counts as gone
const longestPause = 5000; // ms between attempts

const figures = new Figures();
const draw = makeCharts();
const lists = makeLists(pick);
makeDesk();

let watch = null; // an AbortController while the page follows
let token = null; // resolves what waits for a token

/** Says how the broker does, and how this page reaches it. */
function state(kind, text, notice = "") {
  mark(at("state"), "data-state", kind);
  say(at("state-text"), text);
  say(at("notice"), notice);
  show(at("notice"), notice !== "");
  document.body.classList.toggle("stale", kind === "gone");
}

function took(name, status) {
  if (name !== "status") return;
  const now = figures.take(status);
  overview(now);
  draw(figures.points);
  if (status.ready) state("ok", "Ready");
  else state("bad", "Not ready", `The broker should get no traffic now: ${status.reason}.`);
}

const pause = (ms, signal) => new Promise((done) => {
  const timer = setTimeout(done, ms);
  signal.addEventListener("abort", () => { clearTimeout(timer); done(); }, { once: true });
});

/** Repeats an errand until signal aborts; after a failure it waits, longer each time. */
async function insist(signal, errand) {
  let wait = 500;
  while (!signal.aborted) {
    try {
      await errand();
      wait = 500;
    } catch (err) {
      if (signal.aborted) return;
      if (err instanceof Refused && err.code === 401) {
        await askToken(signal);
        continue;
      }
      if (err instanceof Refused) state("bad", "Refused", `${err.message} (${err.code})`);
      else state("gone", "No answer", "The broker does not answer. What is shown is what it said last; the page goes on trying.");
      await pause(wait, signal);
      wait = Math.min(2 * wait, longestPause);
    }
  }
}

/** Asks for a token and waits until there is one. Whoever needs one as well waits for the same. */
function askToken(signal) {
  if (!token) {
    const wrong = dropToken();
    state("wait", "Token needed", wrong ? "The broker does not take this token." : "");
    show(at("token-form"), true);
    token = Promise.withResolvers();
  }
  return Promise.race([token.promise, new Promise((done) => signal.addEventListener("abort", done, { once: true }))]);
}

at("token-form").addEventListener("submit", (e) => {
  e.preventDefault();
  keepToken(at("token").value.trim());
  at("token").value = "";
  show(at("token-form"), false);
  token?.resolve();
  token = null;
});

function begin() {
  if (watch) return;
  const { signal } = watch = new AbortController();
  void insist(signal, () => follow("/api/v1/events", { signal, quiet, on: took }));
  void insist(signal, async () => {
    lists.show(await readLists(signal));
    await pause(lookEvery, signal);
  });
}

function end() {
  watch?.abort();
  watch = null;
}

// A page that nobody sees asks for nothing.
document.addEventListener("visibilitychange", () => (document.hidden ? end() : begin()));
begin();
