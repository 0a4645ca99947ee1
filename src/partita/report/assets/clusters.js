// One button per cluster of the partition shown: its colour, shape and size; pressing selects it.
(function () {
  const { data, state } = partita;
  const MOST = 60;
  const box = document.getElementById("clusters");

  const OUTLINES = {
    circle: '<circle cx="7" cy="7" r="6"/>',
    square: '<rect x="1.5" y="1.5" width="11" height="11"/>',
    triangle: '<path d="M7 1 13 12.5H1z"/>',
    diamond: '<path d="M7 .5 12.5 7 7 13.5 1.5 7z"/>',
    inverted_triangle: '<path d="M7 13 13 1.5H1z"/>',
    hex: '<path d="M7 .5 12.8 3.8V10.2L7 13.5 1.2 10.2V3.8z"/>',
    plus: '<path d="M5 1H9V5H13V9H9V13H5V9H1V5H5z"/>',
  };

  // A small picture of a cluster's mark; no text of the user is in it.
  partita.swatch = function (colourIndex) {
    const holder = document.createElement("template");
    holder.innerHTML =
      `<svg class="swatch" viewBox="0 0 14 14" aria-hidden="true" fill="${data.colour(colourIndex)}" ` +
      `stroke="#222" stroke-width=".6">${OUTLINES[data.shape(colourIndex)]}</svg>`;
    return holder.content.firstChild;
  };

  function members(cluster) {
    const items = [];
    state.partition().labels.forEach((label, item) => { if (label === cluster) items.push(item); });
    return items;
  }

  function build() {
    const { sizes, colours } = state.partition();
    const largest = sizes.map((_, k) => k).sort((a, b) => sizes[b] - sizes[a]);
    box.replaceChildren(...largest.slice(0, MOST).map((k) => {
      const button = document.createElement("button");
      button.type = "button";
      button.dataset.cluster = k;
      const items = sizes[k] === 1 ? "1 item" : `${sizes[k].toLocaleString("en")} items`;
      button.append(partita.swatch(colours[k]), `Cluster ${k}: ${items}`);
      button.addEventListener("click", () => {
        state.select(button.getAttribute("aria-pressed") === "true" ? [] : members(k), "clusters");
      });
      return button;
    }));
    if (largest.length > MOST) box.append(`and ${(largest.length - MOST).toLocaleString("en")} smaller ones`);
    press();
  }

  // A button is pressed when all items of its cluster are selected.
  function press() {
    const { labels, here } = state.partition();
    const selected = new Array(here.length).fill(0);
    labels.forEach((label, item) => { selected[label] += state.selected[item]; });
    for (const button of box.children) {
      const k = button.dataset.cluster;
      button.setAttribute("aria-pressed", String(here[k] > 0 && selected[k] === here[k]));
    }
  }

  state.on("shown", build);
  state.on("selected", press);
  build();
})();
