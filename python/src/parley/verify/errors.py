"""The market's answer is not what one's own terms come to. Never sign after this."""

from .words import text_of


class VerificationError(Exception):
    """``field`` is a path such as ``legs.b.escrow`` or ``txs[0].data``."""

    def __init__(self, field: str, expected: object, got: object) -> None:
        self.field = field
        self.expected = text_of(expected)
        self.got = text_of(got)
        super().__init__(f"{field} must be {self.expected}; the market says {self.got}")
