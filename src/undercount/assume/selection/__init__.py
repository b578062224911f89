"""Labels only where somebody looked (Cook 2016)."""
