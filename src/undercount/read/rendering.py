"""The one door upward: forms of a result, found by name in the layer that draws them."""

import pkgutil
from typing import Any

# `show` stands above `read`, which knows nothing of it; a method of convenience such as
# `Evaluation.to_html` names a form, and what draws it is looked up only when it is asked for.
FORMS = {
    "json": "undercount.show.document:as_json",
    "markdown": "undercount.show.tables:as_markdown",
    "latex": "undercount.show.tables:as_latex",
    "snippet": "undercount.show.tables:as_snippet",
    "text": "undercount.show.text:as_text",
    "html": "undercount.show.page.page:write_page",
    "comparison json": "undercount.show.comparison:as_json",
    "comparison text": "undercount.show.comparison:as_text",
}


def render(form: str, *subject: Any) -> Any:
    """Draw a result in a form of the table above."""
    return pkgutil.resolve_name(FORMS[form])(*subject)
