"""How many things are done at once: by threads of this process, or on a Dask cluster.

Whatever is done for many folders, ladders or metrics goes through one call, `RunMap`: the same
function on the same items gives the same results in the same order, wherever it runs.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from delphi_core.errors import DataError, DelphiError, quoted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

A = TypeVar("A")
B = TypeVar("B")

CONNECT_SECONDS = 10.0
_SCHEMES = ("tcp://", "tls://")


class RunMap(Protocol):
    """Calls a function with each item, and gives the results in the order of the items.

    Function, items and results may be sent to other processes.
    """

    def __call__(self, function: Callable[[A], B], items: Sequence[A], /) -> Iterable[B]:
        """Results of the calls."""


def threads(workers: int) -> RunMap:
    """Calls made by so many threads of this process at once."""

    def run_map(function: Callable[[A], B], items: Sequence[A]) -> Iterator[B]:
        with ThreadPoolExecutor(workers) as pool:
            yield from pool.map(function, items)

    return run_map


@contextmanager
def run_map_on(scheduler: str | None, workers: int) -> Iterator[RunMap]:
    """Calls made on a Dask cluster, or by threads where none is named.

    Parameters
    ----------
    scheduler
        Address of the cluster's scheduler, tcp://host:8786; None for threads. Its workers must
        have this package, the same version of it. Whatever a worker that dies was doing is done
        by another.
    workers
        How many threads.

    Raises
    ------
    DataError
        Dask is not installed, the scheduler does not answer, or the workers cannot do it.
    """
    if scheduler is None:
        yield threads(workers)
        return
    if not scheduler.startswith(_SCHEMES):
        sentence = f"{quoted(scheduler)} is no address of a Dask scheduler; name tcp://host:8786."
        raise DataError([sentence])
    try:
        from distributed import Client  # noqa: PLC0415 - only who names a cluster needs it
    except ImportError:
        sentence = "Dask is not installed here: python -m pip install -r requirements-dask.txt."
        raise DataError([sentence]) from None
    try:
        # distributed gives it no type.
        client = Client(  # type: ignore[no-untyped-call]
            scheduler, timeout=CONNECT_SECONDS, set_as_default=False
        )
    except (OSError, ValueError) as error:
        sentence = f"no Dask scheduler answers at {quoted(scheduler)} ({type(error).__name__})."
        raise DataError([sentence]) from None
    with client:
        if not client.scheduler_info()["workers"]:
            raise DataError([f"the Dask cluster at {quoted(scheduler)} has no workers; add one."])
        yield _on(client)


def _on(client: Any) -> RunMap:
    def run_map(function: Callable[[A], B], items: Sequence[A]) -> Iterator[B]:
        # Not pure: a file that is read twice may have changed in between.
        futures = client.map(function, list(items), pure=False)
        try:
            for future in futures:
                try:
                    yield future.result()
                except DelphiError:
                    raise
                except Exception as error:  # noqa: BLE001 - a worker may fail in any way
                    sentence = (
                        f"the Dask workers could not do it ({type(error).__name__}: "
                        f"{quoted(error)}); do they have this package, the same version?"
                    )
                    raise DataError([sentence]) from None
        finally:
            client.cancel(futures)

    return run_map
