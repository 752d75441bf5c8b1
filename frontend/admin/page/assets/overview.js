// What stands above and beside the tables: the figures at a glance, priorities, store, limits, health.

import { at, Facts, h, mark, say, show } from "./dom.js";
import { bytes, count, plural, rate, span, took } from "./format.js";
import { Table } from "./tables.js";

const priorities = ["critical", "urgent", "normal"];

const store = new Facts(at("store"));
const health = new Facts(at("health"));

const tiers = new Table(at("tiers"), [
  { cell: (td, t) => say(td, t.name), head: true, class: (t) => "priority " + t.name },
  { cell: (td, t) => say(td, t.counted ? count(t.messages) : "counting"), class: "n" },
  { cell: (td, t) => say(td, bytes(t.bytes)), class: "n" },
  { cell: (td, t) => say(td, rate(t.published)), class: "n" },
  { cell: (td, t) => say(td, rate(t.delivered)), class: "n" },
  { cell: (td, t) => say(td, count(t.redelivered)), class: "n wide" },
  { cell: (td, t) => say(td, count(t.deleted)), class: "n wide" },
  { cell: (td, t) => say(td, count(t.expired)), class: "n wide" },
], (t) => t.name);

const latencies = new Table(at("latencies"), [
  { cell: (td, l) => say(td, l.what), head: true },
  { cell: (td, l) => say(td, took(l.p50)), class: "n" },
  { cell: (td, l) => say(td, took(l.p99)), class: "n" },
], (l) => l.what);

/** Shows the figures of now. */
export function overview(now) {
  const s = now.status;
  say(at("fact-version"), s.version);
  say(at("fact-uptime"), "up " + span(s.uptime_seconds));

  const all = Object.values(s.tiers);
  const stored = all.reduce((n, t) => n + t.messages, 0), size = all.reduce((n, t) => n + t.bytes, 0);
  tile("published", rate(now.published), now.publishedBytes == null ? "" : bytes(now.publishedBytes) + "/s");
  tile("delivered", rate(now.delivered), now.deliveredBytes == null ? "" : bytes(now.deliveredBytes) + "/s");
  tile("stored", count(stored), all.every((t) => t.counted) ? bytes(size) : bytes(size) + ", counting");
  tile("mailboxes", count(s.mailboxes.public + s.mailboxes.private), `${count(s.mailboxes.public)} public, ${count(s.mailboxes.private)} private`);
  tile("clients", count(s.connections.now), s.connections.slow > 0 ? `${count(s.connections.slow)} slow` : "none is slow", s.connections.slow > 0 ? "warn" : "");
  const full = s.store.disk_free_bytes > 0 && s.store.disk_free_bytes < 1 << 30;
  tile("disk", bytes(s.store.disk_bytes), bytes(s.store.disk_free_bytes) + " free", full ? "bad" : "");

  tiers.fill(priorities.filter((p) => s.tiers[p]).map((name) => ({ name, ...s.tiers[name], ...s.traffic[name], ...now.byPriority[name] })));
  latencies.fill([["store a message", "store"], ["sync a batch", "sync"], ["deliver", "delivery"]]
    .map(([what, name]) => ({ what, p50: now.latencies[name]?.p50 ?? null, p99: now.latencies[name]?.p99 ?? null })));
  showStore(now, s);
  showLimits(s.limits);
  showHealth(now, s);
}

function tile(name, value, note, tone = "") {
  say(at("t-" + name), value);
  say(at(`t-${name}-note`), note);
  mark(at("t-" + name).closest(".tile"), "data-tone", tone);
}

const syncs = {
  always: "before each answer", interval: "now and then", never: "when the system likes",
};

function showStore(now, s) {
  const failing = s.store.state !== "ok";
  store.fill([
    ["State", failing ? `failing: ${s.store.error || "no reason is known"}` : "ok", failing ? "bad" : "good"],
    ["Synced to disk", syncs[s.store.sync] ?? s.store.sync ?? "–"],
    ["Batches", now.batches == null ? "–" : rate(now.batches) + " /s"],
    ["Changes in a batch", now.changes == null ? "–" : rate(now.changes)],
    ["Changes that wait", count(s.store.queued)],
    ...(s.store.failed_batches > 0 ? [["Failed batches", count(s.store.failed_batches), "bad"]] : []),
  ]);
}

const limitNames = {
  "max-mailboxes": ["Mailboxes", count], "max-mailbox-messages": ["Messages, fullest mailbox so far", count],
  "max-memory": ["Memory of normal messages", bytes], "max-mailbox-memory": ["Memory, fullest mailbox so far", bytes],
  "max-connections": ["Clients", count], "max-subscriptions": ["Subscriptions, busiest client", count],
};

const bars = new Map(); // of limits, by name

function showLimits(limits) {
  const set = Object.entries(limits ?? {}).filter(([, l]) => l.value > 0);
  const stay = new Set(set.map(([name]) => name));
  for (const [name, bar] of bars) {
    if (!stay.has(name)) { bar.remove(); bars.delete(name); }
  }
  for (const [name, limit] of set) {
    const [label, write] = limitNames[name] ?? [name, count];
    let item = bars.get(name);
    if (!item) {
      item = h("li", {}, h("span", {}, label), h("span", { class: "of" }), h("span", { class: "bar", "aria-hidden": "true" }, h("i")));
      bars.set(name, item);
      at("limits").append(item);
    }
    const share = Math.min(1, limit.used / limit.value);
    say(item.children[1], `${write(limit.used)} of ${write(limit.value)}`);
    item.querySelector("i").style.width = `${(100 * share).toFixed(1)}%`;
    mark(item, "data-tone", share >= 1 ? "bad" : share > 0.8 ? "warn" : "");
  }
  show(at("limits-empty"), set.length === 0);
  say(at("limits-empty"), "No limit is set. mq9 serve --help names those there are.");
}

const refusals = {
  400: "malformed", 403: "not allowed", 404: "no such mailbox", 409: "name clashes", 413: "too large", 429: "over a limit", 500: "faults of the broker", 503: "unavailable",
};

function showHealth(now, s) {
  const refused = Object.entries(s.refusals ?? {}).filter(([, n]) => n > 0);
  health.fill([
    ["Memory", bytes(s.process.resident_bytes || s.process.heap_bytes)],
    ["Processor", now.cpu == null ? "–" : `${Math.round(100 * now.cpu)} %`],
    ["Mailboxes created, expired", `${count(s.mailboxes.created)}, ${count(s.mailboxes.expired)}`],
    ["Subscriptions", `${count(s.subscriptions.mailbox)} to mailboxes, ${plural(s.subscriptions.plain, "plain one", "plain ones")}`],
    ["Actors restarted", count(s.actor_restarts), s.actor_restarts > 0 ? "bad" : ""],
    ...(refused.length === 0 ? [["Refused", "nothing"]] :
      refused.map(([code, n]) => [`Refused, ${code}: ${refusals[code] ?? "other"}`, count(n), code === "500" || code === "503" ? "bad" : ""])),
  ]);
}
