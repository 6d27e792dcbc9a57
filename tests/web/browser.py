"""Chromium without a window, as far as tests of the page need it."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal, TypeVar

from selenium import webdriver
from selenium.common.exceptions import StaleElementReferenceException
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webelement import WebElement

# Seconds for steps that take one or two on a machine with nothing else to do.
PATIENCE = 30.0
_FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync", "--no-first-run", "--hide-scrollbars"),
)
Seen = TypeVar("Seen")


class Browser:
    """One window with a fresh profile."""

    def __init__(self, profile: Path) -> None:
        options = Options()
        options.binary_location = "/usr/bin/chromium"
        for flag in (*_FLAGS, f"--user-data-dir={profile}"):
            options.add_argument(flag)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        self.driver = webdriver.Chrome(options=options, service=Service("/usr/bin/chromedriver"))
        self.shape(1280, 860)

    def close(self) -> None:
        """End it."""
        self.driver.quit()

    def shape(self, width: int, height: int, theme: Literal["light", "dark"] = "light") -> None:
        """Set another size, and another preference for colours."""
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
        self._command("Emulation.setDeviceMetricsOverride", size)
        wish = {"features": [{"name": "prefers-color-scheme", "value": theme}]}
        self._command("Emulation.setEmulatedMedia", wish)

    def _command(self, name: str, values: dict[str, Any]) -> None:
        self.driver.execute_cdp_cmd(name, values)

    def open(self, url: str) -> None:
        """Load this URL anew, even if only its fragment has changed."""
        self.driver.get("about:blank")
        self.driver.get(url)

    def run(self, script: str, *arguments: object) -> Any:
        """Have the page evaluate something."""
        return self.driver.execute_script(script, *arguments)

    def find(self, selector: str) -> WebElement:
        """Wait for a visible element; return it."""
        return self.until(lambda: self._seen(selector), f"no {selector} is seen")

    def is_seen(self, selector: str) -> bool:
        """Whether such an element is visible."""
        return self._seen(selector) is not None

    def _seen(self, selector: str) -> WebElement | None:
        found = self.driver.find_elements(By.CSS_SELECTOR, selector)
        return next((one for one in found if one.is_displayed()), None)

    def click(self, selector: str) -> None:
        """Click on an element."""
        self.find(selector).click()

    def type(self, *keys: str) -> None:
        """Press keys, wherever the focus is."""
        ActionChains(self.driver).send_keys(*keys).perform()

    def text(self, selector: str = "body") -> str:
        """Return the visible text of an element."""
        return str(self.find(selector).text)

    @property
    def focus(self) -> WebElement:
        """The element that has the focus."""
        return self.driver.switch_to.active_element

    def complaints(self) -> list[str]:
        """Return the browser's complaints since the last call."""
        logged = self.driver.get_log("browser")
        return [entry["message"] for entry in logged if entry["level"] == "SEVERE"]

    def until(self, look: Callable[[], Seen | None], otherwise: str = "it never was so") -> Seen:
        """Poll until there is a result."""
        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                if seen := look():
                    return seen
            except StaleElementReferenceException:
                pass  # the page has put another one in its place
            assert time.monotonic() < deadline, otherwise
            time.sleep(0.05)
