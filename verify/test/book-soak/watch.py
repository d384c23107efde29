"""A `Book` of the Python package as a program of its own: what watch.ts is for the SDK."""

import asyncio
import json
import logging
import os
import sys
from typing import Any

from parley.book import Book, BookChange
from parley.client import ParleyClient


def say(line: dict[str, Any]) -> None:
    print(json.dumps(line), flush=True)


def rss_bytes() -> int:
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


async def main() -> None:
    logging.basicConfig(stream=sys.stderr, format="%(message)s")
    pairs = [tuple(each) for each in json.loads(os.environ.get("PAIRS", "null")) or []] or None
    lines = asyncio.StreamReader()
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(lines), sys.stdin)
    async with (
        ParleyClient(os.environ["URL"], key=os.environ["KEY"]) as market,
        Book(market, pairs=pairs) as book,
    ):

        async def tell() -> None:
            async for change in book:
                if isinstance(change, BookChange):
                    say({"kind": change.kind, "id": change.rfq.id})
                else:
                    raise RuntimeError(f"{change}: this program reads fast enough")

        telling = asyncio.create_task(tell())
        while not telling.done() and await lines.readline():
            # The changes that it has are told before the book that they led to.
            await asyncio.sleep(0)
            while book._items:
                await asyncio.sleep(0)
            say(
                {
                    "state": book.state,
                    "leftOut": book.left_out,
                    "ids": list(book.rfqs),
                    "rssBytes": rss_bytes(),
                }
            )
        if telling.done():
            telling.result()
        telling.cancel()


asyncio.run(main())
