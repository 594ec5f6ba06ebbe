// The table of prompts: search, sort by exact order, choose, walk with the arrow keys.
part("prompts", (page, section) => {
  const { data } = page, STEP = 50;
  const table = page.at("prompt-table"), body = table.tBodies[0], search = page.at("search");
  const texts = data.prompts.map((_, place) => page.text(place).toLowerCase());
  const state = { key: "margin", down: false, shown: STEP };
  const keys = {
    prompt: (place) => texts[place],
    answer: (place) => data.answers[place],
    decision: (place) => (data.cells ? page.cell(place).decision : ""),
    margin: (place) => (data.cells ? page.cell(place).margin[1] : 0),
    radius: (place) => (data.cells && page.cell(place).radius ? page.cell(place).radius[1] : Infinity),
    cell: (place) => (data.cell_of ? data.cell_of[place] : 0),
  };

  const found = () => {
    const wanted = search.value.trim().toLowerCase();
    const matches = (place) =>
      texts[place].includes(wanted) || data.answers[place].toLowerCase().includes(wanted) || `#${place}` === wanted;
    const places = page.only || data.order;
    const kept = places.filter((place) => !wanted || matches(place));
    const key = keys[state.key], sign = state.down ? -1 : 1;
    const values = new Map(kept.map((place) => [place, key(place)]));
    return kept.sort((one, other) => {
      const a = values.get(one), b = values.get(other);
      return a < b ? -sign : a > b ? sign : one - other;
    });
  };

  const row = (place) => {
    const of = page.cell(place);
    const link = make("a", { href: `#${page.section("explanation")?.id || section.id}`, "data-prompt": place });
    link.append(make("bdi", {}, cut(page.text(place), 200)));
    const words = [data.answers[place], of ? of.decision : "–"].map((word) => make("td", {}, make("bdi", {}, word)));
    const numbers = of ? [of.margin[0], of.radius ? of.radius[0] : "–", data.cell_of[place]] : ["–", "–", "–"];
    const made = make("tr", {}, make("td", {}, link), ...words);
    for (const number of numbers) made.append(make("td", { class: "number" }, number));
    made.classList.toggle("chosen", place === page.prompt);
    return made;
  };

  const show = () => {
    const places = found(), count = Math.min(state.shown, places.length);
    body.append(...places.slice(body.rows.length, count).map(row));
    page.at("found").textContent = `${count.toLocaleString("en")} of ${places.length.toLocaleString("en")} shown`;
    page.at("more").hidden = count === places.length;
    page.at("unfilter").hidden = !page.only;
  };
  const again = () => {
    state.shown = STEP;
    body.replaceChildren();
    show();
  };

  sortButtons([...table.tHead.rows[0].cells], (name, down) => {
    state.key = name;
    state.down = down;
    again();
  });
  search.addEventListener("input", again);
  page.at("more").addEventListener("click", () => {
    state.shown += 4 * STEP;
    show();
  });
  page.at("unfilter").addEventListener("click", () => page.choose("only", null));
  page.on("only", again);
  page.on("prompt", (place) => {
    for (const line of body.rows) {
      line.classList.toggle("chosen", Number(line.querySelector("a").dataset.prompt) === place);
    }
  });
  body.addEventListener("keydown", (event) => {
    const line = event.target.closest("tr");
    const next = { ArrowDown: line?.nextElementSibling, ArrowUp: line?.previousElementSibling }[event.key];
    if (!next) return;
    event.preventDefault();
    next.querySelector("a").focus();
  });
  page.root.addEventListener("keydown", (event) => {
    if (event.key !== "/" || event.target.closest("input, textarea, select")) return;
    event.preventDefault();
    search.focus();
  });
  again();
});
