"""An evaluation as text, JSON, Markdown or HTML."""
