// Light or dark: as the system says until the button is used.
part("", (page, root) => {
  const toggle = page.at("theme");
  if (!toggle) return;
  toggle.addEventListener("click", () => {
    const isDark = root.dataset.theme
      ? root.dataset.theme === "dark"
      : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = isDark ? "light" : "dark";
  });
});
