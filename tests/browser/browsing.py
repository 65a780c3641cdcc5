"""A server of this project, a Chromium, and visits to a page: for the tests and the screenshots."""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import sys
import tempfile
import urllib.request
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import parse_qs, urlencode, urlsplit

import numpy as np
from playwright.sync_api import sync_playwright

from tests.servers import free_port, wait_until

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from playwright.sync_api import (
        Browser,
        ConsoleMessage,
        Error,
        Locator,
        Page,
        Request,
        WebSocket,
    )

ROOT = Path(__file__).parents[2]
CHROMIUMS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
NO_CHROMIUM = (
    "no Chromium was found: install one (Debian: apt-get install chromium) or name one in the "
    "environment variable DELPHI_CHROMIUM"
)
SETTLED = "[data-testid=stApp][data-test-script-state=notRunning]"
CHART = ".js-plotly-plot"
WIDE = (1280, 900)
PHONE = (390, 844)
PROBED = ("/about", "/data", "/planner", "/recipes", "/scaling", "/trajectories")
"""Pages other than the first; see `Visit._console`."""

# What is drawn: traces as data, and the axes, which controls change as well. Arrays stay in
# plotly's base64, so that they come out of the browser to the last bit.
_DRAWN = """() => {
  const chart = document.querySelector('.js-plotly-plot');
  if (!chart || !chart.data) return '';
  const axis = ({type, range, title}) => ({type, range, title: title && title.text});
  const {xaxis, yaxis} = chart.layout;
  return JSON.stringify(
    {data: chart.data, axes: [axis(xaxis), axis(yaxis)]},
    (key, value) => key.startsWith('_') ? undefined : value,
  );
}"""
_SIDEWAYS = """() => Math.max(
  ...[document.scrollingElement, document.querySelector('[data-testid=stMain]')]
    .map(part => part.scrollWidth - part.clientWidth)
)"""
_REDRAWN = f"""before => {{
  const drawn = ({_DRAWN})();
  return drawn && drawn !== before && document.querySelector('{SETTLED}') !== null;
}}"""


def find_chromium() -> str | None:
    """Path of the Chromium that DELPHI_CHROMIUM names, or else of an installed one."""
    if named := os.environ.get("DELPHI_CHROMIUM"):
        return shutil.which(named)
    return next(filter(None, map(shutil.which, CHROMIUMS)), None)


@contextmanager
def serving(**variables: str) -> Iterator[str]:
    """Address of the dashboard on a server of its own, which ends with the block.

    Parameters
    ----------
    **variables
        Of its environment, besides those of this process that do not begin with DELPHI.
    """
    address = f"http://127.0.0.1:{(port := free_port())}"
    options = {"port": port, "address": "127.0.0.1", "fileWatcherType": "none"}
    command = [sys.executable, "-m", "streamlit", "run", "app.py"]
    command += [f"--server.{name}={value}" for name, value in options.items()]
    environment = {n: text for n, text in os.environ.items() if not n.startswith("DELPHI")}
    environment |= variables
    with (
        tempfile.TemporaryFile() as log,
        subprocess.Popen(  # noqa: S603 - our own server
            command, cwd=ROOT, env=environment, stdout=log, stderr=subprocess.STDOUT
        ) as server,
    ):
        try:
            try:
                wait_until(lambda: healthy(address), server)
            except RuntimeError as error:
                log.seek(0)
                error.add_note(log.read().decode())
                raise
            yield address
        finally:
            server.terminate()


def healthy(address: str) -> bool:
    """Whether a server answers that it is: unknown paths get status 200 too, so the body counts."""
    try:
        # S310: our own server, on this machine.
        with urllib.request.urlopen(f"{address}/_stcore/health", timeout=5) as answer:  # noqa: S310
            return bool(answer.read() == b"ok")
    except OSError:
        return False


@contextmanager
def chromium(path: str) -> Iterator[Browser]:
    """A Chromium that finds no host but this machine, until the end of the block."""
    arguments = [
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-gpu",
        "--disable-sync",
        "--no-first-run",
        "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
    ]
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        arguments.append("--no-sandbox")  # root gets none
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=arguments)
        yield browser
        browser.close()


@dataclass
class Visit:
    """One visitor's tab: what they can read and do, and what their browser noted meanwhile.

    Attributes
    ----------
    page
        The tab.
    address
        Of the server.
    errors
        What the browser's console showed as an error, and uncaught exceptions.
    hosts
        Host and port of every request and websocket.
    """

    page: Page
    address: str
    errors: list[str] = field(default_factory=list)
    hosts: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        for event, note in self._notes().items():
            # Playwright types one overload an event name; here the names come from a table.
            self.page.on(event, note)  # type: ignore[call-overload]

    def _notes(self) -> dict[str, Callable[[Any], None]]:
        return {
            "console": self._console,
            "pageerror": self._error,
            "request": self._host,
            "websocket": self._host,
        }

    def _console(self, entry: ConsoleMessage) -> None:
        # Opened at /data, Streamlit's front end first asks whether the server lives below that
        # path, learns by status 404 that it does not, and goes on at the root.
        asked = str(entry.location.get("url"))
        probe = any(f"{page}/_stcore/" in asked for page in PROBED)
        if entry.type == "error" and not probe:
            self.errors.append(entry.text)

    def _error(self, error: Error) -> None:
        self.errors.append(str(error))

    def _host(self, asked: Request | WebSocket) -> None:
        if host := urlsplit(asked.url).netloc:
            self.hosts.add(host)

    def end(self) -> None:
        """Leave the page, and the tab as it was found."""
        self.page.goto("about:blank", timeout=5000)
        for event, note in self._notes().items():
            self.page.remove_listener(event, note)

    def open(self, path: str = "/", **query: str | list[str]) -> Visit:
        """Open a page under a query, and wait until it and its chart are there."""
        return self.goto(f"{self.address}{path}?{urlencode(query, doseq=True)}")

    def goto(self, url: str) -> Visit:
        """Open a link, and wait until its page and its chart, if it has one, are there."""
        self.page.goto(url)
        self.page.locator("h1").wait_for()
        return self.settled(chart=urlsplit(url).path == "/")

    def settled(self, *, chart: bool = True) -> Visit:
        """Wait until the page has run, and until its chart is drawn where one is expected."""
        self.page.locator(SETTLED).wait_for(state="attached")
        # Parts that the front end still loads.
        self.page.get_by_test_id("stSkeleton").first.wait_for(state="detached")
        if chart:
            self.page.locator(f"{CHART} .main-svg").first.wait_for(state="attached")
        return self

    @property
    def sideways(self) -> int:
        """Pixels by which the page can be scrolled sideways."""
        return int(self.page.evaluate(_SIDEWAYS))

    def fitted(self) -> None:
        """Wait until nothing scrolls sideways: charts follow a new width with a delay."""
        self.page.wait_for_function(f"({_SIDEWAYS})() === 0")

    @property
    def url(self) -> str:
        """The address that is shown."""
        return self.page.url

    @property
    def query(self) -> dict[str, str | list[str]]:
        """Parameters in the address; those that stand there once as a text."""
        parsed = parse_qs(urlsplit(self.page.url).query, keep_blank_values=True)
        return {name: v[0] if len(v) == 1 else v for name, v in parsed.items()}

    @property
    def title(self) -> str:
        """The page's title."""
        return self.page.locator("h1").inner_text()

    @property
    def notices(self) -> list[str]:
        """Texts of the notices and errors on the page."""
        return self.page.get_by_test_id("stAlert").all_inner_texts()

    @property
    def figure(self) -> Locator:
        """The chart as assistive technology finds it."""
        return self.page.get_by_role("figure")

    @property
    def drawn(self) -> dict[str, Any]:
        """What the chart draws: data, a list of traces, and axes."""
        return json.loads(self.page.evaluate(_DRAWN))

    @contextmanager
    def redrawn(self) -> Iterator[None]:
        """Wait at the end of the block until the chart is another one than before it."""
        before = self.page.evaluate(_DRAWN)
        yield
        self.page.wait_for_function(_REDRAWN, arg=before)

    def widget(self, key: str) -> Locator:
        """The control of a key."""
        return self.page.locator(f".st-key-{key}")

    def shown(self, key: str) -> str | bool | list[str]:
        """What a control shows: a text, the texts that are picked, or whether it is on."""
        widget = self.widget(key)
        kind = widget.locator("> [data-testid]").first.get_attribute("data-testid")
        match kind:
            case "stSelectbox":
                return widget.get_by_role("combobox").input_value()
            case "stMultiSelect":
                return widget.locator("[data-tag]").all_inner_texts()
            case "stButtonGroup":
                (text,) = widget.locator("[aria-checked=true]").all_inner_texts()
                return text
            case "stTextInput":
                return widget.get_by_role("textbox").input_value()
            case "stCheckbox":
                return widget.locator("input").is_checked()
        raise ValueError(f"{key} is a {kind}, which this cannot read")

    def use(self, key: str, option: str = "") -> None:
        """Pick an option of a control, or switch it if it has none; wait for another chart.

        An option of several that is picked already is taken off. Into a text box it is typed.
        """
        widget = self.widget(key)
        picked = widget.get_by_role("button", name=f"Remove {option}", exact=True)
        with self.redrawn():
            if option and picked.count():
                picked.click()
            elif widget.get_by_role("combobox").count():
                widget.get_by_role("combobox").fill(option)
                self.page.get_by_role("option", name=option, exact=True).click()
            elif widget.get_by_role("textbox").count():
                widget.get_by_role("textbox").fill(option)
                self.page.keyboard.press("Enter")
            elif option:
                widget.get_by_role("radio", name=option, exact=True).click()
            else:
                widget.locator("label").first.click()

    def open_tab(self, name: str) -> None:
        """Open one of the page's tabs, and wait until the page has run with it."""
        first = self.page.get_by_role("tab").first.inner_text()
        self.page.get_by_role("tab", name=name, exact=True).click()
        self.page.get_by_role("tabpanel", name=name, exact=True).wait_for()
        self.page.wait_for_url(
            lambda url: parse_qs(urlsplit(url).query).get("tab", [first]) == [name]
        )
        self.settled(chart=False)

    def download(self, key: str) -> tuple[str, bytes]:
        """File name and content that a download button gives."""
        with self.page.expect_download() as started:
            self.widget(key).get_by_role("button").click()
        saved = started.value
        return saved.suggested_filename, Path(saved.path()).read_bytes()


def begin_visit(
    page: Page,
    address: str,
    *,
    size: tuple[int, int] = WIDE,
    scheme: Literal["light", "dark"] = "light",
) -> Visit:
    """A visit to a server in a tab that is made `size` pixels large and light or dark."""
    page.set_viewport_size({"width": size[0], "height": size[1]})
    page.emulate_media(color_scheme=scheme)
    return Visit(page, address)


def numbers(values: Any) -> list[float]:
    """Numbers of a trace, which plotly carries as base64 or as a plain list."""
    if isinstance(values, dict):
        return np.frombuffer(base64.b64decode(values["bdata"]), values["dtype"]).tolist()
    return list(values)
