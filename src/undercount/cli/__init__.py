"""The commands; nothing heavy is imported for --help."""
