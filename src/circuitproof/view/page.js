// What a page does when it is touched: search, sort, choose a prompt or an edge.
// Plain JavaScript and no framework: there is no build step and nothing to pin, and the page must open from disk
// for ever. Every text of a bundle is set as text, never as markup.
"use strict";
(() => {
  const byId = (id) => document.getElementById(id);
  const data = JSON.parse(byId("data").textContent);
  const root = document.documentElement;
  const STEP = 50;

  const make = (tag, text, attributes = {}) => {
    const made = document.createElement(tag);
    if (text !== undefined) made.textContent = text;
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    return made;
  };

  byId("theme").addEventListener("click", () => {
    const isDark = root.dataset.theme
      ? root.dataset.theme === "dark"
      : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = isDark ? "light" : "dark";
  });
  if (!data.prompts) return;

  const text = (place) => data.prompts[place].map((token) => data.tokens[token]).join(" ");
  const cell = (place) => data.cells && data.cells[data.cell_of[place]];
  const texts = data.prompts.map((_, place) => text(place).toLowerCase());
  const state = { query: "", key: "margin", down: false, shown: STEP, only: null, prompt: null, edge: null };

  // The table of prompts.
  const keys = {
    prompt: (place) => texts[place],
    answer: (place) => data.answers[place],
    decision: (place) => (cell(place) ? cell(place).decision : ""),
    margin: (place) => (cell(place) ? cell(place).margin[1] : 0),
    radius: (place) => (cell(place) && cell(place).radius ? cell(place).radius[1] : Infinity),
    cell: (place) => (data.cell_of ? data.cell_of[place] : 0),
  };
  const table = byId("prompt-table");
  const body = table.tBodies[0];

  const found = () => {
    const wanted = state.query.toLowerCase();
    const matches = (place) =>
      texts[place].includes(wanted) || data.answers[place].toLowerCase().includes(wanted);
    const places = state.only || data.order;
    const kept = places.filter((place) => !wanted || matches(place));
    const key = keys[state.key];
    const values = new Map(kept.map((place) => [place, key(place)]));
    const sign = state.down ? -1 : 1;
    return kept.sort((one, other) => {
      const a = values.get(one), b = values.get(other);
      return a < b ? -sign : a > b ? sign : one - other;
    });
  };

  const row = (place) => {
    const made = make("tr"), of = cell(place), whole = text(place);
    const link = make("a", undefined, { href: "#explanation", "data-prompt": place });
    link.append(make("bdi", whole.length > 200 ? whole.slice(0, 200) + "…" : whole));
    const first = make("td");
    first.append(link);
    made.append(first, make("td", data.answers[place]), make("td", of ? of.decision : "–"));
    const numbers = of ? [of.margin[0], of.radius ? of.radius[0] : "–", data.cell_of[place]] : ["–", "–", "–"];
    for (const number of numbers) made.append(make("td", number, { class: "number" }));
    made.classList.toggle("chosen", place === state.prompt);
    return made;
  };

  const showPrompts = () => {
    const places = found();
    body.replaceChildren(...places.slice(0, state.shown).map(row));
    const count = Math.min(state.shown, places.length);
    byId("found").textContent = `${count} of ${places.length} shown`;
    byId("more").hidden = count === places.length;
    byId("unfilter").hidden = !state.only;
  };

  [...table.tHead.rows[0].cells].forEach((head) => {
    const name = head.textContent;
    const button = make("button", name, { type: "button" });
    button.addEventListener("click", () => {
      state.down = state.key === name && !state.down;
      state.key = name;
      for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", state.down ? "descending" : "ascending");
      showPrompts();
    });
    head.replaceChildren(button);
  });
  byId("search").addEventListener("input", (event) => {
    state.query = event.target.value;
    state.shown = STEP;
    showPrompts();
  });
  byId("more").addEventListener("click", () => {
    state.shown += 4 * STEP;
    showPrompts();
  });
  byId("unfilter").addEventListener("click", () => {
    state.only = null;
    showPrompts();
  });

  // One prompt.
  const facts = (pairs) => {
    const made = make("table", undefined, { class: "facts" });
    for (const [name, value] of pairs) {
      const line = made.insertRow();
      line.append(make("th", name, { scope: "row" }));
      line.insertCell().append(make("bdi", value));
    }
    return made;
  };
  const flips = (of) =>
    of.radius ? `moving ${of.moves} coordinates of the final residual by ${of.radius[0]}: then ${of.flips_to} is level` : "–";
  const needed = (place) =>
    data.edges.filter((_, edge) => data.needs[edge] && data.needs[edge].some((places) => places.includes(place)));

  const shares = (of) => {
    if (!of.shares) return make("p", "Not on this page; circuitproof explain tells it.");
    const made = make("table"), head = made.createTHead().insertRow();
    const add = (name, into, inside) => {
      const line = (made.tBodies[0] || made.createTBody()).insertRow();
      line.append(make("td", name), make("td", into, { class: "number" }), make("td", inside, { class: "number" }));
    };
    head.append(make("th", "edge"), make("th", "into logits", { class: "number" }), make("th", "inside", { class: "number" }));
    const last = (edge) => data.edges[edge].endsWith("-> logits");
    data.edges.forEach((name, edge) => last(edge) && add(name, of.shares[edge], ""));
    add("biases and norm at logits", of.own.logits, "");
    add("sum: the margin", of.margin[0], "");
    data.edges.forEach((name, edge) => last(edge) || add(name, "", of.shares[edge]));
    return made;
  };

  const reads = (place) => {
    const listed = data.reads && data.reads[place];
    if (!listed) return make("p", "Not on this page; circuitproof explain tells it.");
    if (!listed.length) return make("p", "No head is read.");
    const made = make("table"), lines = made.createTBody();
    for (const [head, query, number] of listed) {
      const line = lines.insertRow(), weights = new Map(data.rows[number]);
      const name = data.programs.includes(head) ? `${head} (program)` : head;
      line.append(make("td", `${name} from ${query}`));
      const looks = make("div", undefined, { class: "looks" });
      data.prompts[place].slice(0, query + 1).forEach((token, key) => {
        const weight = weights.get(key) || "0";
        const spot = make("span", data.tokens[token], { title: `position ${key}: weight ${weight}` });
        spot.style.setProperty("--weight", `${Math.round(60 * Number(weight))}%`);
        looks.append(spot);
      });
      line.insertCell().append(looks);
    }
    return made;
  };

  const choose = (place) => {
    const of = cell(place);
    if (!of) return;
    state.prompt = place;
    byId("explanation-title").textContent = `One prompt: #${place}`;
    const mates = data.cell_of.filter((number) => number === data.cell_of[place]).length;
    byId("explanation-facts").replaceChildren(facts([
      ["prompt", text(place)],
      ["answer", data.answers[place]],
      ["decision", of.decision],
      ["cell", `cell ${data.cell_of[place]}, with ${mates} of the bundle's prompts`],
      ["margin", `${of.margin[0]} over ${of.rival}`],
      ["flips by", flips(of)],
      ["needs", data.needs.some(Boolean) ? needed(place).join(", ") || "no single edge" : "not on this page"],
    ]));
    byId("explanation-shares").replaceChildren(shares(of));
    byId("explanation-reads").replaceChildren(reads(place));
    paint(of);
    for (const line of body.rows) {
      line.classList.toggle("chosen", Number(line.querySelector("a").dataset.prompt) === place);
    }
    if (state.edge !== null) note(state.edge);
  };

  // The circuit.
  const lines = [...document.querySelectorAll("g.edge")];
  const paint = (of) => {
    const sizes = (of.shares || []).map(Number), most = Math.max(...sizes.map(Math.abs), 1e-300);
    lines.forEach((line, edge) => {
      line.classList.toggle("plus", sizes[edge] > 0);
      line.classList.toggle("minus", sizes[edge] < 0);
      const width = sizes.length ? 1 + 4 * Math.abs(sizes[edge]) / most : 1.6;
      line.querySelector(".line").style.strokeWidth = `${width}px`;
    });
  };
  const note = (edge) => {
    const needs = data.needs && data.needs[edge], of = state.prompt === null ? null : cell(state.prompt);
    const parts = [data.edges[edge]];
    if (needs) parts.push(`without it ${needs[0].length} decisions flip and ${needs[1].length} tie`);
    if (of && of.shares) parts.push(`brings ${of.shares[edge]} to the margin ${of.margin[0]} of prompt #${state.prompt}`);
    byId("edge-note").textContent = parts.join("; ");
  };
  const chooseEdge = (edge) => {
    state.edge = edge;
    lines.forEach((line, place) => line.classList.toggle("chosen", place === edge));
    note(edge);
    const needs = data.needs && data.needs[edge];
    const only = needs ? [...needs[0], ...needs[1]] : [];
    state.only = only.length ? only : null;
    state.shown = STEP;
    showPrompts();
    byId("edge-note").append(only.length ? `; the table of prompts shows the ${only.length} that need it.` : ".");
  };
  lines.forEach((line, edge) => {
    for (const event of ["mouseenter", "focus"]) line.addEventListener(event, () => note(edge));
  });
  for (const node of document.querySelectorAll("g.node")) {
    const near = (is) => lines.forEach((line) =>
      line.classList.toggle("near", is && [line.dataset.source, line.dataset.target].includes(node.dataset.node)));
    for (const event of ["mouseenter", "focus"]) node.addEventListener(event, () => near(true));
    for (const event of ["mouseleave", "blur"]) node.addEventListener(event, () => near(false));
  }

  document.addEventListener("click", (event) => {
    const chosen = event.target.closest("[data-prompt], [data-edge]");
    if (!chosen) return;
    if (chosen.dataset.prompt !== undefined) choose(Number(chosen.dataset.prompt));
    else {
      event.preventDefault();
      chooseEdge(Number(chosen.dataset.edge));
    }
  });
  document.addEventListener("keydown", (event) => {
    const line = event.target.closest && event.target.closest("g.edge");
    if (line && (event.key === "Enter" || event.key === " ")) {
      event.preventDefault();
      chooseEdge(Number(line.dataset.edge));
    }
  });

  showPrompts();
  if (data.cells) choose(data.order[0]);
})();
