// The heads: where each looks in the chosen prompt, a row for each position that asks.
part("heads", (page, section) => {
  const { data } = page, MOST = 24, SPOT = 6;
  const names = (place) => data.prompts[place].map((token) => data.tokens[token]);
  const table = (place, rows) => {
    const shown = names(place), head = make("tr", {}, make("th", {}, "from \\ to"));
    for (const name of shown) head.append(make("th", { scope: "col" }, make("bdi", {}, cut(name, 12))));
    const made = make("table", { class: "attention" }, make("thead", {}, head)), body = made.createTBody();
    rows.forEach((row, query) => {
      const weights = new Map(data.rows[row]), line = body.insertRow();
      line.append(make("th", { scope: "row" }, make("bdi", {}, `${query} ${cut(shown[query], 12)}`)));
      for (let key = 0; key < shown.length; key += 1) {
        const weight = weights.get(key), cell = make("td", { class: "number" }, weight || "");
        if (weight) cell.style.setProperty("--weight", `${Math.round(70 * Number(weight))}%`);
        if (key > query) cell.className = "later";
        line.append(cell);
      }
    });
    return made;
  };

  // A long prompt: a spot for each pair of positions, and words for the one that is pointed at.
  const picture = (place, rows) => {
    const shown = names(place), size = shown.length * SPOT;
    const drawn = make("canvas", { class: "attention", width: size, height: size, role: "img", "aria-label": "attention, a row for each position" });
    const said = make("p", { class: "note" }, "Down: from which position. Right: to which. Point at a spot to read it.");
    const made = make("div", {}, drawn, said), pen = drawn.getContext("2d");
    const paint = () => {
      const { color, borderTopColor } = getComputedStyle(drawn), fill = (colour, alpha, ...box) => {
        pen.fillStyle = colour;
        pen.globalAlpha = alpha;
        pen.fillRect(...box);
      };
      pen.clearRect(0, 0, size, size);
      rows.forEach((row, query) => {
        fill(borderTopColor, 0.5, 0, query * SPOT, (query + 1) * SPOT, SPOT);
        for (const [key, weight] of data.rows[row]) {
          fill(color, 0.1 + 0.9 * Number(weight), key * SPOT, query * SPOT, SPOT, SPOT);
        }
      });
    };
    drawn.addEventListener("paint", paint);
    drawn.addEventListener("pointermove", (event) => {
      const box = drawn.getBoundingClientRect();
      const [key, query] = [(event.clientX - box.left) / box.width, (event.clientY - box.top) / box.height].map((share) => Math.floor(share * shown.length));
      if (!(query in rows) || !(key in shown)) return;
      const weight = new Map(data.rows[rows[query]]).get(key) || "0";
      said.textContent = `from ${query} ${shown[query]} to ${key} ${shown[key]}: ${weight}`;
    });
    return made;
  };
  // A picture is painted in colours that it only has in its place, and again when the theme is another.
  const repaint = () => section.querySelectorAll("canvas").forEach((one) => one.dispatchEvent(new Event("paint")));
  new MutationObserver(repaint).observe(document, { attributes: true, attributeFilter: ["data-theme"], subtree: true });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", repaint);

  const matrix = (place, rows) => {
    if (!rows) return make("p", {}, "Not on this page; circuitproof explain tells it.");
    return rows.length > MOST ? picture(place, rows) : table(place, rows);
  };

  const neural = [...section.querySelectorAll("[data-head]")];
  const look = (details) => {
    const head = details.dataset.head, place = page.prompt;
    if (details.open) page.at(`attention ${head}`).replaceChildren(matrix(place, data.neural[place]?.[head]));
    repaint();
  };
  for (const details of neural) details.addEventListener("toggle", () => page.prompt !== null && look(details));
  page.on("prompt", (place) => {
    new Set(Object.values(data.programs)).forEach((program) => {
      page.at(`attention ${program}`).replaceChildren(matrix(place, data.attention[place]?.[program]));
    });
    neural.forEach(look);
    repaint();
  });
  page.on("node", (node) => {
    const details = neural.find((one) => one.dataset.head === node);
    if (details) details.open = true;
  });
});
