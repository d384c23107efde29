"""Is what a node gives to sign exactly the release of one's own escrow, and nothing more?

Source: `packages/sdk/verify-release.ts`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..chains import derive_escrow, evm, tron
from ..chains.terms import ChainView, EscrowTerms, EvmView, TronView
from ..chains.typed_data import consent_text
from ..errors import VerificationError
from .checks import must_equal
from .material import Limits, Refund, verify_material
from .words import get


def verify_release(material: Mapping[str, Any], terms: EscrowTerms, view: ChainView) -> None:
    """Raises VerificationError otherwise. ``terms``: the verified ones of the leg that would pay
    this side, which gives up its claim by it.
    """
    if get(material, "sign") != "typed-data":
        verify_material(material, Refund(is_released=True), terms, view, Limits())
        return
    if isinstance(view, EvmView):
        text = consent_text(evm.PLAN, "GiveUpClaim", terms, view.deployment)
    elif isinstance(view, TronView):
        text = consent_text(tron.PLAN, "GiveUpClaim", terms, view.deployment)
    else:
        raise VerificationError("sign", f"for {view.family}", "typed-data")
    must_equal("family", view.family, get(material, "family"))
    must_equal("chain", terms.chain, get(material, "chain"))
    must_equal("escrow", derive_escrow(terms, view).address, get(material, "escrow"))
    if get(material, "typedData") != text:
        raise VerificationError("typedData", "the release of these terms", "another text")
