"""Client of the Parley swap market. Import from its modules: `parley.client`, `parley.feed`."""

__version__ = "0.1.0"
