// The circuit: what an edge brings and who needs it, when it is pointed at and when it is chosen.
part("circuit", (page, section) => {
  const { data } = page, LISTED = 8;
  const lines = [...section.querySelectorAll("g.edge")], nodes = [...section.querySelectorAll("g.node")];
  const card = page.at("edge-card"), panel = page.at("edge-panel"), drawing = card.parentElement;
  const rows = [...section.querySelectorAll("table.edges [data-edge]")].map((link) => link.closest("tr"));
  const witness = new Map(data.witnesses.filter((one) => one.edge !== null).map((one) => [one.edge, one]));

  const facts = (edge) => {
    const said = [], needs = page.needs(edge), of = page.prompt === null ? null : page.cell(page.prompt);
    if (of && of.shares) said.push(`brings ${of.shares[edge]} to the margin ${of.margin[0]} of prompt #${page.prompt}`);
    if (needs) said.push(`without it ${plural(needs[0].length, "decision")} flip and ${needs[1].length} tie`);
    if (witness.has(edge)) said.push(`witness: ${page.text(witness.get(edge).shown[0].prompt)}`);
    return said;
  };

  // Pointing at an edge.
  const place = (x, y) => {
    const box = drawing.getBoundingClientRect();
    card.style.left = `${Math.max(0, Math.min(x - box.left + 14, box.width - card.offsetWidth))}px`;
    card.style.top = `${y - box.top + 16}px`;
  };
  const point = (edge, x, y) => {
    card.replaceChildren(make("strong", {}, data.edges[edge]));
    for (const words of facts(edge)) card.append(make("div", {}, make("bdi", {}, cut(words, 160))));
    card.hidden = false;
    place(x, y);
  };
  const leave = () => {
    card.hidden = true;
  };
  lines.forEach((line, edge) => {
    line.addEventListener("pointerenter", (event) => point(edge, event.clientX, event.clientY));
    line.addEventListener("pointermove", (event) => place(event.clientX, event.clientY));
    line.addEventListener("pointerleave", leave);
    line.addEventListener("focus", () => {
      const box = line.getBoundingClientRect();
      point(edge, box.left + box.width / 2, box.top + box.height / 2);
    });
    line.addEventListener("blur", leave);
    line.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      page.choose("edge", edge);
    });
  });

  // Pointing at a node: its edges stand out, all others step back.
  for (const node of nodes) {
    const name = node.dataset.node;
    const near = (is) => {
      drawing.classList.toggle("pointed", is);
      for (const line of lines) {
        line.classList.toggle("near", is && [line.dataset.source, line.dataset.target].includes(name));
      }
    };
    for (const event of ["pointerenter", "focus"]) node.addEventListener(event, () => near(true));
    for (const event of ["pointerleave", "blur"]) node.addEventListener(event, () => near(false));
  }

  // The chosen prompt: how much each edge brings.
  page.on("prompt", (chosen) => {
    const sizes = (page.cell(chosen).shares || []).map(Number), most = Math.max(...sizes.map(Math.abs), 1e-300);
    lines.forEach((line, edge) => {
      line.classList.toggle("plus", sizes[edge] > 0);
      line.classList.toggle("minus", sizes[edge] < 0);
      const share = sizes.length ? Math.abs(sizes[edge]) / most : 0;
      line.style.setProperty("--share", share.toFixed(3));
    });
    if (page.edge !== null) show(page.edge);
  });

  // The chosen edge: the prompts that need it.
  const listed = (places, what) => {
    const links = places.slice(0, LISTED).map((at) => {
      const link = make("a", { href: `#${page.section("explanation").id}`, "data-prompt": at });
      link.append(make("bdi", {}, `#${at} ${cut(page.text(at), 120)}`));
      return make("li", {}, link);
    });
    const rest = places.length - links.length;
    return places.length
      ? [make("h4", {}, `${plural(places.length, "prompt")} ${what}`), make("ul", {}, ...links, rest > 0 ? `… and ${rest.toLocaleString("en")} more in the table of prompts` : "")]
      : [];
  };
  const show = (edge) => {
    const needs = page.needs(edge), close = button("close", () => page.choose("edge", null));
    panel.replaceChildren(make("h3", {}, data.edges[edge], " ", close));
    panel.append(make("p", {}, make("bdi", {}, facts(edge).join("; ") || "Nothing is computed of it here.")));
    if (!needs) return;
    const groups = [...listed(needs[0], "decided otherwise without it"), ...listed(needs[1], "tied without it")];
    panel.append(...(groups.length ? groups : [make("p", {}, "No prompt needs it.")]));
  };
  page.on("edge", (edge) => {
    lines.forEach((line, at) => line.classList.toggle("chosen", at === edge));
    rows.forEach((row) => row.classList.toggle("chosen", Number(row.querySelector("[data-edge]").dataset.edge) === edge));
    panel.replaceChildren();
    if (edge !== null) show(edge);
    const needs = edge === null ? null : page.needs(edge);
    const only = needs ? [...needs[0], ...needs[1]] : [];
    page.choose("only", only.length ? only : null);
  });
  section.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    leave();
    if (page.edge !== null) page.choose("edge", null);
  });
});
