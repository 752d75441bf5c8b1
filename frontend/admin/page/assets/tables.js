// Tables that live: rows are known by keys and stay in place while their figures change, so that focus and selection stay too.

import { h, mark, say, show } from "./dom.js";

/**
 * A table of the document. Columns are { cell(td, row), class, head }: cell changes what is in td (it is called again and
 * again), class is text or a function of the row, head makes it the row's header. Of more than `few` rows the others are
 * shown when a person asks for them.
 */
export class Table {
  #rows = new Map(); // elements by key

  #all = false; // a person wants every row
  #given = []; // rows of the last fill

  constructor(table, columns, key, few = Infinity) {
    this.table = table;
    this.body = table.tBodies[0];
    this.columns = columns;
    this.key = key;
    this.few = few;
    this.toggle = h("button", { type: "button", class: "quiet small", hidden: true, "aria-expanded": "false", on: { click: () => this.#turn() } });
    if (few < Infinity) table.after(this.toggle);
  }

  #turn() {
    this.#all = !this.#all;
    this.fill(this.#given);
  }

  /** Shows these rows in this order. */
  fill(rows) {
    this.#given = rows;
    if (rows.length > this.few) {
      mark(this.toggle, "aria-expanded", String(this.#all));
      say(this.toggle, this.#all ? "Show fewer" : `Show all ${rows.length}`);
    }
    show(this.toggle, rows.length > this.few);
    if (!this.#all) rows = rows.slice(0, this.few);
    const stay = new Set(rows.map(this.key));
    for (const [key, tr] of this.#rows) {
      if (!stay.has(key)) { tr.remove(); this.#rows.delete(key); }
    }
    let before = this.body.firstElementChild;
    for (const row of rows) {
      const key = this.key(row);
      let tr = this.#rows.get(key);
      if (!tr) {
        tr = h("tr", {}, ...this.columns.map((c) => h(c.head ? "th" : "td", c.head ? { scope: "row" } : {})));
        this.#rows.set(key, tr);
      }
      if (tr === before) before = before.nextElementSibling;
      else this.body.insertBefore(tr, before); // a row that stays where it is keeps the focus
      this.columns.forEach((c, i) => {
        const name = typeof c.class === "function" ? c.class(row) : c.class;
        if (name) mark(tr.children[i], "class", name);
        c.cell(tr.children[i], row);
      });
    }
    show(this.table, rows.length > 0);
  }
}
