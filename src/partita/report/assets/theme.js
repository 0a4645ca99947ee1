// The pictures follow the reader's light or dark screen; paper is always light.
partita.theme = function (models) {
  const dark = window.matchMedia("(prefers-color-scheme: dark)");

  function paint(isDark) {
    const ink = isDark ? "#e6e6e6" : "#222222";
    const quiet = isDark ? "#a0a0a0" : "#767676";
    const lines = isDark ? "#3a3d42" : "#ebebeb";
    for (const plot of models.roots()) {
      if (plot.title) plot.title.text_color = ink;
      for (const part of [...plot.left, ...plot.below, ...plot.right, ...plot.above, ...plot.center]) {
        const set = part.properties;
        if (set.axis_label_text_color) part.axis_label_text_color = ink;
        if (set.major_label_text_color) part.major_label_text_color = ink;
        if (set.title_text_color) part.title_text_color = ink;
        if (set.axis_line_color) part.axis_line_color = quiet;
        if (set.major_tick_line_color && set.axis_line_color) part.major_tick_line_color = quiet;
        if (set.grid_line_color) part.grid_line_color = lines;
      }
    }
  }

  // Paper does not wait for the pictures' own time to be painted.
  function paintNow() {
    for (const view of Bokeh.index.roots ?? []) {
      view.invalidate_painters?.();
      view.repaint?.();
    }
  }

  if (dark.matches) paint(true);
  dark.addEventListener("change", () => paint(dark.matches));
  window.addEventListener("beforeprint", () => { paint(false); paintNow(); });
  window.addEventListener("afterprint", () => paint(dark.matches));
};
