// Counterexamples and witnesses, one after the other: what is decided before and after, and what was changed.
part("witnesses", (page, section) => {
  const { data } = page, walk = page.at("walk"), found = data.witnesses;
  const state = { place: 0 };

  // A bar for each coordinate, a line for each position: up is added, down is taken away.
  const bars = (eta, width) => {
    const sizes = eta.map(Number), most = Math.max(...sizes.map(Math.abs), 1e-300), lines = [];
    for (let start = 0; start < sizes.length; start += width) {
      const line = make("div", { class: "eta", role: "img", "aria-label": `coordinates of at most ${most}` });
      sizes.slice(start, start + width).forEach((size, at) => {
        const bar = make("span", { class: size < 0 ? "minus" : "plus", title: `coordinate ${at}: ${eta[start + at]}` });
        bar.style.setProperty("--size", `${(50 * Math.abs(size)) / most}%`);
        line.append(bar);
      });
      lines.push(line);
    }
    return lines;
  };

  const decides = (words, of) =>
    make("p", {}, `${words} `, make("strong", {}, make("bdi", {}, of.decision)), of.margin === null ? "" : ` by ${of.margin}`);
  const shown = (one, entry) => {
    const tokens = make("div", { class: "looks" });
    for (const token of data.prompts[entry.prompt]) tokens.append(make("span", {}, make("bdi", {}, data.tokens[token])));
    const made = make("div", { class: "shown" }, tokens);
    made.append(make("p", {}, "right: ", make("strong", {}, make("bdi", {}, data.answers[entry.prompt]))));
    made.append(decides(one.change && !entry.after ? `${one.change} decides` : "decides", entry.before));
    if (entry.after) made.append(decides(`${one.change} decides`, entry.after));
    if (entry.eta.length) made.append(make("p", { class: "note" }, "what is added, coordinate by coordinate:"), ...bars(entry.eta, one.width));
    const link = make("a", { href: `#${page.section("explanation")?.id || section.id}`, "data-prompt": entry.prompt }, `explain prompt #${entry.prompt}`);
    made.append(make("p", {}, link));
    return made;
  };

  const show = (place) => {
    state.place = (place + found.length) % found.length;
    const one = found[state.place];
    const buttons = [
      button("‹", () => show(state.place - 1), { "aria-label": "previous witness" }),
      button("›", () => show(state.place + 1), { "aria-label": "next witness" }),
    ];
    const where = document.activeElement?.getAttribute("aria-label");
    const title = make("p", { class: "chosen-prompt" }, ...buttons, make("span", {}, `${state.place + 1} of ${found.length}: `), make("strong", {}, one.says));
    walk.className = `walk ${one.refutes ? "refutes" : "shows"}`;
    walk.replaceChildren(title, ...one.shown.map((entry) => shown(one, entry)));
    buttons.find((made) => made.getAttribute("aria-label") === where)?.focus();
    for (const link of section.querySelectorAll("[data-witness]")) {
      link.closest("tr").classList.toggle("chosen", Number(link.dataset.witness) === state.place);
    }
  };
  walk.addEventListener("keydown", (event) => {
    if (event.key === "ArrowLeft") show(state.place - 1);
    if (event.key === "ArrowRight") show(state.place + 1);
  });
  section.addEventListener("click", (event) => {
    const link = event.target.closest("[data-witness]");
    if (!link) return;
    event.preventDefault();
    show(Number(link.dataset.witness));
  });
  show(0);
});
