"""Client of the Parley swap market: `ParleyClient`, and the modules that python/README.md lists."""

from .client import ParleyClient

__all__ = ["ParleyClient"]
__version__ = "0.1.0"
