// The circuit: what an edge brings and who needs it, when it is pointed at and when it is chosen.
part("circuit", (page, section) => {
  const { data } = page, LISTED = 8;
  const lines = [...section.querySelectorAll("g.edge")], nodes = [...section.querySelectorAll("g.node")];
  const numbers = [...section.querySelectorAll("text.brings")], place_of = (one) => Number(one.dataset.edge);
  const card = page.at("edge-card"), panel = page.at("edge-panel"), drawing = card.parentElement;
  const rows = [...section.querySelectorAll("table.edges [data-edge]")].map((link) => link.closest("tr"));
  const witness = new Map(data.witnesses.filter((one) => one.edge !== null).map((one) => [one.edge, one]));

  const ends = (edge) => edge.split(" -> ").map((end) => end.replace(/ (query|key|value)$/, ""));
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
  lines.forEach((line) => {
    const edge = place_of(line);
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

  // Pointing at a node: its edges stand out, all others step back; a node that is pinned stays so.
  const near = (name) => {
    drawing.classList.toggle("pointed", name !== null);
    for (const one of [...lines, ...numbers]) one.classList.toggle("near", ends(data.edges[place_of(one)]).includes(name));
  };
  for (const node of nodes) {
    const name = node.dataset.node, pin = () => page.choose("node", page.node === name ? null : name);
    for (const event of ["pointerenter", "focus"]) node.addEventListener(event, () => near(name));
    for (const event of ["pointerleave", "blur"]) node.addEventListener(event, () => near(page.node));
    node.addEventListener("click", pin);
    node.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      pin();
    });
  }

  // The chosen prompt: how much each edge brings.
  page.on("prompt", (chosen) => {
    const sizes = (page.cell(chosen).shares || []).map(Number), most = Math.max(...sizes.map(Math.abs), 1e-300);
    for (const one of [...lines, ...numbers]) {
      const size = sizes[place_of(one)];
      one.classList.toggle("plus", size > 0);
      one.classList.toggle("minus", size < 0);
      one.style.setProperty("--share", (sizes.length ? Math.abs(size) / most : 0).toFixed(3));
    }
    for (const one of numbers) one.textContent = sizes.length ? String(Number(sizes[place_of(one)].toPrecision(3))) : "";
    if (page.edge !== null) show(page.edge);
    if (page.node !== null) tell(page.node);
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
  // The pinned node: what its edges bring on the chosen prompt.
  const tell = (node) => {
    const of = page.prompt === null ? null : page.cell(page.prompt), close = button("let go", () => page.choose("node", null));
    const edges = data.edges.map((name, edge) => [name, edge]).filter(([name]) => ends(name).includes(node));
    const listed = edges.map(([name, edge]) => make("li", {}, make("a", { href: "#", "data-edge": edge }, name), of && of.shares ? ` brings ${of.shares[edge]}` : ""));
    panel.replaceChildren(make("h3", {}, node, " ", close), make("ul", {}, ...listed));
    if (of && of.own && node in of.own) panel.append(make("p", {}, `Its own ${data.constants} bring ${of.own[node]}.`));
  };
  page.on("node", (node) => {
    if (node !== null && page.edge !== null) page.choose("edge", null);
    for (const one of nodes) {
      one.classList.toggle("pinned", one.dataset.node === node);
      one.setAttribute("aria-pressed", one.dataset.node === node);
    }
    near(node);
    panel.replaceChildren();
    if (node !== null) tell(node);
  });
  page.on("edge", (edge) => {
    if (edge !== null && page.node !== null) page.choose("node", null);
    for (const one of [...lines, ...numbers]) one.classList.toggle("chosen", place_of(one) === edge);
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
    if (page.node !== null) page.choose("node", null);
  });
});
