"""An outsider's steps: the files of the README in an empty folder, a terminal each."""

import asyncio
import os
import re
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from parley.chains.solana import DEV_DEPLOYMENT

from .conftest import given
from .customers import LIMIT

pytestmark = pytest.mark.anyio


def programs_of(docs: Path) -> dict[str, str]:
    text = (docs.parent / "python" / "README.md").read_text()
    return dict(re.findall(r"\n`(\w+\.py)`\n\n```py\n(.*?)```", text, re.DOTALL))


def fact(**facts: object) -> Any:
    return SimpleNamespace(**facts)


async def test_coins_that_are_no_escrow_or_not_deep_are_not_taken_for_one(
    docs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DEV", "http://127.0.0.1:1")
    party: dict[str, Any] = {"__name__": "party"}
    exec(programs_of(docs)["party.py"], party)
    me = party["Party"]()
    me.on = {"solana": {"chain": "s"}, "evm": {"chain": "e"}}
    answers: dict[str, Any] = {}

    async def node(_family: str, method: str, *_params: object) -> Any:
        return answers[method]

    me.node = node
    leg = fact(chain="s", amount=1_000, required_confirmations=3, escrow=fact(address="place"))
    program = DEV_DEPLOYMENT.program
    for account, holds in [
        (None, False),
        ({"owner": "1" * 32, "lamports": 10_000}, False),
        ({"owner": program, "lamports": 1_000}, False),
        ({"owner": program, "lamports": 10_000}, True),
    ]:
        answers["getAccountInfo"] = {"value": account}
        assert await me.holds(leg) is holds, account
    leg = fact(chain="e", amount=1, required_confirmations=3, escrow=fact(address="contract:id"))
    for events, head, holds in [(0, 12, False), (1, 11, False), (1, 12, True), (2, 12, False)]:
        answers["eth_blockNumber"] = hex(head)
        answers["eth_getLogs"] = [{"blockNumber": "0xa"}] * events
        assert await me.holds(leg) is holds, (events, head)


async def test_two_parties_trade_by_the_programs_of_the_readme(docs: Path, tmp_path: Path) -> None:
    programs = programs_of(docs)
    assert list(programs) == ["party.py", "taker.py", "maker.py"]
    for name, program in programs.items():
        (tmp_path / name).write_text(program)
    env = {**os.environ, "URL": given("PARLEY_TEST_URL"), "DEV": given("PARLEY_TEST_DEV")}

    async def run(name: str) -> str:
        pipe = asyncio.subprocess.PIPE
        child = await asyncio.create_subprocess_exec(
            sys.executable, name, cwd=tmp_path, env=env, stdout=pipe, stderr=pipe
        )
        try:
            async with asyncio.timeout(LIMIT):
                out, err = await child.communicate()
        finally:
            if child.returncode is None:
                child.kill()
        assert child.returncode == 0, f"{name}: {out.decode()}{err.decode()}"
        return out.decode()

    taker, maker = await asyncio.gather(run("taker.py"), run("maker.py"))
    assert taker.splitlines()[1:] == ["funded", "claimed", "counterparty_claimed"]
    assert maker.splitlines() == ["funded", "claimed", "counterparty_claimed"]
    (kept,) = tmp_path.glob("alice-0x*.json")
    assert kept.stat().st_mode & 0o777 == 0o600
