// Making and changing elements. Everything that comes from the broker goes in as text: there is no way to put HTML in.

/** The element of this id, which is in the document. */
export const at = (id) => document.getElementById(id);

/** Makes an element: props are attributes, but for `on`, which holds listeners. Children are elements or text; null ones are left out. */
export function h(tag, props = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (name === "on") {
      for (const [event, listener] of Object.entries(value)) element.addEventListener(event, listener);
    } else if (value === true) {
      element.setAttribute(name, "");
    } else if (value !== false && value != null) {
      element.setAttribute(name, value);
    }
  }
  element.append(...children.filter((c) => c != null));
  return element;
}

/** Sets an element's text if it is another one: what stays the same is not announced again, nor its selection lost. */
export function say(element, text) {
  text = String(text);
  if (element.textContent !== text) element.textContent = text;
}

/** Shows or hides an element. */
export function show(element, visible) {
  if (element.hidden === visible) element.hidden = !visible;
}

/** Sets an attribute if it is another one. */
export function mark(element, name, value) {
  if (element.getAttribute(name) !== value) element.setAttribute(name, value);
}

/** A description list whose rows are known by their terms: fill([[term, text, tone]…]) changes what changed. */
export class Facts {
  #rows = new Map();
  constructor(list) { this.list = list; }

  fill(facts) {
    const stay = new Set(facts.map(([term]) => term));
    for (const [term, row] of this.#rows) {
      if (!stay.has(term)) { row.remove(); this.#rows.delete(term); }
    }
    for (const [term, text, tone] of facts) {
      let row = this.#rows.get(term);
      if (!row) {
        row = h("div", {}, h("dt", {}, term), h("dd"));
        this.#rows.set(term, row);
        this.list.append(row);
      }
      say(row.lastChild, text);
      mark(row, "data-tone", tone ?? "");
    }
  }
}
