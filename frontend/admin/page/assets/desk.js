// The form to send to a mailbox and to watch one. The mail_id goes in bodies alone and is written nowhere on the page but in its field.

import { follow, post, Refused } from "./api.js";
import { at, h, mark, say, show } from "./dom.js";
import { bytes, clock, count, plural } from "./format.js";

const mostMessages = 200; // on the page; older ones are dropped from it, not from the mailbox

const field = at("mail-id"), text = at("text"), outcome = at("desk-outcome"), list = at("messages");
let account = ""; // of the mailbox that was picked in a table; empty for one that was typed
let watching = null; // an AbortController while a mailbox is watched
let received = 0;
let pending = []; // deliveries that wait for the next frame

/** Makes the form work. */
export function makeDesk() {
  at("desk-form").addEventListener("submit", (e) => { e.preventDefault(); void send(); });
  text.addEventListener("keydown", (e) => {
    if (e.key === "Enter" && (e.ctrlKey || e.metaKey)) at("desk-form").requestSubmit();
  });
  field.addEventListener("input", () => { account = ""; if (watching) stop("The mailbox was changed."); });
  at("watch").addEventListener("click", () => {
    if (watching) stop("Not watching any more.");
    else if (at("desk-form").reportValidity()) void watch();
  });
  at("clear").addEventListener("click", () => { list.replaceChildren(); received = 0; tally(); });
}

/** Puts a public mailbox into the form. */
export function pick(mailbox) {
  if (watching) stop("The mailbox was changed.");
  field.value = mailbox.name;
  account = mailbox.account === "$G" ? "" : mailbox.account;
  tell("");
  at("desk").scrollIntoView({ block: "nearest", behavior: matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth" });
  text.focus({ preventScroll: true });
}

const letterTo = () => ({ mail_id: field.value.trim(), ...(account && { account }) });

/** Says how something ended, in place. */
function tell(sentence, tone = "") {
  say(outcome, sentence);
  mark(outcome, "data-tone", tone);
}

async function send() {
  const button = at("send");
  button.disabled = true;
  try {
    const priority = new FormData(at("desk-form")).get("priority");
    const sent = await post("/api/v1/send", { ...letterTo(), priority, text: text.value });
    tell(`Stored as ${sent.msg_id}.`, "good");
    text.value = "";
  } catch (err) {
    tell(explain(err), "bad");
  } finally {
    button.disabled = false;
  }
}

/** What went wrong, and what to do about it. */
function explain(err) {
  if (err instanceof Refused && err.code === 404) return "There is no such mailbox, or no longer. Create it first, or check what you typed.";
  if (err instanceof Refused && err.code === 401) return "The broker asks for a token: give it above, then try again.";
  return err.message;
}

async function watch() {
  const mine = watching = new AbortController();
  mark(at("watch"), "aria-pressed", "true");
  say(at("watch"), "Stop watching");
  list.replaceChildren();
  received = 0;
  tell("");
  try {
    await follow("/api/v1/watch", { method: "POST", body: letterTo(), signal: mine.signal, on: take });
  } catch (err) {
    if (mine.signal.aborted) return; // stop has said so
    stop("");
    tell(err instanceof Refused ? explain(err) : "The broker has ended the watching. Watch again to go on; it begins with what is stored.", "bad");
  }
}

function stop(sentence) {
  watching?.abort();
  watching = null;
  mark(at("watch"), "aria-pressed", "false");
  say(at("watch"), "Watch");
  tell(sentence);
  tally();
}

function take(name, event) {
  if (name === "watching") {
    show(at("watched"), true);
    tally();
    return;
  }
  received++;
  pending.push(event);
  if (pending.length > mostMessages) pending.shift();
  if (pending.length === 1) requestAnimationFrame(draw);
}

/** Shows what came since the last frame, the newest first. */
function draw() {
  list.prepend(...pending.reverse().map(message));
  pending = [];
  while (list.children.length > mostMessages) list.lastChild.remove();
  tally();
}

function message(m) {
  const size = m.whole ? bytes(m.size) : m.text ? `${bytes(m.size)}, the beginning` : `${bytes(m.size)}, not text`;
  return h("li", { class: m.priority },
    h("p", { class: "meta" }, h("span", { class: "badge " + m.priority }, m.priority), h("time", { datetime: m.at }, clock(m.at)),
      h("code", {}, m.msg_id), h("span", {}, size)),
    m.header ? h("pre", { class: "headers" }, m.header.trimEnd()) : null,
    m.text ? h("pre", {}, m.text) : null);
}

function tally() {
  const shown = list.children.length;
  const so = received > shown ? `${count(received)} came, the last ${count(shown)} are shown` : `${plural(received, "message")} came`;
  say(at("watched-note"), watching ?
    (received === 0 ? "The mailbox is empty. What comes is shown here." : `${so}. Nothing is taken away by watching.`) : `${so}. Not watching.`);
}
