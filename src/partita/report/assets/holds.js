// The core of the probability chosen, in words; its items can be selected everywhere.
(function () {
  const { data, state } = partita;
  if (!data.cores.length) return;
  const slider = document.getElementById("core-level");

  function say() {
    const { percent, text } = data.cores[Number(slider.value)];
    slider.setAttribute("aria-valuetext", percent);
    document.getElementById("core-percent").textContent = percent;
    document.getElementById("core-text").textContent = text;
  }

  slider.addEventListener("input", say);
  document.getElementById("core-select").addEventListener("click", () => {
    state.select(data.cores[Number(slider.value)].items, "core");
  });
  say();
})();
