// The Bokeh pictures: colours of the partition shown, the radius, and selections both ways.
partita.plots = async function () {
  const { data, state } = partita;
  const json = JSON.parse(document.getElementById("report-document").textContent);
  const roots = {};
  for (const [place, id] of Object.entries(data.roots)) roots[id] = `plot-${place}`;
  await Bokeh.embed.embed_items({ report: json }, [{ docid: "report", roots, root_ids: Object.keys(roots) }]);

  const models = Bokeh.documents[Bokeh.documents.length - 1];
  const model = (name) => models.get_model_by_name(name);
  const items = model("items");
  const n_bins = data.starts.length - 1;
  const cells = model("cells").data.image[0];

  function colourItems() {
    const { labels, colours } = state.partition();
    const index = Array.from(labels, (label) => colours[label]);
    items.data = {
      ...items.data,
      colour: index.map(data.colour),
      shape: index.map(data.shape),
      cluster: Array.from(labels),
      name: index.map((_, item) => data.name(item)),
    };
  }

  // The strips beside the heat map: in each bin, the cluster with most of its items.
  function colourStrips() {
    const { labels, colours } = state.partition();
    const main = new Int32Array(n_bins);
    for (let b = 0; b < n_bins; b++) {
      const tally = new Map();
      for (let p = data.starts[b]; p < data.starts[b + 1]; p++) {
        const label = labels[data.order[p]];
        tally.set(label, (tally.get(label) ?? 0) + 1);
      }
      main[b] = [...tally].reduce((best, entry) => (entry[1] > best[1] ? entry : best))[0];
    }
    const strip = { left: [], right: [], top: [], bottom: [], colour: [] };
    const outer = -0.04 * n_bins, inner = -0.008 * n_bins;
    for (const [from, to] of runs(main)) {
      const colour = data.colour(colours[main[from]]);
      add(strip, outer, inner, from, to);
      add(strip, from, to, outer, inner);
      strip.colour.push(colour, colour);
    }
    model("strip").data = strip;
  }

  // Veils over rows and columns of bins without a selected item.
  function veil() {
    const chosen = new Uint8Array(n_bins);
    state.selected.forEach((is, item) => { if (is) chosen[data.bin[item]] = 1; });
    const shade = { left: [], right: [], top: [], bottom: [] };
    if (state.count > 0) {
      for (const [from, to] of runs(chosen)) {
        if (chosen[from]) continue;
        add(shade, from, to, 0, n_bins);
        add(shade, 0, n_bins, from, to);
      }
    }
    model("veil").data = shade;
  }

  function add(quads, left, right, top, bottom) {
    quads.left.push(left); quads.right.push(right); quads.top.push(top); quads.bottom.push(bottom);
  }

  // Stretches of equal values: pairs of first and one past last.
  function runs(values) {
    const found = [];
    for (let from = 0, at = 1; at <= values.length; at++) {
      if (at === values.length || values[at] !== values[from]) { found.push([from, at]); from = at; }
    }
    return found;
  }

  function markRadius() {
    const { radius } = data.levels[state.level];
    model("radius_line").location = radius;
    model("radius_box").right = radius;
  }

  let busy = false; // the selection is being written into Bokeh, not made by the reader
  function selectItems() {
    busy = true;
    items.selected.indices = state.selectedItems();
    busy = false;
  }
  items.selected.change.connect(() => {
    if (!busy) state.select(items.selected.indices, "plots");
  });

  const binItems = (bin) => Array.from(data.order.slice(data.starts[bin], data.starts[bin + 1]));
  const probability = (row, column) => cells[row * n_bins + column] / data.steps;
  partita.heat(model("heat"), model("cursor"), { n_bins, binItems, probability });

  partita.panels(items);
  partita.theme(models);

  state.on("shown", () => { colourItems(); colourStrips(); });
  state.on("level", markRadius);
  state.on("selected", () => { selectItems(); veil(); });
  colourItems();
  colourStrips();
  markRadius();
};
