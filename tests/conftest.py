"""What every test runs under."""

import os

from hypothesis import HealthCheck, settings

# Threads of the linear algebra only wait for each other on tables this small, the more so beside
# other tests: a test of kernel means then takes a minute instead of a second. The libraries read
# these when they are loaded, so before NumPy is.
for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")
# Processes of parallel tests are told of a terminal of 80 columns that nobody has.
os.environ.pop("COLUMNS", None)
# The same cases in every run, and no clock: what chance finds is the work of `make fuzz`. Another
# roll: pytest --hypothesis-profile=default.
settings.register_profile(
    "same",
    derandomize=True,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.too_slow],  # which a busy machine is
)
settings.load_profile("same")


def pytest_collection_modifyitems(items):
    """Run what waits for a virtual machine first, in one process.

    Tests at the end of a process's list may be taken over by another, which would start a Spark of
    its own for them.
    """
    items.sort(key=lambda item: item.get_closest_marker("spark") is None)
