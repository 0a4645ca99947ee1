"""A headless Chromium, driven over its DevTools pipe with nothing but the standard library."""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
    *("--disable-dev-shm-usage", "--remote-debugging-pipe"),
    "--host-resolver-rules=MAP * ~NOTFOUND",  # no name resolves: the network is off
)
TIMEOUT = 30.0

KEYS = {"Tab": 9, "Enter": 13, "Escape": 27}
KEYS |= {"ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40}


def find_chromium() -> str | None:
    return next((path for name in NAMES if (path := shutil.which(name))), None)


@contextmanager
def chromium(directory: Path) -> Iterator[Browser]:
    """A browser with a fresh profile in the directory."""
    program = find_chromium()
    assert program is not None
    their_in, our_out = os.pipe()
    our_in, their_out = os.pipe()
    # The browser reads commands from descriptor 3 and writes answers to 4.
    command = f'exec "$@" 3<&{their_in} 4>&{their_out}'
    flags = (*FLAGS, f"--user-data-dir={directory}", "about:blank")
    process = subprocess.Popen(
        ["bash", "-c", command, "bash", program, *flags],
        pass_fds=(their_in, their_out),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    os.close(their_in)
    os.close(their_out)
    try:
        yield Browser(our_in, our_out)
    finally:
        process.terminate()
        process.wait(TIMEOUT)
        os.close(our_in)
        os.close(our_out)


class Browser:
    def __init__(self, incoming: int, outgoing: int) -> None:
        self._in, self._out = incoming, outgoing
        self._buffer = b""
        self._number = 0
        self.events: list[dict[str, Any]] = []

    def send(self, method: str, session: str | None = None, **params: Any) -> dict[str, Any]:
        """Send a command and wait for its answer; events met on the way are kept."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": params}
        if session is not None:
            message["sessionId"] = session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        while True:
            found = self._read()
            if found.get("id") == self._number:
                assert "error" not in found, f"{method}: {found['error']}"
                return found["result"]
            self.events.append(found)

    def _read(self) -> dict[str, Any]:
        deadline = time.monotonic() + TIMEOUT
        while b"\0" not in self._buffer:
            ready, _, _ = select.select([self._in], [], [], max(0.0, deadline - time.monotonic()))
            chunk = os.read(self._in, 1 << 20) if ready else b""
            assert chunk, "the browser does not answer"
            self._buffer += chunk
        message, _, self._buffer = self._buffer.partition(b"\0")
        return json.loads(message)

    def open(self, path: Path) -> Tab:
        """Open a file in a new tab and wait until its script says it is ready."""
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        session = self.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        tab = Tab(self, session, target)
        tab.screen()
        for domain in ("Page", "Runtime", "Network", "Log"):
            tab.send(f"{domain}.enable")
        tab.send("Page.navigate", url=path.resolve().as_uri())
        tab.wait("document.body?.dataset.ready === 'true'")
        return tab


class Tab:
    def __init__(self, browser: Browser, session: str, target: str) -> None:
        self._browser, self._session, self._target = browser, session, target

    def send(self, method: str, **params: Any) -> dict[str, Any]:
        return self._browser.send(method, self._session, **params)

    def close(self) -> None:
        self._browser.send("Target.closeTarget", targetId=self._target)

    def run(self, script: str) -> Any:
        """Value of a JavaScript expression; promises are awaited."""
        found = self.send(
            "Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True
        )
        assert "exceptionDetails" not in found, found["exceptionDetails"]
        return found["result"].get("value")

    def wait(self, condition: str) -> None:
        deadline = time.monotonic() + TIMEOUT
        while not self.run(condition):
            assert time.monotonic() < deadline, f"never came true: {condition}; {self.errors()}"
            time.sleep(0.02)

    def text(self, selector: str) -> str:
        return self.run(f"document.querySelector({json.dumps(selector)}).textContent")

    def click(self, selector: str) -> None:
        """A real click of the mouse in the middle of an element."""
        x, y = self.middle(selector)
        self.drag((x, y), (x, y))

    def middle(self, selector: str) -> tuple[float, float]:
        box = self.box(selector)
        return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2

    def box(self, selector: str) -> dict[str, float]:
        """Place of an element in the window, after scrolling it to the middle."""
        return self.run(
            f"""(() => {{ const e = document.querySelector({json.dumps(selector)});
            e.scrollIntoView({{block: "center"}});
            return e.getBoundingClientRect().toJSON(); }})()"""
        )

    def move(self, x: float, y: float, **options: Any) -> None:
        self.send("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y, **options)

    def drag(self, start: tuple[float, float], end: tuple[float, float]) -> None:
        """Press the mouse at one point and release it at another; a click where they are one."""
        self.move(*start)
        press = {"button": "left", "clickCount": 1}
        self.send("Input.dispatchMouseEvent", type="mousePressed", x=start[0], y=start[1], **press)
        if start != end:
            for step in range(1, 6):
                x, y = (a + (b - a) * step / 5 for a, b in zip(start, end, strict=True))
                self.move(x, y, button="left", buttons=1)
        self.send("Input.dispatchMouseEvent", type="mouseReleased", x=end[0], y=end[1], **press)

    def press(self, key: str) -> None:
        options = {"key": key, "code": key, "windowsVirtualKeyCode": KEYS[key]}
        options |= {"text": "\r"} if key == "Enter" else {}
        self.send("Input.dispatchKeyEvent", type="keyDown", **options)
        self.send("Input.dispatchKeyEvent", type="keyUp", **options)

    def screen(
        self, width: int = 1280, height: int = 900, *, dark: bool = False, phone: bool = False
    ) -> None:
        """The window's size and kind, light or dark."""
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": phone}
        self.send("Emulation.setDeviceMetricsOverride", **size)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.send("Emulation.setEmulatedMedia", features=[scheme])

    def type(self, text: str) -> None:
        self.send("Input.insertText", text=text)

    def _events(self) -> list[dict[str, Any]]:
        self.run("0")  # what happened before is known when this is answered
        return [e for e in self._browser.events if e.get("sessionId") == self._session]

    def errors(self) -> list[str]:
        """Exceptions, console errors and warnings, and entries of the browser's log."""
        found = []
        for event in self._events():
            method, params = event["method"], event["params"]
            if method == "Runtime.exceptionThrown":
                found.append(json.dumps(params["exceptionDetails"]))
            if method == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning"):
                found.append(json.dumps(params["args"]))
            if method == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning"):
                found.append(json.dumps(params["entry"]))
        return found

    def requests(self) -> list[str]:
        """Addresses asked for, but the page itself and what it holds within."""
        return [
            event["params"]["request"]["url"]
            for event in self._events()
            if event["method"] == "Network.requestWillBeSent"
            and not event["params"]["request"]["url"].startswith(("file:", "data:", "blob:"))
        ]

    def pdf(self) -> bytes:
        options = {"preferCSSPageSize": True, "printBackground": True}
        return base64.b64decode(self.send("Page.printToPDF", **options)["data"])


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
