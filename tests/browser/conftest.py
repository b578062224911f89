"""One Chromium for all tests of the page; each page is watched for errors and requests."""

import importlib.util
import shutil
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from undercount.read.evaluation import Evaluation
from undercount.show.page.report import write_page

ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
# Looks, 10 ms apart, before what a page should become is given up.
WAITS = 6000
# Runs before the page's own script, so that nothing can be missed.
WATCH = """window.violations = [];
document.addEventListener("securitypolicyviolation", (event) => {
  violations.push(event.violatedDirective);
});"""


@pytest.fixture(scope="session")
def cases() -> ModuleType:
    """The module of evaluations beside this file."""
    spec = importlib.util.spec_from_file_location(
        "browser_cases", Path(__file__).parent / "cases.py"
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """A real Chromium, or a loud skip."""
    api = pytest.importorskip(
        "playwright.sync_api", reason="THE REPORT IS NOT TESTED: pip install playwright"
    )
    names = ("chromium", "chromium-browser", "google-chrome")
    path = next((found for name in names if (found := shutil.which(name))), None)
    if path is None:
        pytest.skip("THE REPORT IS NOT TESTED: install chromium (apt-get install chromium)")
    with api.sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=path, args=ARGUMENTS)
        yield chromium
        chromium.close()


def wait_until(page: Any, code: str) -> None:
    """Look at a page until something is true of it, however long a busy machine takes."""
    # Not by wait_for_function: the page's policy forbids what that polls with.
    for _ in range(WAITS):
        if page.evaluate(code):
            return
        page.wait_for_timeout(10)
    pytest.fail(f"the page never came to: {code}")


@pytest.fixture(scope="session")
def until() -> Callable[[Any, str], None]:
    """For tests that open a page by themselves."""
    return wait_until


@dataclass
class Opened:
    """A page with what it said and asked for."""

    page: Any
    said: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)

    def facts(self) -> dict[str, Any]:
        """Return what the page carries."""
        found: dict[str, Any] = self.page.evaluate("undercount.data")
        return found

    def settle(self) -> None:
        """Wait until the last change is drawn."""
        self.page.evaluate(
            "() => new Promise((r) => requestAnimationFrame(() => requestAnimationFrame(r)))"
        )
        self.page.evaluate("() => undercount.settle()")

    def assert_quiet(self) -> None:
        """Nothing was logged, asked for over the network, or refused by the policy."""
        assert self.said == []
        assert self.asked == []
        assert self.page.evaluate("violations") == []


@pytest.fixture(scope="session")
def contexts(browser: Any) -> Callable[..., Any]:
    """One window for each kind of screen."""
    made: dict[str, Any] = {}

    def context(**options: Any) -> Any:
        key = repr(sorted(options.items()))
        if key not in made:
            size = {"width": options.pop("width", 1200), "height": 900}
            made[key] = browser.new_context(viewport=size, **options)
            made[key].add_init_script(WATCH)
        return made[key]

    return context


@pytest.fixture
def open_page(contexts: Callable[..., Any], tmp_path: Path) -> Iterator[Callable[..., Opened]]:
    """Write a report and open it."""
    pages = []

    def opened(evaluations: list[Evaluation], after: str = "", **options: Any) -> Opened:
        path = tmp_path / "report.html"
        write_page(evaluations, path)
        page = contexts(**options).new_page()
        pages.append(page)
        watched = Opened(page)
        page.on("console", lambda message: watched.said.append(message.text))
        page.on("pageerror", lambda error: watched.said.append(str(error)))
        address = path.as_uri()
        page.on(
            "request",
            lambda request: (
                request.url.split("#")[0] == address or watched.asked.append(request.url)
            ),
        )
        page.goto(address + after)
        if options.get("java_script_enabled", True):
            wait_until(page, "!!window.undercount")
            watched.settle()
        return watched

    yield opened
    for page in pages:
        page.close()
