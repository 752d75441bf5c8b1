// The tables of mailboxes, queue groups and clients, read again every two seconds.

import { get } from "./api.js";
import { at, h, mark, say, show } from "./dom.js";
import { bytes, count, plural, span } from "./format.js";
import { Table } from "./tables.js";

const pageSize = 100; // mailboxes that one request brings
const mostGroups = 100; // that are asked for
const few = 12; // rows of a table, until a person asks for all

let pages = 1; // of mailboxes, how many are wanted
let mailboxes = [];

const depth = (priority) => ({
  class: (m) => "n" + (m.depth[priority]?.messages > 0 ? ` some ${priority}` : ""),
  cell: (td, m) => say(td, m.counted ? count(m.depth[priority]?.messages ?? 0) : "…"),
});

const mailboxColumns = (name) => [
  { head: true, cell: name },
  depth("critical"), depth("urgent"), depth("normal"),
  { class: "n wide", cell: (td, m) => say(td, m.counted ? bytes(Object.values(m.depth).reduce((n, d) => n + d.bytes, 0)) : "…") },
  { class: "n readers", cell: showReaders },
  { class: "n wide", cell: (td, m) => say(td, span((Date.parse(m.expires_at) - Date.now()) / 1000)) },
];

function showReaders(td, m) {
  if (!td.firstChild) td.append(h("span"), h("small"));
  say(td.firstChild, count(m.subscriptions + m.members));
  say(td.lastChild, m.waiting > 0 ? `${count(m.waiting)} behind` : "");
}

const mailboxKey = (m) => `${m.account} ${m.name ?? m.hash} ${m.created_at}`;

/** Makes the tables. pick(mailbox) is called when a person chooses a public one. */
export function makeLists(pick) {
  const pub = new Table(at("public"), mailboxColumns((th, m) => {
    if (!th.firstChild) {
      th.append(h("button", { type: "button", class: "link", title: "Send to it, or watch it", on: { click: () => pick(th.mailbox) } }), h("small"));
    }
    th.mailbox = m;
    say(th.firstChild, m.name);
    say(th.lastChild, [m.desc, m.account === "$G" ? "" : `account ${m.account}`].filter(Boolean).join(" · "));
  }), mailboxKey, 2 * few);
  const priv = new Table(at("private"), mailboxColumns((th, m) => {
    mark(th, "data-mono", "");
    say(th, m.hash);
  }), mailboxKey, few);
  const filter = at("filter");

  const showMailboxes = () => {
    const all = mailboxes.filter((m) => m.public);
    const words = filter.value.trim().toLowerCase();
    const found = all.filter((m) => !words || `${m.name} ${m.desc ?? ""} ${m.account}`.toLowerCase().includes(words));
    pub.fill(found);
    priv.fill(mailboxes.filter((m) => !m.public));
    show(at("public-empty"), found.length === 0);
    empty(at("public-empty"), all.length > 0 ? ["No public mailbox has this in its name."] :
      ["There is none yet. Make one:", "nats req '$mq9.AI.MAILBOX.CREATE' '{\"public\": true, \"name\": \"task.queue\", \"ttl\": 3600}'"]);
  };
  filter.addEventListener("input", showMailboxes);
  at("more-mailboxes").addEventListener("click", () => { pages++; });

  return {
    /** Takes the rows of the last reading. */
    show({ boxes, more, groups, moreGroups, clients }) {
      mailboxes = boxes;
      showMailboxes();
      names(boxes);
      show(at("more-mailboxes"), more);
      const none = !boxes.some((m) => !m.public);
      show(at("private-empty"), none);
      empty(at("private-empty"), more ? ["They come after the public ones: show more mailboxes."] :
        ["There is none. An agent that wants answers makes one for itself:", "nats req '$mq9.AI.MAILBOX.CREATE' '{\"ttl\": 3600}'"]);
      showGroups(groups, moreGroups, clients);
      showClients(clients);
    },
  };
}

/** Reads what the tables show. */
export async function readLists(signal) {
  const boxes = [];
  let after = "", more = true;
  for (let i = 0; i < pages && more; i++) {
    const page = await get(`/api/v1/mailboxes?limit=${pageSize}&after=${encodeURIComponent(after)}`, signal);
    boxes.push(...page.mailboxes);
    after = page.next ?? "";
    more = after !== "";
  }
  const [groups, clients] = await Promise.all([get(`/api/v1/groups?limit=${mostGroups}`, signal), get("/api/v1/connections?limit=1000", signal)]);
  return { boxes, more, groups: groups.groups, moreGroups: Boolean(groups.next), clients: clients.connections };
}

/** Says what to do next: a sentence, and perhaps a command. */
function empty(box, [sentence, command]) {
  if (box.firstChild?.textContent === sentence) return;
  box.replaceChildren(h("p", {}, sentence), ...(command ? [h("pre", {}, h("code", {}, command))] : []));
}

/** Offers public names to the form. */
function names(boxes) {
  const list = at("names"), wanted = boxes.filter((m) => m.public).map((m) => m.name);
  if (wanted.length === list.children.length && wanted.every((n, i) => list.children[i].value === n)) return;
  list.replaceChildren(...wanted.map((value) => h("option", { value })));
}

let connections = new Map(); // by id, for the names of members

const groups = new Table(at("groups"), [
  {
    head: true, cell: (th, g) => {
      if (!th.firstChild) th.append(h("span"), h("small"));
      say(th.firstChild, g.group);
      say(th.lastChild, g.public ? g.mailbox : `private ${g.mailbox}`);
    },
  },
  { class: "n", cell: (td, g) => say(td, count(g.size)) },
  { class: "n", cell: (td, g) => say(td, count(g.held)) },
  { class: "members", cell: showMembers },
], (g) => `${g.account} ${g.mailbox} ${g.group}`, few);

function showGroups(rows, more, clients) {
  connections = new Map(clients.map((c) => [c.id, c]));
  groups.fill(rows);
  show(at("groups-empty"), rows.length === 0 || more);
  empty(at("groups-empty"), more ? [`The first ${rows.length} are shown; the API has the others.`] :
    ["There is none. Workers that share a mailbox name one; each message then goes to one of them:", "nats sub --queue workers '$mq9.AI.MAILBOX.MSG.task.queue.*'"]);
}

/** Who holds how much: a bar for each member. */
function showMembers(td, group) {
  const few = 6;
  const members = group.members.slice(0, few);
  const most = Math.max(1, ...members.map((m) => m.held));
  const list = td.firstChild ?? td.appendChild(h("ul", { class: "bars" }));
  while (list.children.length > members.length) list.lastChild.remove();
  members.forEach((m, i) => {
    const item = list.children[i] ?? list.appendChild(h("li", {}, h("span"), h("span", { class: "of" }), h("span", { class: "bar", "aria-hidden": "true" }, h("i"))));
    say(item.children[0], clientName(m.connection));
    say(item.children[1], count(m.held) + (m.draining ? ", leaving" : m.waiting ? ", behind" : ""));
    item.querySelector("i").style.width = `${(100 * m.held / most).toFixed(1)}%`;
    mark(item, "data-tone", m.waiting || m.draining ? "warn" : "");
  });
  const rest = group.size - members.length;
  if (rest > 0 && !td.lastChild.matches("small")) td.append(h("small"));
  if (rest > 0) say(td.lastChild, `and ${plural(rest, "other")}`);
  else if (td.lastChild.matches("small")) td.lastChild.remove();
}

const clientName = (id) => connections.get(id)?.name || `client ${id}`;

const state = (c) => (c.slow ? "slow" : c.waiting > 0 ? "behind" : "keeps up");

const clientTable = new Table(at("clients"), [
  {
    head: true, cell: (th, c) => {
      if (!th.firstChild) th.append(h("span"), h("small"));
      say(th.firstChild, c.name || `client ${c.id}`);
      say(th.lastChild, [c.address, [c.language, c.library].filter(Boolean).join(" "), c.account === "$G" ? "" : c.account].filter(Boolean).join(" · "));
    },
  },
  { class: (c) => "state " + (c.slow ? "bad" : c.waiting > 0 ? "warn" : "good"), cell: (td, c) => say(td, state(c)) },
  { class: "n", cell: (td, c) => say(td, bytes(c.inflight_bytes)) },
  { class: "n wide", cell: (td, c) => say(td, count(c.delivered)) },
  { class: "n wide", cell: (td, c) => say(td, count(c.subscriptions + c.plain_subscriptions)) },
], (c) => c.id, few);

function showClients(all) {
  const pressing = (c) => (c.slow ? 2 : c.waiting > 0 ? 1 : 0);
  const rows = [...all].sort((a, b) => pressing(b) - pressing(a) || a.id - b.id);
  clientTable.fill(rows);
  const behind = rows.filter((c) => pressing(c) > 0).length;
  say(at("clients-note"), behind > 0 ?
    `${plural(behind, "reader does", "readers do")} not keep up. What they have not taken stays in its mailbox and holds nobody else up.` :
    rows.length > 0 ? "Every reader keeps up." : "");
  show(at("clients-empty"), rows.length === 0);
  empty(at("clients-empty"), ["Nobody is connected. Any NATS client will do:", "nats sub '$mq9.AI.MAILBOX.MSG.task.queue.*'"]);
}
