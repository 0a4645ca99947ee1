// Small pictures of partitions: items at their data, or as a strip in the order of the heat map.
partita.panels = function (items) {
  const { data, state } = partita;
  const MOST = 20000; // points of one picture; more cannot be told apart
  const step = Math.max(1, Math.ceil(data.n_items / MOST));
  const placed = items.data.x !== undefined;
  const limits = placed ? { x: range(items.data.x), y: range(items.data.y) } : null;

  function range(values) {
    let low = Infinity, high = -Infinity;
    for (const value of values) {
      if (value < low) low = value;
      if (value > high) high = value;
    }
    return low < high ? [low, high] : [low - 1, low + 1];
  }

  function partitionOf(name) {
    const found = data.choices[name] ?? data.levels[state.level].bounds[name];
    return data.partitions[found.partition];
  }

  function paint(canvas, { labels, colours }) {
    const width = canvas.clientWidth || 200, height = canvas.clientHeight || 150;
    const dots = window.devicePixelRatio || 1;
    canvas.width = Math.round(width * dots);
    canvas.height = Math.round(height * dots);
    const pen = canvas.getContext("2d");
    pen.scale(dots, dots);
    const faded = (item) => state.count > 0 && !state.selected[item];
    if (placed) points(pen, width, height, labels, colours, faded);
    else strip(pen, width, height, labels, colours, faded);
  }

  function points(pen, width, height, labels, colours, faded) {
    const radius = data.n_items <= 500 ? 3 : data.n_items <= 5000 ? 2 : 1;
    const at = (value, [low, high], from, to) => from + ((value - low) / (high - low)) * (to - from);
    for (let item = 0; item < data.n_items; item += step) {
      const x = at(items.data.x[item], limits.x, 5, width - 5);
      const y = at(items.data.y[item], limits.y, height - 5, 5);
      if (!Number.isFinite(x) || !Number.isFinite(y)) continue;
      pen.globalAlpha = faded(item) ? 0.12 : 0.9;
      pen.fillStyle = data.colour(colours[labels[item]]);
      pen.beginPath();
      pen.arc(x, y, radius, 0, 2 * Math.PI);
      pen.fill();
    }
  }

  function strip(pen, width, height, labels, colours, faded) {
    const wide = width / data.n_items;
    for (let p = 0; p < data.n_items; p++) {
      const item = data.order[p];
      pen.globalAlpha = faded(item) ? 0.15 : 1;
      pen.fillStyle = data.colour(colours[labels[item]]);
      const from = Math.floor(p * wide); // whole pixels: no seams between neighbours
      pen.fillRect(from, 0, Math.max(1, Math.floor((p + 1) * wide) - from), height);
    }
  }

  function paintShown() {
    for (const canvas of document.querySelectorAll("canvas[data-shown]")) {
      paint(canvas, state.partition());
      canvas.setAttribute("aria-label", state.text());
    }
    document.getElementById("shown-title").textContent = `Shown: ${state.title()}`;
  }
  function paintBall() {
    for (const canvas of document.querySelectorAll("canvas[data-of]")) {
      const { of } = canvas.dataset, partition = partitionOf(of);
      paint(canvas, partition);
      const title = data.choices[of]?.title ?? data.bounds[of];
      const said = `${title}: ${partition.colours.length.toLocaleString("en")} cluster${partition.colours.length === 1 ? "" : "s"}`;
      canvas.nextElementSibling.textContent = said;
      canvas.setAttribute("aria-label", said);
      canvas.parentElement.classList.toggle("current", of === state.choice);
    }
  }
  const paintAll = () => { paintShown(); paintBall(); };

  for (const figure of document.querySelectorAll(".four figure")) {
    const { of } = figure.firstElementChild.dataset;
    figure.addEventListener("click", () => state.show(of));
  }
  state.on("shown", paintAll);
  state.on("level", paintAll);
  state.on("selected", paintAll);
  window.addEventListener("resize", paintAll);
  paintAll();
};
