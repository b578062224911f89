"""The self-contained HTML page with live sliders."""
