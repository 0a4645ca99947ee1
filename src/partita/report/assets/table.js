// The item table: sorted, searched and shown one page at a time, so that 20,000 items are no burden.
(function () {
  const { data, state } = partita;
  const PAGE = 25;
  const table = document.getElementById("items");
  const body = table.tBodies[0];
  const search = document.getElementById("search");
  const onlySelected = document.getElementById("only-selected");
  const collator = new Intl.Collator("en", { numeric: true });

  const estimate = data.partitions[data.choices.estimate.partition].labels;
  const keys = {
    cluster: (item) => state.partition().labels[item],
    estimate: (item) => estimate[item],
    probability: (item) => data.columns.probability[item],
    other: (item) => data.columns.other[item],
    share: (item) => data.columns.share[item],
  };

  let sorting = { key: "probability", ascending: true };
  let found = []; // items that pass the filters, in the order shown
  let page = 0;

  function compare(a, b) {
    const { key, ascending } = sorting;
    const sign = ascending ? 1 : -1;
    if (key === "name") return sign * (data.names === null ? a - b : collator.compare(data.names[a], data.names[b]));
    return sign * (keys[key](a) - keys[key](b)) || a - b;
  }

  function rebuild({ selectedFirst = false } = {}) {
    const wanted = search.value.trim().toLowerCase();
    found = [];
    for (let item = 0; item < data.n_items; item++) {
      if (onlySelected.checked && !state.selected[item]) continue;
      if (wanted && !data.name(item).toLowerCase().includes(wanted)) continue;
      found.push(item);
    }
    found.sort((a, b) => (selectedFirst ? state.selected[b] - state.selected[a] : 0) || compare(a, b));
    page = 0;
    draw();
  }

  function draw() {
    const first = page * PAGE;
    const rows = found.slice(first, first + PAGE);
    body.replaceChildren(...rows.map(row));
    const last = first + rows.length;
    document.getElementById("rows").textContent = rows.length
      ? `${(first + 1).toLocaleString("en")} to ${last.toLocaleString("en")} of ${found.length.toLocaleString("en")} items`
      : "No item found";
    document.getElementById("previous").disabled = page === 0;
    document.getElementById("next").disabled = last >= found.length;
    document.getElementById("select-found").disabled = found.length === 0;
    for (const heading of table.querySelectorAll("th[data-key]")) {
      const active = heading.dataset.key === sorting.key;
      heading.setAttribute("aria-sort", !active ? "none" : sorting.ascending ? "ascending" : "descending");
    }
  }

  function row(item) {
    const line = document.createElement("tr");
    line.dataset.item = item;
    line.classList.toggle("selected", state.selected[item] === 1);
    const tick = document.createElement("input");
    tick.type = "checkbox";
    tick.checked = state.selected[item] === 1;
    tick.setAttribute("aria-label", `Select ${data.name(item)}`);
    tick.addEventListener("change", () => state.toggle(item, "table"));
    const { labels, colours } = state.partition();
    const cluster = cell(String(labels[item]));
    cluster.prepend(partita.swatch(colours[labels[item]]));
    const other = data.columns.other[item];
    line.append(
      cell(tick), cell(data.name(item)), cluster, cell(String(estimate[item])),
      cell(data.columns.probability[item].toFixed(2)), cell(other < 0 ? "–" : String(other)),
      cell(`${(100 * data.columns.share[item]).toPrecision(2)}%`),
    );
    return line;
  }

  // Text goes in as a text node, never as HTML.
  function cell(content) {
    const made = document.createElement("td");
    made.append(content);
    return made;
  }

  function mark() {
    for (const line of body.rows) {
      const is = state.selected[line.dataset.item] === 1;
      line.classList.toggle("selected", is);
      line.cells[0].firstChild.checked = is;
    }
  }

  for (const heading of table.querySelectorAll("th[data-key]")) {
    heading.firstChild.addEventListener("click", () => {
      const key = heading.dataset.key;
      const again = sorting.key === key;
      sorting = { key, ascending: again ? !sorting.ascending : key !== "share" };
      rebuild();
    });
  }
  search.addEventListener("input", () => rebuild());
  onlySelected.addEventListener("change", () => rebuild());
  document.getElementById("select-found").addEventListener("click", () => state.select(found, "table"));
  document.getElementById("previous").addEventListener("click", () => { page--; draw(); });
  document.getElementById("next").addEventListener("click", () => { page++; draw(); });

  state.on("shown", () => (sorting.key === "cluster" ? rebuild() : draw()));
  state.on("selected", (origin) => {
    // What was selected elsewhere comes to the top, or it would be on a page nobody sees.
    if (origin === "table" && !onlySelected.checked) mark();
    else rebuild({ selectedFirst: origin !== "table" });
  });
  rebuild();
})();
