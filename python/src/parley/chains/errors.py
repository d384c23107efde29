"""Refusals before anything is compared: a stable code and one sentence with the numbers."""

from ..errors import ParleyError


class ChainError(ParleyError, ValueError):
    """``code`` is stable, such as ``bad_address`` or ``bad_transaction``."""

    def __init__(self, code: str, sentence: str) -> None:
        super().__init__(sentence)
        self.code = code


#: Longer than every address: the rest is not repeated.
_SHOWN_CHARACTERS = 60


def bad_address(text: str, why: str) -> ChainError:
    """The error for a text that is no address; ``why`` goes on after it."""
    if len(text) > _SHOWN_CHARACTERS:
        text = f"{text[:_SHOWN_CHARACTERS]}… ({len(text)} characters)"
    return ChainError("bad_address", f'"{text}" {why}')
