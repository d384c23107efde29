"""The parts of `parley.feed`."""
