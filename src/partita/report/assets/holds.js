// The core of the probability chosen, in words; its items can be selected everywhere.
(function () {
  const { data, state } = partita;
  if (!data.cores.length) return;
  const slider = document.getElementById("core-level");
  const line = document.getElementById("core-line");

  function say() {
    const { percent, text, prob } = data.cores[Number(slider.value)];
    slider.setAttribute("aria-valuetext", percent);
    document.getElementById("core-percent").textContent = percent;
    document.getElementById("core-text").textContent = text;
    const y = String(Number(line.dataset.height) * (1 - prob));
    line.setAttribute("y1", y);
    line.setAttribute("y2", y);
  }

  slider.addEventListener("input", say);
  document.getElementById("core-select").addEventListener("click", () => {
    state.select(data.cores[Number(slider.value)].items, "core");
  });
  say();
})();
