"""One node over HTTP: limits, and what its failures mean. No error names its address or a key."""

from __future__ import annotations

import json
from typing import Any

import httpx

from .._http import Connections
from ..errors import Refusal

#: More than a block of Bitcoin in hex takes.
_MOST_ANSWER_BYTES = 20 * 1024 * 1024
_SECONDS = 15.0
_MOST_WORDS = 300
_TOO_MANY = 429


class RpcRefusal(Exception):
    """The node answered with an error of its own: its code, its words, and its data."""

    def __init__(self, code: int, words: str, data: object = None) -> None:
        super().__init__(words)
        self.code = code
        self.data = data


class Http:
    """``url`` may hold a user and a password, as Bitcoin Core wants them."""

    def __init__(
        self, chain: str, url: str, headers: dict[str, str] | None, http: httpx.AsyncClient | None
    ) -> None:
        self.chain = chain
        self._url = url.rstrip("/")
        self._headers = headers or {}
        self._connections = Connections(http)
        self._number = 0

    def silent(self, why: str) -> Refusal:
        return Refusal("chain_unavailable", f"the node of {self.chain} {why}")

    async def post(self, path: str, body: object) -> Any:
        """The JSON of an answer, whatever its status."""
        url = f"{self._url}{path}"
        try:
            request = self._connections.here().stream(
                "POST", url, json=body, headers=self._headers, timeout=_SECONDS
            )
            async with request as answer:
                status, data = answer.status_code, bytearray()
                async for part in answer.aiter_bytes():
                    data += part
                    if len(data) > _MOST_ANSWER_BYTES:
                        raise self.silent(f"answers more than {_MOST_ANSWER_BYTES} bytes")
        except httpx.TimeoutException as error:
            sentence = f"the node of {self.chain} did not answer within {_SECONDS:g} s"
            raise Refusal("chain_timeout", sentence) from error
        except (httpx.HTTPError, OSError) as error:
            raise self.silent(f"does not answer ({type(error).__name__})") from None
        if status == _TOO_MANY:
            raise self.silent("asks for patience (HTTP 429)")
        try:
            return json.loads(bytes(data))
        except ValueError:
            raise self.silent(f"answers no JSON (HTTP {status})") from None

    async def call(self, method: str, *params: object, path: str = "") -> Any:
        """The result of JSON-RPC. Raises RpcRefusal for an error of the node's own."""
        self._number += 1
        body = {"jsonrpc": "2.0", "id": self._number, "method": method, "params": params}
        answer = await self.post(path, body)
        if not isinstance(answer, dict):
            raise self.silent(f"answers {method} with no object")
        error = answer.get("error")
        if error is None:
            if "result" not in answer:
                raise self.silent(f"answers {method} with no result")
            return answer["result"]
        words = str(error.get("message", error) if isinstance(error, dict) else error)
        code = error.get("code", 0) if isinstance(error, dict) else 0
        data = error.get("data") if isinstance(error, dict) else None
        raise RpcRefusal(code if isinstance(code, int) else 0, words[:_MOST_WORDS], data)

    async def must(self, method: str, *params: object, path: str = "") -> Any:
        """The same, where an error means that the node cannot serve us."""
        try:
            return await self.call(method, *params, path=path)
        except RpcRefusal as error:
            raise self.silent(f"refused {method}: {error}") from error

    async def aclose(self) -> None:
        await self._connections.aclose()


def unreadable(http: Http, what: str) -> Refusal:
    return http.silent(f"gives {what} that cannot be read")
