"""The market's REST interface.

    async with ParleyClient("https://market.example", key=key) as market:
        page = await market.list_rfqs(direction="sell_base")
"""

from ._operations import Operations


class ParleyClient(Operations):
    """One typed method an operation of the API; refusals are `ParleyApiError`.

    A call that is safe to repeat is tried three times. Each effect has an idempotency key of its
    own, so that a repeat does nothing twice. Give one yourself to repeat it after a crash.
    """
