import pytest

from .world import World


@pytest.fixture
def initiator(monkeypatch: pytest.MonkeyPatch) -> World:
    """Funds leg ``b`` first, and has the secret. Two nodes a chain."""
    return World(monkeypatch, "initiator", nodes=2)


@pytest.fixture
def counterparty(monkeypatch: pytest.MonkeyPatch) -> World:
    """Funds leg ``a`` once ``b`` is deep. Two nodes a chain."""
    return World(monkeypatch, "counterparty", nodes=2)
