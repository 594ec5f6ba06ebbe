"""A real browser for tests of pages: Chromium without a window, driven by its own driver.

Without a browser such tests are skipped, with the reason. Where CIRCUITPROOF_BROWSER is set they fail
instead: nobody may believe that pages were looked at when they were not.
"""

import os
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome")
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
)
DEMAND = "CIRCUITPROOF_BROWSER"


class Browser:
    """One tab, and what tests do with it."""

    def __init__(self, driver: Any) -> None:
        self.driver = driver
        self.resize(1280)
        self.command("Network.enable")
        self.command(
            "Network.emulateNetworkConditions",
            offline=True,
            latency=0,
            downloadThroughput=0,
            uploadThroughput=0,
        )

    def command(self, name: str, **parameters: Any) -> dict[str, Any]:
        """Send a command of the browser's own protocol."""
        return self.driver.execute_cdp_cmd(name, parameters)

    def resize(self, width: int) -> None:
        """Make the window so many pixels wide."""
        size = {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": width < 500}
        self.command("Emulation.setDeviceMetricsOverride", **size)

    def show_as(self, *, theme: str = "light", media: str = "") -> None:
        """Let the system be light or dark, or let the page be printed."""
        features = [{"name": "prefers-color-scheme", "value": theme}]
        self.command("Emulation.setEmulatedMedia", media=media, features=features)

    def open(self, page: Path) -> None:
        """Open a file from disk."""
        self.driver.get(page.resolve().as_uri())

    def errors(self) -> list[str]:
        """Return what the browser complained of since it was last asked."""
        return [entry["message"] for entry in self.driver.get_log("browser")]

    def run(self, script: str, *arguments: Any) -> Any:
        """Run a script in the page and return what it returns."""
        return self.driver.execute_script(script, *arguments)

    def awaited(self, script: str, is_there: Callable[[Any], bool], seconds: float = 20.0) -> Any:
        """Run a script until it returns what is waited for, or for some time, and return what it last did."""
        end = time.monotonic() + seconds
        while not is_there(found := self.run(script)) and time.monotonic() < end:
            time.sleep(0.05)
        return found

    def all(self, selector: str) -> list[Any]:
        """Return the elements that a selector finds."""
        return self.driver.find_elements("css selector", selector)

    def one(self, selector: str) -> Any:
        """Return the first element that a selector finds."""
        return self.driver.find_element("css selector", selector)

    def texts(self, selector: str) -> list[str]:
        """Return what elements say."""
        return self.run(
            "return [...document.querySelectorAll(arguments[0])].map((one) => one.textContent)", selector
        )

    def click(self, selector: str) -> None:
        """Click as a user does, in the middle of what is seen."""
        self._at(selector).click().perform()

    def point_at(self, selector: str) -> None:
        """Move the pointer into an element."""
        self._at(selector).perform()

    def _at(self, selector: str) -> Any:
        """Return the way of the pointer to the middle of an element."""
        from selenium.webdriver.common.action_chains import ActionChains

        element = self.one(selector)
        self.run("arguments[0].scrollIntoView({block: 'center'})", element)
        return ActionChains(self.driver, duration=0).move_to_element(element)

    def press(self, *keys: str) -> None:
        """Press keys, one after the other, wherever the focus is."""
        from selenium.webdriver.common.action_chains import ActionChains
        from selenium.webdriver.common.keys import Keys

        for key in keys:
            ActionChains(self.driver).send_keys(getattr(Keys, key, key)).perform()

    def words(self, selector: str) -> str:
        """Return the words that are seen in an element, on one line."""
        return " ".join(self.one(selector).text.split())

    def focused(self) -> str:
        """Return what the element that has the focus says."""
        return self.run("return document.activeElement.textContent")


def missing() -> str:
    """Return what is missing for a browser, or nothing."""
    try:
        import selenium  # noqa: F401  # it is asked for, not used
    except ImportError:
        return "selenium is not installed: pip install 'circuitproof[dev]'"
    if binary() is None or shutil.which("chromedriver") is None:
        return "there is no Chromium with its driver: apt-get install chromium chromium-driver"
    return ""


def binary() -> str | None:
    """Return where Chromium is."""
    return next((found for name in NAMES if (found := shutil.which(name))), None)


@contextmanager
def launched() -> Iterator[Browser]:
    """Start a browser, and end it."""
    if reason := missing():
        if os.environ.get(DEMAND):
            pytest.fail(f"{DEMAND} is set, and {reason}")
        pytest.skip(reason)
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = binary()
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    for flag in FLAGS:
        options.add_argument(flag)
    driver = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))
    try:
        yield Browser(driver)
    finally:
        driver.quit()
