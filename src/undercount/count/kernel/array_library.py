"""The few operations that counting needs, in the words of each library of arrays.

They are those of the array API standard (data-apis.org); PyTorch and CuPy, which differ from it in
names or have a faster way, get a class of their own. Nothing here imports a library: an array
brings its own along.
"""

import importlib
import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

from undercount.errors import InputError

# Kinds of device in which the host reads memory directly (DLPack: CPU, pinned memory of CUDA).
HOST_KINDS = frozenset({1, 3})
CUDA = 2
# Types of half the usual width are widened before anything is compared.
HALF_WIDTH_FLOATS = ("float16", "bfloat16")
ARRAY_FLOATS = (*HALF_WIDTH_FLOATS, "float32", "float64")


def library_name(array: Any) -> str:
    """Name the package that an array comes from."""
    return type(array).__module__.partition(".")[0]


# Since this version NumPy asks other libraries to copy from their devices.
DEVICES_COPY = np.lib.NumpyVersion(np.__version__) >= "2.1.0"


class ArrayLibrary:
    """Work on arrays by the functions of the array API standard.

    Parameters
    ----------
    namespace : module
        Holds the functions.
    """

    def __init__(self, namespace: Any) -> None:
        self.namespace = namespace

    def detach(self, array: Any) -> Any:
        """Return an array without what is kept for gradients."""
        return array

    def dtype_name(self, array: Any) -> str:
        """Name the type of the elements as NumPy does."""
        return str(array.dtype).rpartition(".")[2].strip("'>")

    def cast(self, array: Any, name: str) -> Any:
        """Change the type of the elements."""
        return self.namespace.astype(array, getattr(self.namespace, name))

    def widen(self, score: Any) -> Any:
        """Return scores as float32 or float64."""
        return self.cast(score, "float32") if self.dtype_name(score) in HALF_WIDTH_FLOATS else score

    def make(self, values: Any, like: Any) -> Any:
        """Make an array on the device and of the type of another one."""
        return self.namespace.asarray(values, dtype=like.dtype, device=like.device)

    def copy(self, array: Any) -> Any:
        """Return a copy on the same device."""
        return self.namespace.asarray(array, copy=True)

    def sort(self, array: Any) -> Any:
        """Return the elements ascending."""
        return self.namespace.sort(array)

    def search(self, ascending: Any, values: Any, side: str) -> Any:
        """Return how many elements of a sorted array are below each value; at most, if "right"."""
        return self.namespace.searchsorted(ascending, values, side=side)

    def concat(self, parts: list[Any]) -> Any:
        """Put arrays one after the other."""
        return self.namespace.concat(parts)

    def interleave(self, even: Any, odd: Any) -> Any:
        """Alternate the elements of two arrays, the first one longer by one."""
        pairs = self.namespace.stack([even[:-1], odd], axis=1)
        return self.concat([self.namespace.reshape(pairs, (-1,)), even[-1:]])

    def places(self, mask: Any) -> Any:
        """Return the positions where a mask holds."""
        return self.namespace.nonzero(mask)[0]

    def take(self, array: Any, places: Any) -> Any:
        """Return the elements at some positions."""
        return self.namespace.take(array, places, axis=0)

    def where(self, mask: Any, chosen: Any, other: Any) -> Any:
        """Choose between two arrays element by element."""
        return self.namespace.where(mask, chosen, other)

    def minimum(self, one: Any, other: Any) -> Any:
        """Return the smaller of two elements."""
        return self.namespace.minimum(one, other)

    def maximum(self, one: Any, other: Any) -> Any:
        """Return the larger of two elements."""
        return self.namespace.maximum(one, other)

    def flip(self, array: Any) -> Any:
        """Turn an array round."""
        return self.namespace.flip(array)

    def is_nan(self, array: Any) -> Any:
        """Tell which elements are NaN."""
        return self.namespace.isnan(array)

    def largest(self, array: Any) -> float:
        """Return the largest element, NaN if there is one."""
        return float(self.namespace.max(array))

    def count(self, mask: Any) -> int:
        """Count where a mask holds."""
        return int(self.namespace.count_nonzero(mask))

    def to_host(self, array: Any) -> NDArray[Any]:
        """Return a NumPy array; memory that the host reads is not copied."""
        try:
            return np.asarray(array)
        except (TypeError, ValueError, RuntimeError):  # on a device: DLPack copies
            if not DEVICES_COPY:
                raise InputError(
                    f"arrays on a device of {type(array).__module__} need NumPy 2.1 or newer; this "
                    f"is {np.__version__}. Move them to the host"
                ) from None
            return np.from_dlpack(array, device="cpu")


class TorchLibrary(ArrayLibrary):
    """Work on tensors of PyTorch."""

    def detach(self, array: Any) -> Any:
        """Return a tensor that no gradient flows through."""
        return array.detach()

    def cast(self, array: Any, name: str) -> Any:
        """Change the type of the elements."""
        return array.to(getattr(self.namespace, name))

    def copy(self, array: Any) -> Any:
        """Return a copy on the same device."""
        return array.clone()

    def sort(self, array: Any) -> Any:
        """Return the elements ascending."""
        return self.namespace.sort(array).values

    def interleave(self, even: Any, odd: Any) -> Any:
        """Alternate the elements of two tensors, the first one longer by one."""
        pairs = self.namespace.stack([even[:-1], odd], dim=1)
        return self.concat([pairs.reshape(-1), even[-1:]])

    def places(self, mask: Any) -> Any:
        """Return the positions where a mask holds."""
        return self.namespace.nonzero(mask, as_tuple=True)[0]

    def take(self, array: Any, places: Any) -> Any:
        """Return the elements at some positions."""
        return array[places]

    def flip(self, array: Any) -> Any:
        """Turn a tensor round."""
        return array.flip(0)

    def to_host(self, array: Any) -> NDArray[Any]:
        """Return a NumPy array; NumPy knows no bfloat16."""
        array = self.detach(array)
        if self.dtype_name(array) == "bfloat16":
            array = self.widen(array)
        return np.asarray(array.cpu().numpy())


class CuPyLibrary(ArrayLibrary):
    """Work on arrays of CuPy."""

    def cast(self, array: Any, name: str) -> Any:
        """Change the type of the elements."""
        return array.astype(name)

    def make(self, values: Any, like: Any) -> Any:
        """Make an array of the type of another one, on its device."""
        with like.device:
            return self.namespace.asarray(values, dtype=like.dtype)

    def copy(self, array: Any) -> Any:
        """Return a copy on the same device."""
        return array.copy()

    def concat(self, parts: list[Any]) -> Any:
        """Put arrays one after the other."""
        return self.namespace.concatenate(parts)

    def sort(self, array: Any) -> Any:
        """Sort floats as integers in the same order, by their digits; CuPy merges floats."""
        keys = self._swap_order(array.view(f"i{array.itemsize}"))
        keys.sort()
        return self._swap_order(keys).view(array.dtype)

    def _swap_order(self, bits: Any) -> Any:
        """Turn the bits of floats into integers of the same order, and back."""
        width = 8 * bits.itemsize - 1
        flipped = bits >> width
        flipped &= (1 << width) - 1
        flipped ^= bits
        return flipped

    def to_host(self, array: Any) -> NDArray[Any]:
        """Return a NumPy array."""
        return np.asarray(array.get())


class JaxLibrary(ArrayLibrary):
    """Work on arrays of JAX, which may be spread over several devices.

    JAX compiles each operation for each length that it meets, and the number of borders differs
    from one batch to the next: where CuPy or PyTorch can take its memory over, they count faster.
    """

    def make(self, values: Any, like: Any) -> Any:
        """Make an array of the type of another one; JAX takes it to where it is used."""
        return self.namespace.asarray(values, dtype=like.dtype)


def find_library(array: Any) -> ArrayLibrary | None:
    """Find the operations for an array; None if it speaks DLPack alone."""
    name = library_name(array)
    if name == "torch":
        return TorchLibrary(sys.modules["torch"])
    if name == "cupy":
        return CuPyLibrary(sys.modules["cupy"])
    if hasattr(array, "__array_namespace__"):
        kind = JaxLibrary if name.startswith("jax") else ArrayLibrary
        return kind(array.__array_namespace__())
    return None


def on_host(array: Any) -> bool:
    """Tell whether the host reads the memory of an array."""
    try:
        return int(array.__dlpack_device__()[0]) in HOST_KINDS
    except (AttributeError, RuntimeError, ValueError, BufferError):
        return False  # spread over several devices


def is_tensor(values: Any) -> bool:
    """Tell an array of another library, which speaks DLPack or the array API."""
    if isinstance(values, np.ndarray | list | tuple):
        return False
    kind = type(values)
    speaks = hasattr(kind, "__dlpack__") or hasattr(kind, "__array_namespace__")
    return speaks and not kind.__module__.startswith("pyarrow")


def tensor_to_host(values: Any) -> NDArray[Any]:
    """Return a NumPy array of what a tensor holds."""
    library = find_library(values)
    if library is not None:
        array = library.to_host(library.detach(values))
        # A type that NumPy does not know, such as JAX's bfloat16.
        return array.astype(np.float32) if array.dtype.kind == "V" else array
    if on_host(values):
        return np.from_dlpack(values)
    return tensor_to_host(adopt(values))


def take_over(values: Any) -> Any:
    """Hand memory of CUDA to a library that counts there, without a copy; None if there is none."""
    if int(values.__dlpack_device__()[0]) == CUDA:
        for name in ("cupy", "torch"):
            try:
                return importlib.import_module(name).from_dlpack(values)
            except (ImportError, RuntimeError, BufferError, TypeError):  # not for this device
                continue
    return None


def adopt(values: Any) -> Any:
    """Give an array that speaks DLPack alone to a library that knows its device."""
    taken = take_over(values)
    if taken is not None:
        return taken
    raise InputError(
        f"an array on a device must come from a library of arrays; got {type(values).__name__}. "
        "Install PyTorch or CuPy, or copy it to the host"
    )
