// Tables that can be sorted by any column: numbers by size, words by their letters.
const sortButtons = (heads, act) => {
  for (const head of heads) {
    const name = head.textContent;
    head.replaceChildren(
      button(name, () => {
        const down = head.getAttribute("aria-sort") === "ascending";
        for (const other of heads) other.removeAttribute("aria-sort");
        head.setAttribute("aria-sort", down ? "descending" : "ascending");
        act(name, down, head.cellIndex);
      }),
    );
  }
};

part("", (page, root) => {
  const value = (row, column) => {
    const text = row.cells[column].textContent.replaceAll(",", "");
    return text === "" || Number.isNaN(parseFloat(text)) ? text : parseFloat(text);
  };
  for (const table of within(root, "table.sortable")) {
    sortButtons([...table.tHead.rows[0].cells], (_, down, column) => {
      const sign = down ? -1 : 1, body = table.tBodies[0];
      const rows = [...body.rows].map((row) => [value(row, column), row]);
      rows.sort(([a], [b]) => {
        if (typeof a !== typeof b) return typeof a === "number" ? -1 : 1;
        return a < b ? -sign : a > b ? sign : 0;
      });
      body.replaceChildren(...rows.map(([, row]) => row));
    });
  }
});
