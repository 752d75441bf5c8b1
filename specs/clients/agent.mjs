// The flows of the protocol with nats.js, as a newcomer writes them. It prints one JSON line for each step; the spec reads them.
// usage: node agent.mjs HOST:PORT
import { connect } from "@nats-io/transport-node";

const MSG = "$mq9.AI.MAILBOX.MSG.";
const nc = await connect({ servers: process.argv[2] });
const say = (step, value) => console.log(JSON.stringify({ step, value }));
const ask = async (subject, body) => {
  const reply = await nc.request(subject, body === undefined ? "" : JSON.stringify(body), { timeout: 5000 });
  return reply.json();
};
// take reads n messages of a subscription.
const take = async (sub, n) => {
  const got = [];
  for await (const m of sub) {
    got.push(m);
    if (got.length === n) break;
  }
  return got;
};

// A private mailbox, three messages for an agent that is away, in the wrong order.
const { mail_id: id, is_new } = await ask("$mq9.AI.MAILBOX.CREATE", { ttl: 600 });
say("created", is_new);
nc.publish(MSG + id, "task");
nc.publish(MSG + id + ".urgent", "change");
nc.publish(MSG + id + ".critical", "stop");
await nc.flush();

// The agent comes: everything is there, most pressing first. Responding to a message deletes it.
const messages = await take(nc.subscribe(MSG + id + ".*"), 3);
say("received", messages.map((m) => m.string()));
say("headers", messages.every((m) => m.headers.get("Mq9-Msg-Id") === m.reply.split(".").at(-1)));
messages.forEach((m) => m.respond());
say("left", (await ask("$mq9.AI.MAILBOX.LIST." + id)).messages.length);

// A queue group of two connections shares a backlog; when one leaves, the other inherits.
const name = "js.tasks";
await ask("$mq9.AI.MAILBOX.CREATE", { ttl: 600, public: true, name });
say("again", (await ask("$mq9.AI.MAILBOX.CREATE", { ttl: 600, public: true, name })).is_new);
const other = await connect({ servers: process.argv[2] });
const mine = nc.subscribe(MSG + name + ".*", { queue: "workers" });
const theirs = other.subscribe(MSG + name + ".*", { queue: "workers" });
await nc.flush();
await other.flush();
for (let i = 0; i < 10; i++) nc.publish(MSG + name, String(i));
const shared = await take(mine, 5);
await take(theirs, 5);
await other.close();
say("inherited", (await nc.request("$mq9.AI.MAILBOX.LIST." + name)).json().messages.length - shared.length);

// Discovery.
const [event] = (await take(nc.subscribe("$mq9.AI.PUBLIC.LIST"), 1)).map((m) => m.json());
say("event", event.event);
const page = await ask("$mq9.AI.PUBLIC.LIST");
say("listed", page.mailboxes.some((m) => m.mail_id === name));

// Refusals: JSON for a request, an error on the subscription for a SUB; the connection lives on.
say("refused", (await ask(MSG + "no.such.mailbox")).code);
say("denied", await new Promise((resolve) => {
  nc.subscribe(MSG + "*", { callback: (err) => resolve(err?.message.includes("403") ?? false) });
}));
say("alive", (await ask("$mq9.AI.MAILBOX.LIST." + id)).mail_id === id);
await nc.drain();
say("drained", nc.isClosed());
