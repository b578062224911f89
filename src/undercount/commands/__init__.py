"""The commands, a file for each kind; nothing heavy is imported for --help."""
