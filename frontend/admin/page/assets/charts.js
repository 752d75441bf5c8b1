// The charts: the last three minutes, drawn by uPlot. Each has a legend in words, which also says the latest figures to those who
// do not see the lines.

/* global uPlot */
import { at, h, mark, say } from "./dom.js";
import { count, rate, took } from "./format.js";

const seconds = 180;

const kinds = [
  {
    id: "c-rates", write: rate, series: [
      ["published", "published", (p) => p.published], ["delivered", "delivered", (p) => p.delivered],
    ],
  },
  {
    id: "c-waiting", write: count, series: [
      ["critical", "critical", (p) => p.waiting.critical], ["urgent", "urgent", (p) => p.waiting.urgent], ["normal", "normal", (p) => p.waiting.normal],
    ],
  },
  {
    id: "c-latency", write: took, series: [
      ["store", "published", (p) => p.store], ["deliver", "delivered", (p) => p.delivery],
    ],
  },
];

class Chart {
  #plot = null;
  #data = null;

  constructor({ id, write, series }) {
    this.figure = at(id);
    this.title = this.figure.querySelector("h2").textContent;
    this.write = write;
    this.series = series;
    this.area = h("div", { class: "plot", role: "img" });
    this.values = series.map(() => h("b", {}, "–"));
    this.legend = h("p", { class: "legend", "aria-hidden": "true" },
      ...series.map(([label, tone], i) => h("span", {}, h("span", { class: `mark line ${tone}` }), label + " ", this.values[i])));
    this.figure.querySelector("figcaption").append(this.legend);
    this.figure.append(this.area);
    new ResizeObserver(() => this.#fit()).observe(this.area);
  }

  /** Draws these points. */
  draw(points) {
    const now = points.at(-1).at;
    this.#data = [points.map((p) => p.at), ...this.series.map(([, , read]) => points.map((p) => read(p) ?? null))];
    this.range = [now - seconds, now];
    if (this.#plot) this.#plot.setData(this.#data);
    else this.#make();
    this.#say(points.length - 1);
  }

  /** Makes the chart anew, in the colours of now. */
  restyle() {
    this.#plot?.destroy();
    this.#plot = null;
    if (this.#data) this.#make();
  }

  #make() {
    const style = getComputedStyle(document.documentElement);
    const colour = (name) => style.getPropertyValue("--" + name).trim();
    const font = `11px ${style.fontFamily}`;
    const axis = { stroke: colour("muted"), font, ticks: { show: false }, grid: { stroke: colour("line"), width: 1 } };
    this.#plot = new uPlot({
      ...this.#size(),
      legend: { show: false },
      cursor: { y: false, drag: { x: false, y: false }, points: { size: 7 } },
      padding: [8, 16, 0, 0],
      scales: {
        x: { time: false, range: () => this.range },
        y: { range: (_, low, high) => [0, !high ? 1 : high * 1.15] },
      },
      axes: [
        {
          ...axis, size: 24, grid: { show: false }, splits: () => [0, 60, 120].map((s) => this.range[1] - s).reverse(),
          values: () => ["2 min ago", "1 min ago", "now"],
        },
        { ...axis, size: 56, space: 32, values: (_, ticks) => ticks.map((t) => (t === 0 ? "0" : this.write(t))) },
      ],
      series: [
        {},
        ...this.series.map(([label, tone]) => ({
          label, stroke: colour(tone), width: 1.75, points: { show: false }, spanGaps: true, fill: colour(tone + "-soft") || undefined,
        })),
      ],
      hooks: { setCursor: [(plot) => this.#say(plot.cursor.idx ?? this.#data[0].length - 1)] },
    }, this.#data, this.area);
  }

  /** Writes the figures at one point into the legend, and the latest ones into the description. */
  #say(i) {
    this.values.forEach((b, s) => say(b, this.write(this.#data[s + 1][i])));
    const last = this.#data[0].length - 1;
    mark(this.area, "aria-label", `${this.title}: ` + this.series.map(([label], s) => `${label} ${this.write(this.#data[s + 1][last])}`).join(", "));
  }

  #size() { return { width: Math.max(160, this.area.clientWidth), height: 150 }; }

  #fit() {
    const { width, height } = this.#size();
    if (this.#plot && this.#plot.width !== width) this.#plot.setSize({ width, height });
  }
}

/** Makes the charts and returns what draws them. */
export function makeCharts() {
  const charts = kinds.map((kind) => new Chart(kind));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => charts.forEach((c) => c.restyle()));
  return (points) => charts.forEach((c) => c.draw(points));
}
