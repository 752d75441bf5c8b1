// An agent in a browser. The spec bundles it into a page and calls window.agent.
import { wsconnect } from "@nats-io/nats-core";

const MSG = "$mq9.AI.MAILBOX.MSG.";
window.agent = async (servers) => {
  const nc = await wsconnect({ servers, timeout: 10000, reconnect: false });
  const ask = async (subject, body) => (await nc.request(subject, body ? JSON.stringify(body) : "", { timeout: 10000 })).json();
  const { mail_id: id, is_new } = await ask("$mq9.AI.MAILBOX.CREATE", { ttl: 600 });
  const said = { created: is_new, received: [], denied: 0 };
  nc.publish(MSG + id, "task");
  nc.publish(MSG + id + ".urgent", "x".repeat(200000));
  for (let i = 0; i < 5000; i++) nc.publish(MSG + id + ".critical", "c");
  await nc.flush();
  let critical = 0;
  for await (const m of nc.subscribe(MSG + id + ".*")) {
    if (m.subject.endsWith(".critical")) critical++;
    else said.received.push(m.data.length);
    m.respond();
    if (said.received.length === 2) break;
  }
  said.critical = critical;
  said.left = (await ask("$mq9.AI.MAILBOX.LIST." + id)).messages.length;
  said.refused = (await ask(MSG + "no.such.mailbox")).code;
  await new Promise((resolve) => nc.subscribe(MSG + ">", { callback: (err) => { if (err) said.denied++; resolve(); } }));
  await nc.drain();
  return said;
};
