// A column of the path, a point of the curve or a row of their table shows its partition.
(function () {
  const { state } = partita;
  const all = document.querySelectorAll("#how-many [data-show]");

  for (const element of all) {
    element.addEventListener("click", () => state.show(element.dataset.show));
    if (element.tagName === "BUTTON") continue; // a button hears keys by itself
    element.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      state.show(element.dataset.show);
    });
  }

  function mark() {
    for (const element of all) {
      const place = element.closest("tr") ?? element;
      if (element.dataset.show === state.choice) place.setAttribute("aria-current", "true");
      else place.removeAttribute("aria-current");
    }
  }

  state.on("shown", mark);
  mark();
})();
