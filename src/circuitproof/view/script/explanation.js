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

  const shares = (of) => {
    if (!of.shares) return make("p", {}, "Not on this page; circuitproof explain tells it.");
    const made = make("table"), lines = made.createTBody(), number = { class: "number" };
    made.createTHead().insertRow().append(
      make("th", {}, "edge"), make("th", number, "into logits"), make("th", number, "inside"),
    );
    const add = (name, into, inside) =>
      lines.insertRow().append(make("td", {}, name), make("td", number, into), make("td", number, inside));
    const last = (edge) => data.edges[edge].endsWith("-> logits");
    data.edges.forEach((name, edge) => last(edge) && add(name, of.shares[edge], ""));
    add("biases and norm at logits", of.own.logits, "");
    add("sum: the margin", of.margin[0], "");
    data.edges.forEach((name, edge) => last(edge) || add(name, "", of.shares[edge]));
    return made;
  };

  const reads = (place) => {
    const listed = data.reads[place];
    if (!listed) return make("p", {}, "Not on this page; circuitproof explain tells it.");
    if (!listed.length) return make("p", {}, "No head is read.");
    const made = make("table"), lines = made.createTBody();
    for (const [head, query, number] of listed) {
      const weights = new Map(data.rows[number]), looks = make("div", { class: "looks" });
      data.prompts[place].slice(0, query + 1).forEach((token, key) => {
        const weight = weights.get(key) || "0";
        const spot = make("span", { title: `position ${key}: weight ${weight}` }, make("bdi", {}, data.tokens[token]));
        if (weight !== "0") spot.append(make("sub", {}, weight));
        spot.style.setProperty("--weight", `${Math.round(60 * Number(weight))}%`);
        looks.append(spot);
      });
      const name = head in data.programs ? `${head} (program)` : head;
      lines.insertRow().append(make("td", {}, `${name} from ${query}`), make("td", {}, looks));
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
    ]));
    page.at("explanation-shares").replaceChildren(shares(of));
    page.at("explanation-reads").replaceChildren(reads(place));
  });
});
