"""How far a number may be off, whatever was assumed."""
