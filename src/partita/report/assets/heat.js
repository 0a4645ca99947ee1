// Pointing at the heat map, by mouse or by arrow keys, and selecting in it.
partita.heat = function (plot, cursor, { n_bins, binItems, probability }) {
  const { data, state } = partita;
  const readout = document.getElementById("heat-readout");
  const tooltip = document.getElementById("tooltip");
  const box = document.getElementById("heat-focus");
  const advice = readout.textContent;

  function binName(bin) {
    const items = binItems(bin);
    if (items.length === 1 && data.numbers === null) return data.name(items[0]);
    if (data.numbers !== null) return `items like ${data.name(items[0])}, ${data.name(items[1] ?? items[0])}, …`;
    return `${items.length} items (${data.name(items[0])}, ${data.name(items[1])}, …)`;
  }

  function describe(row, column) {
    const value = probability(row, column);
    const digits = value > 0 && value < 0.01 ? value.toPrecision(1) : value.toFixed(3);
    const single = data.starts.length - 1 === data.n_items;
    return `${binName(row)} and ${binName(column)}: ${data.together[single ? 0 : 1]} ${digits}`;
  }

  function cellAt(x, y) {
    const column = Math.floor(x), row = Math.floor(y);
    const inside = row >= 0 && column >= 0 && row < n_bins && column < n_bins;
    return inside ? [row, column] : null;
  }

  function point(cell, mouse) {
    if (cell === null) return leave();
    readout.textContent = describe(...cell);
    tooltip.hidden = mouse === undefined;
    if (mouse !== undefined) {
      tooltip.textContent = readout.textContent;
      const right = mouse.x + 340 > window.innerWidth;
      tooltip.style.left = right ? "auto" : `${mouse.x + 14}px`;
      tooltip.style.right = right ? `${window.innerWidth - mouse.x + 14}px` : "auto";
      tooltip.style.top = `${mouse.y + 16}px`;
    }
  }

  function leave() {
    tooltip.hidden = true;
    readout.textContent = advice;
  }

  function between(from, to) {
    const first = Math.max(0, Math.floor(from)), last = Math.min(n_bins, Math.ceil(to));
    const items = [];
    for (let bin = first; bin < last; bin++) items.push(...binItems(bin));
    return items;
  }

  let mouse = { x: 0, y: 0 };
  box.addEventListener("pointermove", (event) => { mouse = { x: event.clientX, y: event.clientY }; }, true);
  box.addEventListener("pointerleave", leave);
  plot.on_event("mousemove", (event) => point(cellAt(event.x, event.y), mouse));
  plot.on_event("mouseleave", leave);
  plot.on_event("tap", (event) => {
    const cell = cellAt(event.x, event.y);
    state.select(cell === null ? [] : [...binItems(cell[0]), ...binItems(cell[1])], "heat");
  });
  plot.on_event("selectiongeometry", (event) => {
    const { type, x0, x1, y0, y1 } = event.geometry;
    if (type !== "rect" || !event.final) return;
    const columns = between(Math.min(x0, x1), Math.max(x0, x1));
    const rows = between(Math.min(y0, y1), Math.max(y0, y1));
    state.select([...columns, ...rows], "heat");
  });

  const at = { row: 0, column: 0 };
  const moves = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
  function drawCursor() {
    cursor.data = { left: [at.column], right: [at.column + 1], top: [at.row], bottom: [at.row + 1] };
  }
  box.addEventListener("keydown", (event) => {
    if (event.key in moves) {
      const step = event.shiftKey ? Math.max(1, Math.round(n_bins / 20)) : 1;
      const [down, right] = moves[event.key];
      at.row = Math.min(n_bins - 1, Math.max(0, at.row + step * down));
      at.column = Math.min(n_bins - 1, Math.max(0, at.column + step * right));
    } else if (event.key === "Enter") {
      state.select([...binItems(at.row), ...binItems(at.column)], "heat");
    } else {
      return;
    }
    event.preventDefault();
    drawCursor();
    point([at.row, at.column]);
  });
  box.addEventListener("blur", () => {
    cursor.data = { left: [], right: [], top: [], bottom: [] };
    leave();
  });
};
