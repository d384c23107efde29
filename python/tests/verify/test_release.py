"""A release is signed only as these terms have it."""

from __future__ import annotations

import asyncio

import pytest

from parley._settle.nodes import WatchedEscrow
from parley.chains.terms import EvmView, TronView
from parley.nodes import EvmNode, TronNode
from parley.verify import VerificationError
from parley.verify.release import verify_release
from parley.verify.trade import VerifiedLeg

from .test_swaps import SWAPS, check
from .vectors import changed, view_of


def leg_on(family: str) -> tuple[VerifiedLeg, EvmView | TronView]:
    return next(
        (leg, view)
        for case in SWAPS
        for leg in (check(case).a, check(case).b)
        for view in map(view_of, case["views"])
        if view.chain == leg.chain
        and view.family == family
        and isinstance(view, (EvmView, TronView))
    )


@pytest.mark.parametrize("family", ["evm", "tron"])
def test_the_text_of_a_node_is_the_one_of_the_terms_and_no_other(family: str) -> None:
    leg, view = leg_on(family)
    assert leg.escrow is not None and leg.terms is not None
    url = "http://127.0.0.1:1"
    node = EvmNode(url, view) if isinstance(view, EvmView) else TronNode(url, view)
    watched = WatchedEscrow(leg.escrow.address, leg.terms, 1, 0)
    built = asyncio.run(node.build_release(watched))
    verify_release(built, leg.terms, view)
    for path in ("/chain", "/family", "/escrow", "/typedData/primaryType", "/typedData/message/id"):
        wrong = changed(built, [{"op": "replace", "path": path, "value": "another"}])
        with pytest.raises(VerificationError):
            verify_release(wrong, leg.terms, view)
