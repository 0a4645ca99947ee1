"""What an open report shows, as tests ask for it."""

import json

MODEL = "Bokeh.documents[0].get_model_by_name"


def each(tab, selector, expression):
    """The value of an expression for each element e."""
    return tab.run(f"[...document.querySelectorAll({json.dumps(selector)})].map(e => {expression})")


def selected(tab):
    """The items selected, the same in the state, in Bokeh, in the table and in the message."""
    items = tab.run("partita.state.selectedItems()")
    assert sorted(tab.run(f"{MODEL}('items').selected.indices")) == items
    n = len(items)
    said = "No item selected" if n == 0 else f"{n:,} item{'s' if n > 1 else ''} selected"
    assert tab.text("#selection") == said
    rows = each(
        tab,
        "#items tbody tr",
        "[+e.dataset.item, e.classList.contains('selected'), e.cells[0].firstChild.checked]",
    )
    assert all(marked == ticked == (item in items) for item, marked, ticked in rows)
    if n:
        assert any(marked for _, marked, _ in rows)
    veiled = tab.run(f"{MODEL}('veil').data.left.length")
    assert (veiled > 0) == (0 < n < tab.run("partita.data.n_items"))
    return items


def veil(tab):
    """Bins of the heat map that are not veiled, from the veils over its columns."""
    quads = tab.run(
        f"(() => {{ const q = {MODEL}('veil').data; return [q.left, q.right, q.top]; }})()"
    )
    n = tab.run("partita.data.starts.length - 1")
    dark = {
        b for a, z, top in zip(*quads, strict=True) if z - a < n and top == 0 for b in range(a, z)
    }
    return [b for b in range(n) if b not in dark]


def frame(tab, place):
    """Corners of a plot's frame in the window: left, top, width, height."""
    box = tab.box(f"#plot-{place}")
    inner = tab.run(
        f"""(() => {{ const id = partita.data.roots.{place};
        const view = Bokeh.index.get_by_id(id);
        const f = view.frame.bbox; return [f.left, f.top, f.width, f.height]; }})()"""
    )
    return box["x"] + inner[0], box["y"] + inner[1], inner[2], inner[3]


def shown_colours(tab):
    return tab.run(f"Array.from({MODEL}('items').data.colour)")
