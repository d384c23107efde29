"""The steps of an outsider: the programs of the README in an empty folder, a terminal each."""

import asyncio
import os
import re
import sys
from pathlib import Path

import pytest

from .conftest import given
from .customers import LIMIT

pytestmark = pytest.mark.anyio
#: What the first program may have, imports and all.
MOST_LINES = 30


def programs_of(docs: Path) -> dict[str, str]:
    text = (docs.parent / "python" / "README.md").read_text()
    return dict(re.findall(r"\n`(\w+\.py)`\n\n```py\n(.*?)```", text, re.DOTALL))


async def test_two_parties_trade_by_the_programs_of_the_readme(docs: Path, tmp_path: Path) -> None:
    programs = programs_of(docs)
    assert list(programs) == ["taker.py", "maker.py"]
    assert len(programs["taker.py"].splitlines()) <= MOST_LINES
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
    assert taker.splitlines()[-1] == "received"
    assert maker.splitlines()[-1] == "received"
    for each in tmp_path.glob("*/*/*"):
        assert each.stat().st_mode & 0o777 == 0o600


async def test_the_first_program_takes_what_the_dev_maker_quotes(docs: Path) -> None:
    maker = (docs.parent / "scripts" / "maker-dev.ts").read_text()
    dollars = dict(re.findall(r"^  (ETH|SOL): '(\d+)',$", maker, re.MULTILINE))
    program = programs_of(docs)["taker.py"]
    [bound] = re.findall(r"^GIVES, LEAST = 10\*\*17, (\d+) \* 10\*\*8 ", program, re.MULTILINE)
    # Lamports for 0.1 ETH, less the 50 basis points of that maker.
    quoted = 10**8 * int(dollars["ETH"]) // int(dollars["SOL"]) * 9_950 // 10_000
    assert int(bound) * 10**8 <= quoted
