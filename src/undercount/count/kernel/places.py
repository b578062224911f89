"""Which cell each row falls into, where rows of several scores must be met again."""

from typing import Any

import numpy as np
from numpy.typing import NDArray


def cell_places(score: NDArray[np.floating[Any]]) -> tuple[int, NDArray[np.intp]]:
    """Return the number of distinct scores and the place of each row among them, highest first.

    Examples
    --------
    >>> import numpy as np
    >>> from undercount.count.kernel.places import cell_places
    >>> cell_places(np.array([0.2, 0.9, 0.2, 0.5]))
    (3, array([2, 0, 2, 1]))
    """
    distinct, place = np.unique(-score, return_inverse=True)
    return len(distinct), place
