"""Optional packages that some functions need.

``pip install burstlab`` installs all that runs, studies, reproductions and the page need. Each
other package belongs to an extra. If one is missing, the error names the extra and the line that
installs it.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from burstlab.errors import InputError

#: The extra that brings a package, by the module that is imported.
EXTRAS = {
    "distributed": "dask",
    "pandas": "pandas",
    "polars": "polars",
    "pyarrow": "arrow",
    "pyarrow.parquet": "arrow",
    "pywt": "wavelets",
    "scipy.special": "wavelets",
    "vl_convert": "pictures",
    "xarray": "xarray",
}


class MissingExtra(InputError, ImportError):
    """A package is not installed; the message says which line installs it."""


def extra(module: str, what: str, by: str = "") -> Any:
    """Import a module of an extra.

    Parameters
    ----------
    module
        Its name, one of `EXTRAS`.
    what
        The function that needs it, such as ``"to_polars()"``.
    by
        The extra that brings it for that, where it is another one.

    Raises
    ------
    MissingExtra
        If it is not installed.
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or not module.startswith(error.name):
            raise
        package = module.partition(".")[0]
        raise MissingExtra(
            f"{what} needs {package}, which is not installed\n"
            f"  fix: pip install 'burstlab[{by or EXTRAS[module]}]'"
        ) from None
