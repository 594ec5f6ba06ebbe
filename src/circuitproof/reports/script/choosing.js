// What is chosen: links and edges anywhere on the page choose, and bars say which prompt it is and go on to the next.
part("", (page, root) => {
  if (!page.data.prompts) return;
  root.addEventListener("click", (event) => {
    const chosen = event.target.closest("[data-prompt], [data-edge]");
    if (!chosen || !root.contains(chosen)) return;
    if (chosen.dataset.prompt !== undefined) page.choose("prompt", Number(chosen.dataset.prompt));
    else {
      event.preventDefault();
      page.choose("edge", Number(chosen.dataset.edge));
    }
  });
  if (!page.data.cells) return;

  const order = page.data.order;
  const step = (by) => {
    const place = order.indexOf(page.prompt) + by;
    page.choose("prompt", order[(place + order.length) % order.length]);
  };
  for (const bar of within(root, '[data-at="chosen-prompt"]')) {
    const words = make("bdi", { "aria-live": "polite" });
    const buttons = [
      button("‹", () => step(-1), { "aria-label": "previous prompt" }),
      button("›", () => step(1), { "aria-label": "next prompt" }),
    ];
    bar.append(...buttons, words);
    page.on("prompt", (place) => {
      const of = page.cell(place);
      words.textContent = `#${place}: ${cut(page.text(place), 160)}`;
      words.title = `decides ${of.decision} by ${of.margin[0]}`;
    });
    bar.addEventListener("keydown", (event) => {
      if (event.key === "ArrowLeft") step(-1);
      if (event.key === "ArrowRight") step(1);
    });
  }
});
