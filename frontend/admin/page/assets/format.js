// How figures are written.

const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const short = new Intl.NumberFormat("en", { notation: "compact", maximumSignificantDigits: 3 });

/** A count: 1,234 in full, from a hundred thousand on as 123K. */
export const count = (n) => (Math.abs(n) < 100_000 ? whole : short).format(n);

/** A rate, which is null while it is not known yet. */
export function rate(n) {
  if (n == null) return "–";
  if (n > 0 && n < 10) return n.toFixed(1).replace(/\.0$/, "");
  return count(n);
}

/** Bytes in powers of 1024. */
export function bytes(n) {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let i = 0;
  while (n >= 1024 && i < units.length - 1) { n /= 1024; i++; }
  return `${i === 0 || n >= 100 ? Math.round(n) : n.toFixed(1)} ${units[i]}`;
}

/** A time that something took, given in seconds; null where nothing happened. */
export function took(s) {
  if (s == null) return "–";
  if (s < 1e-3) return `${Math.max(1, Math.round(s * 1e6))} µs`;
  if (s < 1) return `${(s * 1e3).toFixed(s < 0.0995 ? 1 : 0)} ms`;
  return s < 100 ? `${s.toFixed(1)} s` : span(s);
}

/** A span of time in its two largest units, given in seconds. */
export function span(s) {
  s = Math.max(0, Math.floor(s));
  const parts = [["d", 86400], ["h", 3600], ["min", 60], ["s", 1]];
  for (let i = 0; i < parts.length; i++) {
    const [unit, size] = parts[i];
    if (s < size && i < parts.length - 1) continue;
    const n = Math.floor(s / size);
    const next = parts[i + 1];
    const rest = next ? Math.floor((s % size) / next[1]) : 0;
    return rest > 0 && n < 100 ? `${n} ${unit} ${rest} ${next[0]}` : `${n} ${unit}`;
  }
}

/** The time of day of an RFC 3339 time, with milliseconds. */
export function clock(text) {
  const t = new Date(text);
  const two = (n) => String(n).padStart(2, "0");
  return `${two(t.getHours())}:${two(t.getMinutes())}:${two(t.getSeconds())}.${String(t.getMilliseconds()).padStart(3, "0")}`;
}

/** `1 member`, `2 members`. */
export const plural = (n, one, many = one + "s") => `${count(n)} ${n === 1 ? one : many}`;
