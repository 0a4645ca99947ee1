// What is shown and what is selected. Every change goes through here, and every view listens.
(function () {
  const { data } = partita;
  const listeners = { shown: [], level: [], selected: [] };

  const state = {
    choice: "estimate",
    level: data.start,
    selected: new Uint8Array(data.n_items), // 1 for selected items
    count: 0,

    on(event, listener) { listeners[event].push(listener); },

    show(choice) {
      state.choice = choice;
      tell("shown");
    },

    setLevel(level) {
      state.level = level;
      tell("level");
      if (choiceIsBound()) tell("shown"); // the bound is another partition now
    },

    // Select these items and no others; `origin` is the view that asked.
    select(items, origin) {
      state.selected.fill(0);
      for (const item of items) state.selected[item] = 1;
      recount(origin);
    },

    toggle(item, origin) {
      state.selected[item] ^= 1;
      recount(origin);
    },

    selectedItems() {
      const items = [];
      state.selected.forEach((is, item) => { if (is) items.push(item); });
      return items;
    },

    // The partition shown: labels, colours and sizes.
    partition() { return data.partitions[describe().partition]; },

    title() { return data.choices[state.choice]?.title ?? `${data.bounds[state.choice]} (${data.levels[state.level].percent})`; },

    text() { return `${state.title()}: ${describe().text}`; },
  };

  function choiceIsBound() { return !(state.choice in data.choices); }

  function describe() {
    return data.choices[state.choice] ?? data.levels[state.level].bounds[state.choice];
  }

  function recount(origin) {
    state.count = state.selected.reduce((sum, is) => sum + is, 0);
    tell("selected", origin);
  }

  function tell(event, origin) {
    for (const listener of listeners[event]) listener(origin);
  }

  partita.state = state;
})();
