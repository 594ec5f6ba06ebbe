// Program heads: where each looks in the chosen prompt, a row for each position that asks.
part("programs", (page, section) => {
  const { data } = page, MOST = 24;
  const number = { class: "number" };
  const matrix = (place, rows) => {
    const names = data.prompts[place].map((token) => data.tokens[token]);
    const first = Math.max(0, names.length - MOST), head = make("tr", {}, make("th", {}, "from \\ to"));
    names.slice(first).forEach((name) => head.append(make("th", { scope: "col" }, make("bdi", {}, cut(name, 12)))));
    const made = make("table", { class: "attention" }, make("thead", {}, head)), body = made.createTBody();
    rows.slice(first).forEach((row, at) => {
      const weights = new Map(data.rows[row]), line = body.insertRow();
      line.append(make("th", { scope: "row" }, make("bdi", {}, `${first + at} ${cut(names[first + at], 12)}`)));
      for (let key = first; key < names.length; key += 1) {
        const weight = weights.get(key), cell = make("td", number, weight || "");
        if (weight) cell.style.setProperty("--weight", `${Math.round(70 * Number(weight))}%`);
        if (key > first + at) cell.className = "later";
        line.append(cell);
      }
    });
    return made;
  };
  page.on("prompt", (place) => {
    const found = data.attention[place];
    new Set(Object.values(data.programs)).forEach((program) => {
      const shown = found ? matrix(place, found[program]) : make("p", {}, "Not on this page; circuitproof explain tells it.");
      page.at(`attention ${program}`).replaceChildren(shown);
    });
  });
});
