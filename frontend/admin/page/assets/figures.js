// Rates and quantiles out of the broker's counters, which only ever grow: what happened is the difference of two looks.

const windowSeconds = 10; // latencies are those of so long
const keepSeconds = 180; // charts reach back so far

/** The last statuses of one broker process, and what follows from them. */
export class Figures {
  #looks = []; // { at, status }, oldest first; at in seconds
  points = []; // { at, published, delivered, waiting: {…}, store, delivery }, for the charts

  /** Takes a status and returns the figures of now. */
  take(status) {
    const at = Date.parse(status.now) / 1000;
    const last = this.#looks.at(-1);
    if (last && last.status.started_at !== status.started_at) this.#looks = []; // another process: its counters began at zero
    if (last && at <= last.at) return this.now;
    this.#looks.push({ at, status });
    while (this.#looks.length > 2 && at - this.#looks[0].at > windowSeconds) this.#looks.shift();
    const now = this.#figures(status, at);
    this.points.push({
      at, published: now.published, delivered: now.delivered,
      waiting: Object.fromEntries(Object.entries(status.tiers).map(([p, t]) => [p, t.messages])),
      store: now.latencies.store?.p99 ?? null, delivery: now.latencies.delivery?.p99 ?? null,
    });
    while (this.points[0].at < at - keepSeconds) this.points.shift();
    this.now = now;
    return now;
  }

  #figures(status, at) {
    const before = this.#looks.length > 1 ? this.#looks.at(-2) : null;
    const oldest = this.#looks[0];
    const seconds = before ? at - before.at : 0;
    const per = (read) => (before ? Math.max(0, read(status) - read(before.status)) / seconds : null);
    const sum = (field) => (s) => Object.values(s.traffic).reduce((n, t) => n + t[field], 0);
    const byPriority = {};
    for (const p of Object.keys(status.traffic)) {
      byPriority[p] = { published: per((s) => s.traffic[p].published), delivered: per((s) => s.traffic[p].delivered) };
    }
    const latencies = {};
    for (const name of Object.keys(status.latencies)) {
      latencies[name] = before ? spread(oldest.status.latencies[name], status.latencies[name]) : null;
    }
    const batches = status.store.batches - oldest.status.store.batches;
    return {
      status, byPriority, latencies,
      published: per(sum("published")), publishedBytes: per(sum("published_bytes")),
      delivered: per(sum("delivered")), deliveredBytes: per(sum("delivered_bytes")),
      batches: per((s) => s.store.batches),
      changes: batches > 0 ? (status.store.changes - oldest.status.store.changes) / batches : null,
      cpu: per((s) => s.process.cpu_seconds),
    };
  }
}

/** The median and the 99th percentile of what was observed between two looks at a histogram; null if nothing was. */
export function spread(before, after) {
  const total = after.count - before.count;
  if (total <= 0) return null;
  const upTo = after.buckets.map((n, i) => n - (before.buckets[i] ?? 0));
  const quantile = (q) => {
    const wanted = q * total;
    for (let i = 0; i < upTo.length; i++) {
      if (upTo[i] < wanted) continue;
      const low = i > 0 ? after.bounds[i - 1] : 0, below = i > 0 ? upTo[i - 1] : 0;
      return low + (after.bounds[i] - low) * (wanted - below) / (upTo[i] - below);
    }
    return after.bounds.at(-1); // at least
  };
  return { p50: quantile(0.5), p99: quantile(0.99) };
}
