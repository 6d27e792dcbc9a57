"""The page as people use it: looking, changing limits, with keys, without the token."""

import os
import re
import signal
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import pytest

from nvshare.telemetry.snapshot import NodeStatus
from tests.integration.sharing.conftest import Sharing

from .conftest import GIB, Serve, start_kernels

if TYPE_CHECKING:
    from .browser import Browser

NAME = "driver-kernels"
# As the WebDriver standard numbers them: this file is read where there is no Selenium, too.
BACKSPACE, TAB, ENTER, ESCAPE = "\ue003", "\ue004", "\ue007", "\ue00c"
PICTURE = "return document.querySelector(arguments[0])?.toDataURL()"
FILLED = """
const canvas = document.querySelector(arguments[0]);
const {width, height} = canvas;
const pixels = canvas.getContext("2d").getImageData(0, 0, width, height).data;
return pixels.reduce((sum, value, place) => sum + (place % 4 === 3 && value > 0), 0);
"""


def grows(browser: "Browser", picture: str, before: int) -> bool:
    return bool(browser.run(FILLED, picture) > before)


def test_it_loads_without_an_error_and_the_timeline_moves(
    sharing: Sharing, serve: Serve, browser: "Browser"
) -> None:
    url = serve(sharing)
    browser.open(url)
    assert NAME in browser.text("#rows")
    (client,) = sharing.daemon().status().clients
    assert f"pid {client.pid}" in browser.text("#rows")
    assert "3.0 GiB" in browser.text("#rows")
    browser.until(lambda: browser.text("#live") == "live")
    for picture in (".lane canvas", ".memory canvas"):
        before, first = browser.run(FILLED, picture), browser.run(PICTURE, picture)
        browser.until(partial(grows, browser, picture, before), f"{picture} stands still")
        assert browser.run(PICTURE, picture) != first
    words = browser.find(".lane canvas").get_attribute("aria-label")
    assert re.search(r"\d+ % computing", words or "")
    # The token is out of sight, and a reloaded page still has it, and the history.
    assert browser.driver.current_url == url.partition("#")[0]
    browser.driver.refresh()
    assert NAME in browser.text("#rows")
    browser.until(lambda: browser.run(FILLED, ".lane canvas") > 0)


def test_a_limit_that_is_changed_there_takes_effect(
    share: Callable[..., Sharing], serve: Serve, browser: "Browser"
) -> None:
    sharing = share("1xt4", data="off")
    guest = sharing.guest()
    assert guest.ask("gpu.init()") == 0
    assert guest.ask(f"gpu.alloc({GIB})")[0] == 0
    browser.open(serve(sharing))
    browser.click("tr.program .change button")
    browser.find("#limit-memory").send_keys("2Gi")
    browser.find("#limit-priority").send_keys("high")
    browser.click("#limits-go")
    assert "none → 2Gi" in browser.text("#limits-changes")
    assert "normal → high" in browser.text("#limits-changes")
    # Nothing has happened before it is confirmed.
    assert sharing.daemon().status().clients[0].limits.memory_limit is None
    browser.click("#limits-go")
    limits = sharing.until_status(lambda now: now.clients[0].limits.memory_limit is not None)
    found = limits.clients[0].limits
    assert (found.memory_limit, found.priority) == (2 * GIB, "high")
    browser.until(lambda: "2.0 GiB, high" in browser.text("tr.program"))
    assert guest.ask(f"gpu.alloc({3 * GIB // 2})")[0] == 2  # out of memory

    # An invalid value is reported in the daemon's words, and the typed text is still there.
    browser.click("tr.program .change button")
    browser.find("#limit-compute").send_keys("400")
    browser.click("#limits-go")
    browser.click("#limits-go")
    browser.until(lambda: "compute_percent" in browser.text("#limits"))
    assert browser.find("#limit-compute").get_attribute("value") == "400"
    assert sharing.daemon().status().clients[0].limits.compute_percent is None
    assert browser.complaints() != []  # the browser tells of every answer that is an error


def test_a_program_is_parked_and_goes_on(
    sharing: Sharing, serve: Serve, browser: "Browser"
) -> None:
    browser.open(serve(sharing))
    for parked, words in ((True, "no → yes: its memory leaves"), (False, "yes: its memory")):
        browser.click("tr.program .change button")
        browser.click("#limit-parked")
        browser.click("#limits-go")
        assert words in browser.text("#limits-changes")
        # Nothing has happened before it is confirmed.
        assert sharing.daemon().status().groups[0].parked is not parked
        browser.click("#limits-go")
        sharing.until_status(partial(is_parked, parked))
        browser.until(lambda: not browser.is_seen("#limits"))
        browser.until(partial(is_said, browser, parked))


def is_parked(parked: bool, status: NodeStatus) -> bool:
    return status.groups[0].parked is parked


def is_said(browser: "Browser", parked: bool) -> bool:
    return ("parked" in browser.text("tr.program .state")) is parked


def test_without_the_token_nothing_is_seen_or_changed(
    sharing: Sharing, serve: Serve, browser: "Browser"
) -> None:
    url, _, token = serve(sharing).partition("#")
    browser.open(url)
    assert "This page needs its token" in browser.text("#login")
    assert NAME not in browser.driver.page_source
    ask = """
    return fetch(arguments[0], {method: arguments[1], body: arguments[2],
      headers: arguments[2] ? {"Content-Type": "application/json"} : {}}).then((one) => one.status)
    """
    order = '{"program": 1, "changes": {"priority": "low"}}'
    assert browser.run(ask, "/v1/view", "GET", None) == 401
    assert browser.run(ask, "/v1/limits", "POST", order) == 401
    assert browser.run(ask, "/v1/park", "POST", '{"program": 1, "parked": true}') == 401
    assert browser.run(ask, f"/v1/view?token={token}", "GET", None) == 401
    browser.find("#token").send_keys("x" * 43, ENTER)
    browser.until(lambda: "This is not the token" in browser.text("#login"))
    assert NAME not in browser.driver.page_source
    assert sharing.daemon().status().clients[0].limits.priority is None
    browser.find("#token").send_keys(token, ENTER)
    assert NAME in browser.text("#rows")
    assert all("401" in one for one in browser.complaints())


def test_who_may_only_look_is_not_offered_changes(
    sharing: Sharing, serve: Serve, browser: "Browser"
) -> None:
    browser.open(serve(sharing, "--read-only"))
    assert NAME in browser.text("#rows")
    assert not browser.is_seen("tr.program .change button")


def test_everything_can_be_done_with_keys(
    sharing: Sharing, serve: Serve, browser: "Browser"
) -> None:
    browser.open(serve(sharing))
    browser.find("tr.program")
    browser.type("/", "nobody")
    assert browser.focus.get_attribute("id") == "filter"
    browser.until(lambda: "No program passes the filter" in browser.text("#programs"))
    browser.type(*[BACKSPACE] * len("nobody"))
    browser.find("tr.program")
    # From the filter on, every tab stop has a function, and the program is one of them.
    stops = []
    while "name" not in (browser.focus.get_attribute("class") or ""):
        browser.type(TAB)
        stops.append(browser.focus.text or browser.focus.get_attribute("value"))
        assert len(stops) < 20, stops
    assert any("GPU" in (one or "") for one in stops)
    browser.type(ENTER)
    browser.until(lambda: "computing" in browser.text("tr.details"))
    browser.until(lambda: "last " in browser.text("tr.details p"))
    assert browser.focus.get_attribute("aria-expanded") == "true"
    browser.type(TAB, ENTER)
    assert browser.find("#limits").is_displayed()
    assert browser.focus.get_attribute("id") == "limit-memory"
    browser.type(ESCAPE)
    browser.until(lambda: not browser.is_seen("#limits"))
    # The focus has not moved.
    assert browser.focus.text == "Change…"


@pytest.mark.parametrize(("width", "theme"), [(1280, "light"), (1280, "dark"), (390, "light")])
def test_it_fits_and_can_be_read(
    sharing: Sharing, serve: Serve, browser: "Browser", width: int, theme: str
) -> None:
    browser.shape(width, 900, "dark" if theme == "dark" else "light")
    browser.open(serve(sharing))
    browser.click("tr.program .name")
    browser.until(lambda: "last " in browser.text("tr.details p"))
    assert browser.run("return document.documentElement.scrollWidth") <= width
    assert browser.run(CONTRAST) == []
    is_dark = browser.run("return getComputedStyle(document.body).backgroundColor") != LIGHT
    assert is_dark == (theme == "dark")


ALL_SEEN = """
return [...document.querySelectorAll(".lane canvas")].every((one) => /%/.test(one.ariaLabel));
"""
LIGHT = "rgb(244, 245, 247)"
# All visible words with too little contrast against their background (WCAG 2: 4.5).
CONTRAST = """
const bright = (text) => {
  const [r, g, b] = text.match(/[0-9.]+/g).map(Number).map((v) => v / 255)
    .map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const behind = (one) => {
  for (let at = one; at; at = at.parentElement) {
    const back = getComputedStyle(at).backgroundColor;
    if (!back.endsWith(", 0)")) return back;
  }
  return "rgb(255, 255, 255)";
};
const poor = [];
for (const one of document.querySelectorAll("body *")) {
  const own = [...one.childNodes].some((part) => part.nodeType === 3 && part.textContent.trim());
  if (!own || !one.checkVisibility() || one.closest(".skip, dialog, noscript, script")) continue;
  const [low, high] = [getComputedStyle(one).color, behind(one)].map(bright).sort((a, b) => a - b);
  const ratio = (high + 0.05) / (low + 0.05);
  if (ratio < 4.5) poor.push(`${one.className || one.tagName} ${one.textContent}: ${ratio}`);
}
return poor;
"""


def test_a_daemon_that_goes_away_is_told_of_and_comes_back(
    sharing: Sharing, serve: Serve, browser: "Browser"
) -> None:
    browser.open(serve(sharing))
    browser.find("tr.program")
    os.kill(sharing.daemon().status().pid, signal.SIGTERM)
    browser.until(lambda: "no daemon is running" in browser.text("#banner"))
    sharing.start_daemon()
    browser.until(lambda: not browser.is_seen("#banner") and browser.is_seen("tr.program"))


def test_who_has_ended_stays_in_the_timeline(
    sharing: Sharing, serve: Serve, browser: "Browser"
) -> None:
    start_kernels(sharing, "--kernel", "0.005", "--memory", str(GIB))
    browser.open(serve(sharing))
    browser.until(lambda: browser.run("return document.querySelectorAll('.lane').length") == 2)
    browser.until(lambda: browser.run(ALL_SEEN), "one of them was never seen to do anything")
    sharing.kill(sharing._running[-1])
    browser.until(lambda: "ended" in browser.text(".lanes"))
    assert browser.run("return document.querySelectorAll('tr.program').length") == 1
