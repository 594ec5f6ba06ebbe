// The address keeps what is pinned: `#circuit&prompt=3&node=head+0.0`, for a bundle inside a run with its prefix.
const address = {
  read: () => {
    const [pairs, names] = [[], []];
    for (const one of location.hash.slice(1).split("&")) (one.includes("=") ? pairs : names).push(one);
    return { name: names[0] || "", pins: new URLSearchParams(pairs.join("&")) };
  },
  // A page says what is pinned in it; what others have pinned stays.
  write: (pinned) => {
    const { name, pins } = address.read();
    for (const [key, value] of pinned) value === null ? pins.delete(key) : pins.set(key, value);
    history.replaceState(null, "", `#${[name, pins.toString()].filter(Boolean).join("&")}`);
  },
  // The part that is named comes into sight, with whatever it is folded into.
  show: () => {
    const { name, pins } = address.read(), named = name && document.getElementById(name);
    const folded = named && named.closest("details");
    if (folded) folded.open = true;
    if (named && (pins.size || folded)) named.scrollIntoView();
  },
};

// Only where the whole document is ours: the address of a notebook is not.
part("", (page, root) => {
  if (!document.body.classList.contains("circuitproof") || location.protocol === "about:") return;
  if (root === document.body) {
    page.started.push(address.show);
    addEventListener("hashchange", address.show);
  }
  if (!page.data.prompts) return;
  const prefix = root.dataset.prefix || "", first = page.data.order[0];
  const isPinned = { prompt: (value) => value !== first, edge: () => true, node: () => true };
  const kept = Object.entries(isPinned).map(([what, is]) => [what, `${prefix}${what}`, is]);
  const keep = () => address.write(kept.map(([what, key, is]) => [key, page[what] !== null && is(page[what]) ? page[what] : null]));
  const known = {
    prompt: (text) => page.data.cells && Number(text) in page.data.prompts && Number(text),
    edge: (text) => Number(text) in page.data.edges && Number(text),
    node: (text) => page.data.edges.some((edge) => edge.split(" -> ").includes(text)) && text,
  };
  const restore = () => {
    const { pins } = address.read(), given = kept.filter(([, key]) => pins.has(key));
    for (const [what, key] of given) {
      const value = known[what](pins.get(key));
      if (value !== false && value !== page[what]) page.choose(what, value);
    }
    const folded = given.length && root.closest("details");
    if (folded) folded.open = true;
    return given.length > 0;
  };
  page.started.push(() => {
    restore();
    for (const [what] of kept) page.on(what, keep);
  });
  addEventListener("hashchange", () => restore() || keep());
});
