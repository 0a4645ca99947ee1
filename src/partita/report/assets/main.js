// Controls, texts and the download.
(function () {
  const { data, state } = partita;
  const element = (id) => document.getElementById(id);
  const choice = element("choice"), level = element("level"), clear = element("clear");

  function sayShown() {
    choice.value = state.choice;
    element("shown-text").textContent = state.text();
    for (const row of document.querySelectorAll("#bounds tbody tr")) {
      if (row.dataset.bound === state.choice) row.setAttribute("aria-current", "true");
      else row.removeAttribute("aria-current");
    }
  }

  function sayLevel() {
    const { percent, ball, sentence, bounds } = data.levels[state.level];
    level.value = state.level;
    level.setAttribute("aria-valuetext", percent);
    for (const place of document.querySelectorAll(".percent")) place.textContent = percent;
    element("ball-text").textContent = ball;
    element("sentence").textContent = sentence;
    for (const row of document.querySelectorAll("#bounds tbody tr")) {
      const bound = bounds[row.dataset.bound];
      const texts = [bound.n_clusters, bound.distance, bound.mass, bound.n_ties > 1 ? bound.n_ties : "none"];
      texts.forEach((text, j) => { row.cells[j + 1].textContent = text; });
    }
  }

  function saySelection() {
    const n = state.count;
    element("selection").textContent = n === 0 ? "No item selected"
      : `${n.toLocaleString("en")} item${n === 1 ? "" : "s"} selected`;
    clear.disabled = n === 0;
  }

  // Labels of every partition on offer, the bounds those of the credible probability chosen.
  function labelsAsText() {
    const { percent, bounds } = data.levels[state.level];
    const columns = Object.entries(data.choices).map(([key, { partition }]) => [key, partition]);
    for (const [kind, { partition }] of Object.entries(bounds)) columns.push([`${kind}_${percent}`, partition]);
    const quoted = (text) => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
    const lines = [["item", ...columns.map(([name]) => name), "probability"].join(",")];
    for (let item = 0; item < data.n_items; item++) {
      const labels = columns.map(([, partition]) => data.partitions[partition].labels[item]);
      lines.push([quoted(data.name(item)), ...labels, data.columns.probability[item].toPrecision(6)].join(","));
    }
    return lines.join("\r\n") + "\r\n";
  }

  function download() {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([labelsAsText()], { type: "text/csv" }));
    link.download = "labels.csv";
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  }

  // A canvas cannot flow: in print it keeps its size, or is shrunk to the width of the paper.
  const PAPER = 680;
  function fitPaper() {
    for (const { style, offsetWidth, offsetHeight } of document.querySelectorAll(".plot")) {
      style.width = `${offsetWidth}px`;
      style.height = `${offsetHeight}px`;
      style.zoom = Math.min(1, PAPER / Math.max(1, offsetWidth));
    }
  }
  function fitScreen() {
    for (const plot of document.querySelectorAll(".plot")) plot.removeAttribute("style");
  }

  choice.addEventListener("change", () => state.show(choice.value));
  level.addEventListener("input", () => state.setLevel(Number(level.value)));
  clear.addEventListener("click", () => state.select([], "controls"));
  element("download").addEventListener("click", download);
  for (const button of document.querySelectorAll("#bounds button")) {
    button.addEventListener("click", () => state.show(button.closest("tr").dataset.bound));
  }
  for (const button of document.querySelectorAll("#representatives button")) {
    const { choice: key, items } = button.dataset;
    button.addEventListener("click", () => (key ? state.show(key) : state.select(items.split(",").map(Number), "representatives")));
  }
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && state.count > 0) state.select([], "controls");
  });
  window.addEventListener("beforeprint", fitPaper);
  window.addEventListener("afterprint", fitScreen);

  state.on("shown", sayShown);
  state.on("level", sayLevel);
  state.on("selected", saySelection);
  partita.labelsAsText = labelsAsText;
  sayLevel();
  sayShown();
  partita.plots().then(() => { document.body.dataset.ready = "true"; });
})();
