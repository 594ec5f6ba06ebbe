// One prompt: its cell, its margin, what flips it, what each edge brings, where heads look.
part("explanation", (page, section) => {
  const { data } = page;
  const facts = (pairs) => {
    const made = make("table", { class: "facts" });
    for (const [name, value] of pairs) {
      const line = made.insertRow();
      line.append(make("th", { scope: "row" }, name));
      line.insertCell().append(make("bdi", {}, value));
    }
    return made;
  };
  const needed = (place) => (data.needs ? page.needed(place).join(", ") || "no single edge" : "not on this page");

  // The table of shares is made once: for another prompt only its numbers change.
  const number = { class: "number" }, table = make("table"), lines = table.createTBody();
  const add = (name, isLast) => {
    const value = make("td", number), empty = make("td", number);
    lines.insertRow().append(make("td", {}, name), ...(isLast ? [value, empty] : [empty, value]));
    return value;
  };
  const isLast = (edge) => data.edges[edge].endsWith("-> logits");
  const cells = new Map();
  table.createTHead().insertRow().append(
    make("th", {}, "edge"), make("th", number, "into logits"), make("th", number, "inside"),
  );
  data.edges.forEach((name, edge) => isLast(edge) && cells.set(edge, add(name, true)));
  const own = add(`${data.constants} at logits`, true), sum = add("sum: the margin", true);
  data.edges.forEach((name, edge) => isLast(edge) || cells.set(edge, add(name, false)));
  const shares = (of) => {
    if (!of.shares) return make("p", {}, data.unshared || "Not on this page; circuitproof explain tells it.");
    for (const [edge, cell] of cells) cell.textContent = of.shares[edge];
    own.textContent = of.own.logits;
    sum.textContent = of.margin[0];
    return table;
  };

  const reads = (place) => {
    const listed = data.reads[place];
    if (!listed) return make("p", {}, data.unshared || "Not on this page; circuitproof explain tells it.");
    if (!listed.length) return make("p", {}, "No head is read.");
    const made = make("table"), body = made.createTBody();
    for (const [head, query, row] of listed) {
      const weights = new Map(data.rows[row]), looks = make("div", { class: "looks" });
      data.prompts[place].slice(0, query + 1).forEach((token, key) => {
        const weight = weights.get(key) || "0";
        const spot = make("span", { title: `position ${key}: weight ${weight}` }, make("bdi", {}, data.tokens[token]));
        if (weight !== "0") spot.append(make("sub", {}, weight));
        spot.style.setProperty("--weight", `${Math.round(60 * Number(weight))}%`);
        looks.append(spot);
      });
      const name = head in data.programs ? `${head} (program)` : head;
      body.insertRow().append(make("td", {}, `${name} from ${query}`), make("td", {}, looks));
    }
    return made;
  };

  page.on("prompt", (place) => {
    const of = page.cell(place), cell = data.cell_of[place];
    section.querySelector("h2").textContent = `One prompt: #${place}`;
    page.at("explanation-facts").replaceChildren(facts([
      ["prompt", page.text(place)],
      ["answer", data.answers[place]],
      ["decision", of.decision],
      ["cell", `cell ${cell}, with ${plural(data.cell_of.filter((one) => one === cell).length, "prompt")} of the bundle`],
      ["margin", `${of.margin[0]} over ${of.rival}`],
      ["flips by", of.flips],
      ["needs", needed(place)],
      ["cut edges", data.cut],
      ...(data.partners ? [["partner", data.partners[place]]] : []),
    ]));
    const shown = shares(of), into = page.at("explanation-shares");
    if (into.firstElementChild !== shown) into.replaceChildren(shown);
    page.at("explanation-reads").replaceChildren(reads(place));
  });
});
