"""The default estimates: networks that read the answers of several methods."""
