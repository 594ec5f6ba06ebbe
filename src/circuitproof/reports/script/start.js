// Every page of the document that is not yet alive comes alive: in a notebook there may be several.
for (const root of document.querySelectorAll(".circuitproof:not([data-live])")) {
  root.dataset.live = "";
  const page = open(root);
  for (const { name, start } of parts) {
    const section = name === "" ? root : page.section(name);
    if (section) start(page, section);
  }
  if (page.data.cells) page.choose("prompt", page.data.order[0]);
  for (const act of page.started) act();
}
