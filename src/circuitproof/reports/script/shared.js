// What the modules of a page share. Plain modules and no framework: there is no build step and nothing to pin, and
// the page must open from disk for ever. Every text of a bundle is set as text, never as markup.
"use strict";

const parts = [];

// What a part does when it is touched: `start(page, section)` is called if the page has a section of that name.
const part = (name, start) => parts.push({ name, start });

const make = (tag, attributes = {}, ...children) => {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children.flatMap(unbroken));
  return made;
};
// No line ends inside the name of an edge.
const EDGE = /((?:(?:head|mlp) )?\S+ -> (?:(?:head|mlp) )?[^\s,;:]+)/;
const unbroken = (child) => {
  if (typeof child !== "string" || !child.includes("->")) return [child];
  return child.split(EDGE).map((text, at) => {
    if (at % 2 === 0) return text;
    const span = document.createElement("span");
    span.className = "unbroken";
    span.textContent = text;
    return span;
  });
};
const button = (words, act, attributes = {}) => {
  const made = make("button", { type: "button", ...attributes }, words);
  made.addEventListener("click", act);
  return made;
};
const plural = (count, noun) => `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;
const cut = (text, most) => (text.length > most ? text.slice(0, most) + "…" : text);

// What belongs to a page: the page of a run has those of its bundles inside, each with data and names of its own.
const within = (root, selector) =>
  [...root.querySelectorAll(selector)].filter((one) => one.parentElement.closest(".circuitproof") === root);

// A page: its data, what is chosen, and who wants to hear of it. `choose("prompt", 3)` tells all that listen.
const open = (root) => {
  const data = JSON.parse(within(root, "script.data")[0].textContent);
  const listeners = { prompt: [], edge: [], node: [], only: [] };
  const page = {
    root,
    data,
    prompt: null,
    edge: null,
    node: null,
    started: [],
    only: null,
    at: (name) => within(root, `[data-at="${name}"]`)[0],
    section: (name) => within(root, `[data-part="${name}"]`)[0],
    on: (what, react) => listeners[what].push(react),
    choose: (what, value) => {
      page[what] = value;
      for (const react of listeners[what]) react(value);
    },
    text: (place) => data.prompts[place].map((token) => data.tokens[token]).join(" "),
    cell: (place) => data.cells && data.cells[data.cell_of[place]],
    // The prompts whose clear decision is another one without an edge, and those that then tie.
    needs: (edge) => {
      if (!data.needs) return null;
      return data.needs[edge].map((cells) => {
        const wanted = new Set(cells);
        return data.order.filter((place) => wanted.has(data.cell_of[place]));
      });
    },
    needed: (place) => {
      const cell = data.cell_of[place];
      return data.edges.filter((_, edge) => data.needs[edge].some((cells) => cells.includes(cell)));
    },
  };
  return page;
};
