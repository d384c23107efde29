"""The market that runs for these tests, and what its customers hold.

    PARLEY_TEST_URL   the market, such as http://127.0.0.1:8080
    PARLEY_TEST_DEV   the control address of its dev network
    PARLEY_TEST_DOCS  the folder docs/ of the repository: its vectors and examples
"""

import json
import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from parley.client import ParleyClient


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def given(name: str) -> str:
    value = os.environ.get(name)
    assert value, f"{name} is missing: verify/test/python.test.ts starts a market and says where it is"
    return value


@pytest.fixture
def url() -> str:
    return given("PARLEY_TEST_URL")


@pytest.fixture
def docs() -> Path:
    return Path(given("PARLEY_TEST_DOCS"))


@pytest.fixture
async def market(url: str) -> AsyncIterator[ParleyClient]:
    """Without a key."""
    async with ParleyClient(url) as client:
        yield client


def vectors(name: str) -> Any:
    """Read while tests are collected, so that each vector is a test."""
    return json.loads((Path(given("PARLEY_TEST_DOCS")) / "vectors" / f"{name}.json").read_text())
