"""The sentences for an address where no market answers: what was asked, what came, and what to
change.
"""

import errno
import json
import re
import socket
import ssl
from collections.abc import Iterator

import httpx

_PAGE = re.compile(rb"\s*(<!doctype|<html)", re.IGNORECASE)


def asked_at(request: httpx.Request) -> str:
    """The method and the address of a request, without its query."""
    return f"{request.method} {request.url.copy_with(query=None)}"


def why_unreached(error: BaseException, is_tls: bool) -> str:
    """Why a request failed, by the cause that the system or TLS gave."""
    for each in _causes(error):
        if isinstance(each, ssl.SSLCertVerificationError):
            return (
                f"its certificate is not trusted for this name ({each.verify_message}). "
                "http=httpx.AsyncClient(verify=…) brings an authority of your own"
            )
        if isinstance(each, ssl.SSLError):
            return f"it speaks no TLS, or cut it off. Does the address begin with http://? ({each.reason})"
        if isinstance(each, socket.gaierror):
            return f"no machine has this name. Is it written as it should be? ({each.strerror})"
        if isinstance(each, OSError) and each.errno == errno.ECONNREFUSED:
            return "nothing listens there. Is the market running, and at this port?"
    if isinstance(error, httpx.ConnectError) and "attempts failed" in str(error):
        return "nothing listens there. Is the market running, and at this port?"
    if isinstance(error, httpx.RemoteProtocolError) and not is_tls:
        return (
            "the connection was closed, or it speaks no HTTP. "
            f"Does the address begin with https://? ({error})"
        )
    return str(error) or type(error).__name__


def _causes(error: BaseException) -> Iterator[BaseException]:
    each: BaseException | None = error
    for _ in range(10):
        if each is None:
            return
        yield each
        each = each.__cause__ or each.__context__


def leads_elsewhere(request: httpx.Request, to: str | None) -> str:
    """A redirection. The origin of the other address alone is shown: the rest could be any words."""
    where = "another address"
    try:
        if to is not None:
            other = request.url.join(to)
            where = f"{other.scheme}://{other.netloc.decode('ascii')}"
    except (httpx.InvalidURL, ValueError):
        pass
    return (
        f"{asked_at(request)} leads to {where}, and a key is not carried there. "
        "Give the address of the market itself"
    )


def why_no_market(text: bytes) -> str | None:
    """The words for an answer that is no market's, else None."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return "a web page" if _PAGE.match(text) else "no JSON"
    if not isinstance(value, dict):
        return "other JSON"
    return "JSON-RPC, as a chain's node does" if "jsonrpc" in value else None


def is_it_there(base_url: str) -> str:
    """Asked of whoever named the address."""
    url = httpx.URL(base_url)
    if url.path in ("", "/"):
        return f"Is {base_url} the market's address?"
    origin = f"{url.scheme}://{url.netloc.decode('ascii')}"
    return f"Is {base_url} the market's address, or is it {origin} alone?"
