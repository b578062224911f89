from . import displays as displays
