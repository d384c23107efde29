"""What an outsider does: the files of the README in an empty folder, a terminal each."""

import asyncio
import os
import re
import sys
from pathlib import Path

import pytest

from .conftest import given
from .customers import LIMIT

pytestmark = pytest.mark.anyio


async def test_two_parties_trade_by_the_programs_of_the_readme(docs: Path, tmp_path: Path) -> None:
    text = (docs.parent / "python" / "README.md").read_text()
    programs = re.findall(r"\n`(\w+\.py)`\n\n```py\n(.*?)```", text, re.DOTALL)
    assert [name for name, _ in programs] == ["party.py", "taker.py", "maker.py"]
    for name, program in programs:
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
    assert (tmp_path / "alice.json").stat().st_mode & 0o777 == 0o600
