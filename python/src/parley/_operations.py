"""A method for each operation of docs/openapi.json.

Written from docs/openapi.json by `npm run -s node -- scripts/openapi.ts`: not edited by hand.
"""

from typing import Literal

from pydantic import TypeAdapter

from . import models as m
from ._http import Caller

_LIST_ASSET: TypeAdapter[m.ListedAsset | m.WaitingAsset] = TypeAdapter(m.ListedAsset | m.WaitingAsset)
_BUILD_FUND: TypeAdapter[m.FundReply] = TypeAdapter(m.FundReply)
_BUILD_CLAIM: TypeAdapter[m.ClaimReply] = TypeAdapter(m.ClaimReply)
_BUILD_REFUND: TypeAdapter[m.Material] = TypeAdapter(m.Material)


class Operations(Caller):
    """Each raises `ParleyApiError` where the market refuses: codes in docs/errors.md."""

    async def get_key_nonce(
        self,
    ) -> m.Nonce:
        """A nonce for minting a key. It is good once, for 5 minutes."""
        return await self._call(
            "GET",
            "/v1/keys/nonce",
            m.Nonce,
            needs_key=False,
        )

    async def mint_key(
        self,
        *,
        rail: Literal["evm", "tron", "bitcoin", "solana"],
        address: str,
        message: str,
        signature: str,
        idempotency_key: str | None = None,
    ) -> m.ApiKey:
        """Mint an API key by wallet signature. Whatever its scopes, a key reads all of its
        account, registers webhooks and broadcasts.

        rail: the family of its chain
        address: in any spelling; answers write the canonical one
        message: the signed text; what it must contain: docs/signing.md
        signature: evm, tron: hex; solana: base58 of 64 bytes, or of an off-chain envelope;
        bitcoin: base64 (BIP-322 simple); docs/signing.md
        """
        return await self._call(
            "POST",
            "/v1/keys",
            m.ApiKey,
            body=m.MintKey(
                rail=rail,
                address=address,
                message=message,
                signature=signature,
            ),
            idempotency_key=idempotency_key,
            needs_key=False,
            once=True,
        )

    async def get_me(
        self,
    ) -> m.Me:
        """The account of this key and its wallets."""
        return await self._call(
            "GET",
            "/v1/me",
            m.Me,
        )

    async def get_wallet_nonce(
        self,
        *,
        purpose: Literal["link", "authorize"] | None = None,
    ) -> m.Nonce:
        """A nonce for proving or vouching for a wallet. It is good once, for 10 minutes.

        purpose: link: proving; authorize: vouching
        """
        return await self._call(
            "GET",
            "/v1/wallets/nonce",
            m.Nonce,
            query={
                "purpose": purpose,
            },
        )

    async def prove_evm_wallet(
        self,
        *,
        address: str,
        message: str,
        signature: str,
        authorization: m.Authorization | None = None,
        idempotency_key: str | None = None,
    ) -> m.ProvenWallet:
        """Prove a wallet of the family evm. With it the account may trade; it may receive too
        where a login wallet has signed for it.

        address: in any spelling; answers write the canonical one
        message: the signed text; what it must contain: docs/signing.md
        signature: evm, tron: hex; solana: base58 of 64 bytes, or of an off-chain envelope;
        bitcoin: base64 (BIP-322 simple); docs/signing.md
        authorization: The same of a login wallet.
        """
        return await self._call(
            "POST",
            "/v1/wallets/evm",
            m.ProvenWallet,
            body=m.ProveWallet(
                address=address,
                message=message,
                signature=signature,
                authorization=authorization,
            ),
            idempotency_key=idempotency_key,
        )

    async def prove_tron_wallet(
        self,
        *,
        address: str,
        message: str,
        signature: str,
        authorization: m.Authorization | None = None,
        idempotency_key: str | None = None,
    ) -> m.ProvenWallet:
        """Prove a wallet of the family tron. With it the account may trade; it may receive too
        where a login wallet has signed for it.

        address: in any spelling; answers write the canonical one
        message: the signed text; what it must contain: docs/signing.md
        signature: evm, tron: hex; solana: base58 of 64 bytes, or of an off-chain envelope;
        bitcoin: base64 (BIP-322 simple); docs/signing.md
        authorization: The same of a login wallet.
        """
        return await self._call(
            "POST",
            "/v1/wallets/tron",
            m.ProvenWallet,
            body=m.ProveWallet(
                address=address,
                message=message,
                signature=signature,
                authorization=authorization,
            ),
            idempotency_key=idempotency_key,
        )

    async def prove_bitcoin_wallet(
        self,
        *,
        address: str,
        message: str,
        signature: str,
        authorization: m.Authorization | None = None,
        idempotency_key: str | None = None,
    ) -> m.ProvenWallet:
        """Prove a wallet of the family bitcoin. With it the account may trade; it may receive
        too where a login wallet has signed for it.

        address: in any spelling; answers write the canonical one
        message: the signed text; what it must contain: docs/signing.md
        signature: evm, tron: hex; solana: base58 of 64 bytes, or of an off-chain envelope;
        bitcoin: base64 (BIP-322 simple); docs/signing.md
        authorization: The same of a login wallet.
        """
        return await self._call(
            "POST",
            "/v1/wallets/bitcoin",
            m.ProvenWallet,
            body=m.ProveWallet(
                address=address,
                message=message,
                signature=signature,
                authorization=authorization,
            ),
            idempotency_key=idempotency_key,
        )

    async def prove_solana_wallet(
        self,
        *,
        address: str,
        message: str,
        signature: str,
        authorization: m.Authorization | None = None,
        idempotency_key: str | None = None,
    ) -> m.ProvenWallet:
        """Prove a wallet of the family solana. With it the account may trade; it may receive
        too where a login wallet has signed for it.

        address: in any spelling; answers write the canonical one
        message: the signed text; what it must contain: docs/signing.md
        signature: evm, tron: hex; solana: base58 of 64 bytes, or of an off-chain envelope;
        bitcoin: base64 (BIP-322 simple); docs/signing.md
        authorization: The same of a login wallet.
        """
        return await self._call(
            "POST",
            "/v1/wallets/solana",
            m.ProvenWallet,
            body=m.ProveWallet(
                address=address,
                message=message,
                signature=signature,
                authorization=authorization,
            ),
            idempotency_key=idempotency_key,
        )

    async def remove_wallet(
        self,
        address: str,
        *,
        idempotency_key: str | None = None,
    ) -> m.RemovedWallet:
        """Remove the proof of a wallet. A login address has none, and one that is paid stays.

        address: in any spelling
        """
        return await self._call(
            "DELETE",
            f"/v1/wallets/{self._segment(address)}",
            m.RemovedWallet,
            idempotency_key=idempotency_key,
        )

    async def list_assets(
        self,
        *,
        chain: str | None = None,
        symbol: str | None = None,
        address: str | None = None,
        enabled: bool | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> m.AssetList:
        """Assets, oldest first. The filters are taken together.

        chain: of this chain key
        symbol: with this symbol, in any case
        address: of this contract or mint
        enabled: `true`: open to trade; `false`: closed, halted or delisted
        limit: how many at most
        cursor: `nextCursor` of the page before
        """
        return await self._call(
            "GET",
            "/v1/assets",
            m.AssetList,
            query={
                "chain": chain,
                "symbol": symbol,
                "address": address,
                "enabled": enabled,
                "limit": limit,
                "cursor": cursor,
            },
        )

    async def list_asset(
        self,
        *,
        chain: str,
        address: str,
        idempotency_key: str | None = None,
    ) -> m.ListedAsset | m.WaitingAsset:
        """Ask for a token to be listed, or a closed one to be looked at again. What is checked:
        docs/listing.md. Needs the scope `taker`.

        chain: chain key, such as `base`
        address: token contract or mint
        """
        return await self._call(
            "POST",
            "/v1/assets",
            _LIST_ASSET,
            body=m.ListAssetBody(
                chain=chain,
                address=address,
            ),
            idempotency_key=idempotency_key,
        )

    async def list_assets_openly(
        self,
        *,
        chain: str | None = None,
        symbol: str | None = None,
        address: str | None = None,
        enabled: bool | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> m.AssetList:
        """Assets, oldest first. The filters are taken together. Needs no key.

        chain: of this chain key
        symbol: with this symbol, in any case
        address: of this contract or mint
        enabled: `true`: open to trade; `false`: closed, halted or delisted
        limit: how many at most
        cursor: `nextCursor` of the page before
        """
        return await self._call(
            "GET",
            "/market/assets",
            m.AssetList,
            query={
                "chain": chain,
                "symbol": symbol,
                "address": address,
                "enabled": enabled,
                "limit": limit,
                "cursor": cursor,
            },
            needs_key=False,
        )

    async def get_rules(
        self,
    ) -> m.MarketRules:
        """The formula of all times, and each chain’s contract and policy. Compare them with
        yours. And how many requests an account has.
        """
        return await self._call(
            "GET",
            "/v1/rules",
            m.MarketRules,
        )

    async def get_pair(
        self,
        *,
        direction: Literal["sell_base", "buy_base"],
        base_asset_id: str,
        quote_asset_id: str,
        base_amount: int | None = None,
        quote_amount: int | None = None,
    ) -> m.PairTerms:
        """What a trade would mean before anything is asked: who funds first, times, fees and
        the least amounts. By `rules` and fees of the chains, which you can read by yourself.

        direction: what the taker does with the base asset
        base_asset_id: UUID of the base asset
        quote_asset_id: UUID of the quote asset
        base_amount: in base units; high amounts wait longer
        quote_amount: in base units; high amounts wait longer
        """
        return await self._call(
            "GET",
            "/v1/pairs",
            m.PairTerms,
            query={
                "direction": direction,
                "baseAssetId": base_asset_id,
                "quoteAssetId": quote_asset_id,
                "baseAmount": base_amount,
                "quoteAmount": quote_amount,
            },
        )

    async def get_pair_openly(
        self,
        *,
        direction: Literal["sell_base", "buy_base"],
        base_asset_id: str,
        quote_asset_id: str,
        base_amount: int | None = None,
        quote_amount: int | None = None,
    ) -> m.PairTerms:
        """What a trade would mean before anything is asked: who funds first, times, fees and
        the least amounts. By `rules` and fees of the chains, which you can read by yourself.
        Needs no key.

        direction: what the taker does with the base asset
        base_asset_id: UUID of the base asset
        quote_asset_id: UUID of the quote asset
        base_amount: in base units; high amounts wait longer
        quote_amount: in base units; high amounts wait longer
        """
        return await self._call(
            "GET",
            "/market/pairs",
            m.PairTerms,
            query={
                "direction": direction,
                "baseAssetId": base_asset_id,
                "quoteAssetId": quote_asset_id,
                "baseAmount": base_amount,
                "quoteAmount": quote_amount,
            },
            needs_key=False,
        )

    async def get_pair_price(
        self,
        *,
        base_asset_id: str,
        quote_asset_id: str,
    ) -> m.PairPrice:
        """Public agreements of the last day that both sides funded, and the middle one by
        price. Whoever trades with itself moves it for the fees: a hint, no quote.

        base_asset_id: UUID of the base asset
        quote_asset_id: UUID of the quote asset
        """
        return await self._call(
            "GET",
            "/v1/pairs/price",
            m.PairPrice,
            query={
                "baseAssetId": base_asset_id,
                "quoteAssetId": quote_asset_id,
            },
        )

    async def get_pair_price_openly(
        self,
        *,
        base_asset_id: str,
        quote_asset_id: str,
    ) -> m.PairPrice:
        """Public agreements of the last day that both sides funded, and the middle one by
        price. Whoever trades with itself moves it for the fees: a hint, no quote. Needs no
        key.

        base_asset_id: UUID of the base asset
        quote_asset_id: UUID of the quote asset
        """
        return await self._call(
            "GET",
            "/market/pairs/price",
            m.PairPrice,
            query={
                "baseAssetId": base_asset_id,
                "quoteAssetId": quote_asset_id,
            },
            needs_key=False,
        )

    async def get_market_status(
        self,
    ) -> m.MarketStatus:
        """Chains, halts, and whether swaps are agreed now."""
        return await self._call(
            "GET",
            "/market/status",
            m.MarketStatus,
            needs_key=False,
        )

    async def list_rfqs(
        self,
        *,
        direction: Literal["sell_base", "buy_base"] | None = None,
        base_asset_id: str | None = None,
        quote_asset_id: str | None = None,
        min_settled: int | None = None,
        addressed: bool | None = None,
        own: bool | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> m.RfqList:
        """The book: public RFQs, newest first. With `addressed` private ones for you instead,
        with `own` those that you posted.

        direction: what the creator does with the base asset
        base_asset_id: UUID of the base asset
        quote_asset_id: UUID of the quote asset
        min_settled: those of accounts with at least so many settled swaps
        addressed: instead: private RFQs for an address that you hold
        own: instead: your own that have not ended, private ones too
        limit: how many at most
        cursor: `nextCursor` of the page before
        """
        return await self._call(
            "GET",
            "/v1/rfqs",
            m.RfqList,
            query={
                "direction": direction,
                "baseAssetId": base_asset_id,
                "quoteAssetId": quote_asset_id,
                "minSettled": min_settled,
                "addressed": addressed,
                "own": own,
                "limit": limit,
                "cursor": cursor,
            },
        )

    async def create_rfq(
        self,
        *,
        direction: Literal["sell_base", "buy_base"],
        base_asset_id: str,
        base_amount: int,
        quote_asset_id: str,
        ttl_seconds: int,
        visibility: Literal["public", "private"] | None = None,
        ask_amount: int | None = None,
        target_address: str | None = None,
        min_settled: int | None = None,
        idempotency_key: str | None = None,
    ) -> m.RfqReply:
        """Ask for quotes. Makers see a public RFQ on the feed at once; it ends by itself after
        its lifetime. Needs the scope `taker`.

        direction: what the creator does with the base asset
        base_asset_id: UUID of the base asset
        base_amount: of the base asset, in base units
        quote_asset_id: UUID of the quote asset
        ttl_seconds: lifetime in seconds
        visibility: who may see and quote it; default: public
        ask_amount: the asking price, in base units of the quote asset
        target_address: with `private` only: who holds it may quote, nobody else
        min_settled: takes quotes of accounts with at least so many settled swaps
        """
        return await self._call(
            "POST",
            "/v1/rfqs",
            m.RfqReply,
            body=m.CreateRfq(
                direction=direction,
                base_asset_id=base_asset_id,
                base_amount=base_amount,
                quote_asset_id=quote_asset_id,
                ttl_seconds=ttl_seconds,
                visibility=visibility,
                ask_amount=ask_amount,
                target_address=target_address,
                min_settled=min_settled,
            ),
            idempotency_key=idempotency_key,
        )

    async def get_rfq(
        self,
        id: str,
    ) -> m.Rfq:
        """One RFQ. Whoever has the link may read a private one.

        id: UUID of the RFQ
        """
        return await self._call(
            "GET",
            f"/v1/rfqs/{self._segment(id)}",
            m.Rfq,
        )

    async def cancel_rfq(
        self,
        id: str,
        *,
        idempotency_key: str | None = None,
    ) -> m.RfqReply:
        """Take an RFQ off the market. Its open threads close. Needs the scope `taker`.

        id: UUID of the RFQ
        """
        return await self._call(
            "POST",
            f"/v1/rfqs/{self._segment(id)}/cancel",
            m.RfqReply,
            idempotency_key=idempotency_key,
        )

    async def list_threads(
        self,
        id: str,
        *,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> m.ThreadList:
        """The threads of an RFQ, newest activity first. Its creator sees all, a maker its own.

        id: UUID of the RFQ
        limit: how many at most
        cursor: `nextCursor` of the page before
        """
        return await self._call(
            "GET",
            f"/v1/rfqs/{self._segment(id)}/threads",
            m.ThreadList,
            query={
                "limit": limit,
                "cursor": cursor,
            },
        )

    async def list_quotes(
        self,
        *,
        role: Literal["maker", "taker"] | None = None,
        status: Literal["open", "agreed", "closed"] | None = None,
        rfq_id: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> m.ThreadList:
        """Your threads by side, status and RFQ, newest first. Without side and status: your
        open quotes.

        role: your side of them; `maker` unless named
        status: where they stand; `open` unless named
        rfq_id: UUID of the RFQ that they are on; of any unless named
        limit: how many at most
        cursor: `nextCursor` of the page before
        """
        return await self._call(
            "GET",
            "/v1/threads",
            m.ThreadList,
            query={
                "role": role,
                "status": status,
                "rfqId": rfq_id,
                "limit": limit,
                "cursor": cursor,
            },
        )

    async def get_thread(
        self,
        id: str,
    ) -> m.Thread:
        """One thread. Only its two parties see it.

        id: UUID of the thread
        """
        return await self._call(
            "GET",
            f"/v1/threads/{self._segment(id)}",
            m.Thread,
        )

    async def get_other_record(
        self,
        id: str,
    ) -> m.AccountRecord:
        """How the other side of this thread kept what it agreed to in the last 29 days. It
        moves once a day.

        id: UUID of the thread
        """
        return await self._call(
            "GET",
            f"/v1/threads/{self._segment(id)}/record",
            m.AccountRecord,
        )

    async def propose_price(
        self,
        id: str,
        *,
        quote_amount: int,
        valid_for_seconds: int | None = None,
        idempotency_key: str | None = None,
    ) -> m.ThreadReply:
        """Name another price. Both acceptances end.

        id: UUID of the thread
        quote_amount: the price, in base units of the quote asset
        valid_for_seconds: how long this price holds, from its receipt; left out: as long as
        the RFQ
        """
        return await self._call(
            "POST",
            f"/v1/threads/{self._segment(id)}/propose",
            m.ThreadReply,
            body=m.ProposeBody(
                quote_amount=quote_amount,
                valid_for_seconds=valid_for_seconds,
            ),
            idempotency_key=idempotency_key,
        )

    async def accept_price(
        self,
        id: str,
        *,
        quote_amount: int,
        hashlock: str | None = None,
        rules: m.AcceptedRules | None = None,
        idempotency_key: str | None = None,
    ) -> m.AcceptReply:
        """Commit to the current price. When both sides have, the swap exists. The initiator
        gives the hashlock; its secret stays with it.

        id: UUID of the thread
        quote_amount: the price as you read it; another one is refused
        hashlock: SHA-256 of the 32-byte secret; from the initiator, and from nobody else
        rules: those of the thread as you read it: accepts under no others
        """
        return await self._call(
            "POST",
            f"/v1/threads/{self._segment(id)}/accept",
            m.AcceptReply,
            body=m.AcceptBody(
                quote_amount=quote_amount,
                hashlock=hashlock,
                rules=rules,
            ),
            idempotency_key=idempotency_key,
        )

    async def withdraw_quote(
        self,
        id: str,
        *,
        idempotency_key: str | None = None,
    ) -> m.ThreadReply:
        """Take your quote back. The thread is closed until you quote the RFQ again. Refused
        once both have accepted, and while your own acceptance stands. Needs the scope
        `maker`.

        id: UUID of the thread
        """
        return await self._call(
            "POST",
            f"/v1/threads/{self._segment(id)}/withdraw",
            m.ThreadReply,
            idempotency_key=idempotency_key,
        )

    async def withdraw_quotes(
        self,
        *,
        after: str | None = None,
        idempotency_key: str | None = None,
    ) -> m.WithdrawReply:
        """Take back all your open quotes, oldest first, up to 500 in one request. Those that
        your own acceptance binds you to stay. Needs the scope `maker`.

        after: `next` of the answer before; left out: from the oldest on
        """
        return await self._call(
            "POST",
            "/v1/quotes/withdraw",
            m.WithdrawReply,
            body=m.WithdrawBody(
                after=after,
            ),
            idempotency_key=idempotency_key,
        )

    async def quote_rfq(
        self,
        id: str,
        *,
        quote_amount: int,
        valid_for_seconds: int | None = None,
        unless_accepted: bool | None = None,
        idempotency_key: str | None = None,
    ) -> m.ThreadReply:
        """Quote a price. The first one opens a thread; later ones move its price. Needs the
        scope `maker`.

        id: UUID of the RFQ
        quote_amount: the price, in base units of the quote asset
        valid_for_seconds: how long this price holds, from its receipt; left out: as long as
        the RFQ
        unless_accepted: refused while the taker's acceptance of the price before stands
        """
        return await self._call(
            "POST",
            f"/v1/rfqs/{self._segment(id)}/quotes",
            m.ThreadReply,
            body=m.QuoteBody(
                quote_amount=quote_amount,
                valid_for_seconds=valid_for_seconds,
                unless_accepted=unless_accepted,
            ),
            idempotency_key=idempotency_key,
        )

    async def quote_many(
        self,
        *,
        quotes: list[m.QuoteOfMany],
        idempotency_key: str | None = None,
    ) -> m.QuotesReply:
        """Quote up to 50 RFQs in one request. Each quote has an outcome of its own. An
        Idempotency-Key is for all of them together. Needs the scope `maker`.

        quotes: 1 to 50 quotes, each on another RFQ
        """
        return await self._call(
            "POST",
            "/v1/quotes",
            m.QuotesReply,
            body=m.QuotesBody(
                quotes=quotes,
            ),
            idempotency_key=idempotency_key,
        )

    async def list_levels(
        self,
        *,
        direction: Literal["sell_base", "buy_base"],
        base_asset_id: str,
        quote_asset_id: str,
        base_amount: int | None = None,
        min_settled: int | None = None,
        maker_id: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> m.LevelList:
        """Prices at which makers say that they would quote, the best for the taker first. They
        are published by choice and bind nobody: ask for quotes.

        direction: what the taker does with the base asset: `sell_base` is the maker’s bid,
        `buy_base` its ask
        base_asset_id: UUID of the base asset
        quote_asset_id: UUID of the quote asset
        base_amount: only levels that are for so much of the base asset
        min_settled: only of makers with at least so many settled swaps
        maker_id: only of this account
        limit: how many at most
        cursor: `nextCursor` of the page before
        """
        return await self._call(
            "GET",
            "/v1/levels",
            m.LevelList,
            query={
                "direction": direction,
                "baseAssetId": base_asset_id,
                "quoteAssetId": quote_asset_id,
                "baseAmount": base_amount,
                "minSettled": min_settled,
                "makerId": maker_id,
                "limit": limit,
                "cursor": cursor,
            },
        )

    async def publish_levels(
        self,
        *,
        base_asset_id: str,
        quote_asset_id: str,
        levels: list[m.WantedLevel],
        idempotency_key: str | None = None,
    ) -> m.PublishedLevels:
        """Publish the prices at which you would quote a pair, in place of those before.
        Everybody reads them with your account and standing. They bind nobody. Needs the
        scope `maker`.

        base_asset_id: UUID of the base asset
        quote_asset_id: UUID of the quote asset
        levels: all levels of yours on this pair, in place of those before; none withdraws
        them
        """
        return await self._call(
            "POST",
            "/v1/levels",
            m.PublishedLevels,
            body=m.PublishLevels(
                base_asset_id=base_asset_id,
                quote_asset_id=quote_asset_id,
                levels=levels,
            ),
            idempotency_key=idempotency_key,
        )

    async def list_levels_openly(
        self,
        *,
        direction: Literal["sell_base", "buy_base"],
        base_asset_id: str,
        quote_asset_id: str,
        base_amount: int | None = None,
        min_settled: int | None = None,
        maker_id: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> m.LevelList:
        """Prices at which makers say that they would quote, the best for the taker first. They
        are published by choice and bind nobody: ask for quotes. Needs no key.

        direction: what the taker does with the base asset: `sell_base` is the maker’s bid,
        `buy_base` its ask
        base_asset_id: UUID of the base asset
        quote_asset_id: UUID of the quote asset
        base_amount: only levels that are for so much of the base asset
        min_settled: only of makers with at least so many settled swaps
        maker_id: only of this account
        limit: how many at most
        cursor: `nextCursor` of the page before
        """
        return await self._call(
            "GET",
            "/market/levels",
            m.LevelList,
            query={
                "direction": direction,
                "baseAssetId": base_asset_id,
                "quoteAssetId": quote_asset_id,
                "baseAmount": base_amount,
                "minSettled": min_settled,
                "makerId": maker_id,
                "limit": limit,
                "cursor": cursor,
            },
            needs_key=False,
        )

    async def withdraw_levels(
        self,
        *,
        idempotency_key: str | None = None,
    ) -> m.WithdrawnLevels:
        """Withdraw all levels of yours, of every pair. Needs the scope `maker`."""
        return await self._call(
            "POST",
            "/v1/levels/withdraw",
            m.WithdrawnLevels,
            idempotency_key=idempotency_key,
        )

    async def list_swaps(
        self,
        *,
        status: Literal["agreed", "initiator_funded", "counterparty_funded", "initiator_claimed", "counterparty_claimed", "refunded", "half_settled", "expired"] | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> m.SwapPage:
        """Your swaps, newest first. Those of both roles.

        status: of this status
        limit: how many at most
        cursor: `nextCursor` of the page before
        """
        return await self._call(
            "GET",
            "/v1/swaps",
            m.SwapPage,
            query={
                "status": status,
                "limit": limit,
                "cursor": cursor,
            },
        )

    async def get_swap(
        self,
        id: str,
    ) -> m.Swap:
        """One of your swaps; the authoritative state. `next` says what each side can do now,
        and until when.

        id: UUID of the swap
        """
        return await self._call(
            "GET",
            f"/v1/swaps/{self._segment(id)}",
            m.Swap,
        )

    async def set_address(
        self,
        id: str,
        *,
        chain: str,
        address: str,
        leg: Literal["a", "b"] | None = None,
        key_signature: str | None = None,
        idempotency_key: str | None = None,
    ) -> m.SwapReply:
        """Your address on one chain of the swap. It is paid where you receive, and refunded
        where you fund.

        id: UUID of the swap
        chain: a chain key of the swap
        address: where you receive or fund on it; on Bitcoin a compressed public key, 66 hex
        leg: the leg on that chain; another one is refused
        key_signature: a key of a Taproot wallet: base64 ECDSA signature (BIP 137) by exactly
        that key over "<product> - use this key: <pubkey> for swap <id>"
        """
        return await self._call(
            "POST",
            f"/v1/swaps/{self._segment(id)}/address",
            m.SwapReply,
            body=m.SetAddress(
                chain=chain,
                leg=leg,
                address=address,
                key_signature=key_signature,
            ),
            idempotency_key=idempotency_key,
        )

    async def build_fund(
        self,
        id: str,
        leg: Literal["a", "b"],
        *,
        fee_rate: float | None = None,
        allowance: Literal["exact", "standing"] | None = None,
        sign: Literal["authorization"] | None = None,
        relay: bool | None = None,
        signature: str | None = None,
        escrow: str | None = None,
        idempotency_key: str | None = None,
    ) -> m.FundReply:
        """Unsigned funding of your leg, or its sending by your signature (`relay`). Ways to
        fund: docs/funding.md.

        id: UUID
        leg: `a` (funded by the maker) or `b` (by the taker)
        fee_rate: Bitcoin: sat per vbyte instead of the estimate, from 1 to 500 and within
        the narrower bounds of now; else `bad_fee_rate`, with the bounds. On other chains,
        and of a funding, which your wallet pays for, it is refused out of the same numbers
        and is else of no effect
        allowance: EVM: what an approval or a permit lets the escrow contract take: the
        amount (default), or any number of later fundings too
        sign: EVM: gives the text of an authorization too, where the token takes one. From
        then on the leg does not move until the text can open nothing any more
        relay: EVM, of a token: the market sends the funding that you signed and pays its
        gas, where it does so (`relay` of the alternative) and within its caps
        signature: of the authorization, by the refund address's key: 65 bytes in hex with 0x
        escrow: what was signed for
        """
        return await self._call(
            "POST",
            f"/v1/swaps/{self._segment(id)}/legs/{self._segment(leg)}/fund",
            _BUILD_FUND,
            query={
                "feeRate": fee_rate,
                "allowance": allowance,
                "sign": sign,
            },
            body=m.Fund(
                relay=relay,
                signature=signature,
                escrow=escrow,
            ),
            idempotency_key=idempotency_key,
        )

    async def build_claim(
        self,
        id: str,
        leg: Literal["a", "b"],
        *,
        secret: str,
        fee_rate: float | None = None,
        relay: bool | None = None,
        idempotency_key: str | None = None,
    ) -> m.ClaimReply:
        """Unsigned claim of the leg that pays you, or its sending (`relay`). It reveals the
        secret: check the other leg first (docs/dont-trust-verify.md).

        id: UUID
        leg: `a` (funded by the maker) or `b` (by the taker)
        secret: the secret: 32 bytes, hex
        fee_rate: Bitcoin: sat per vbyte instead of the estimate, from 1 to 500 and within
        the narrower bounds of now; else `bad_fee_rate`, with the bounds. On other chains,
        and of a funding, which your wallet pays for, it is refused out of the same numbers
        and is else of no effect
        relay: the market sends the claim and pays its gas, where it has a gas key (not
        Bitcoin); refused where landing it cannot be guaranteed
        """
        return await self._call(
            "POST",
            f"/v1/swaps/{self._segment(id)}/legs/{self._segment(leg)}/claim",
            _BUILD_CLAIM,
            query={
                "feeRate": fee_rate,
            },
            body=m.Claim(
                secret=secret,
                relay=relay,
            ),
            idempotency_key=idempotency_key,
        )

    async def build_refund(
        self,
        id: str,
        leg: Literal["a", "b"],
        *,
        fee_rate: float | None = None,
        escrow: str | None = None,
        idempotency_key: str | None = None,
    ) -> m.Material:
        """Unsigned refund of your leg after its timelock, or of an escrow that it moved off.

        id: UUID
        leg: `a` (funded by the maker) or `b` (by the taker)
        fee_rate: Bitcoin: sat per vbyte instead of the estimate, from 1 to 500 and within
        the narrower bounds of now; else `bad_fee_rate`, with the bounds. On other chains,
        and of a funding, which your wallet pays for, it is refused out of the same numbers
        and is else of no effect
        escrow: one that this leg moved off after its address changed
        """
        return await self._call(
            "POST",
            f"/v1/swaps/{self._segment(id)}/legs/{self._segment(leg)}/refund",
            _BUILD_REFUND,
            query={
                "feeRate": fee_rate,
                "escrow": escrow,
            },
            idempotency_key=idempotency_key,
        )

    async def schedule_refunds(
        self,
        id: str,
        leg: Literal["a", "b"],
        *,
        transactions: list[str],
        escrow: str | None = None,
        idempotency_key: str | None = None,
    ) -> m.ScheduledReply:
        """Bitcoin: signed refunds of your leg at rising fees. They are kept, and sent when they
        are due: docs/bitcoin-fees.md.

        id: UUID
        leg: `a` (funded by the maker) or `b` (by the taker)
        transactions: signed refunds of one escrow in hex, the lowest fee first; they spend
        what is as confirmed as the leg wants (`requiredConfirmations`)
        escrow: one that this leg moved off after its address changed
        """
        return await self._call(
            "POST",
            f"/v1/swaps/{self._segment(id)}/legs/{self._segment(leg)}/refund/scheduled",
            m.ScheduledReply,
            body=m.ScheduleRefunds(
                transactions=transactions,
                escrow=escrow,
            ),
            idempotency_key=idempotency_key,
        )

    async def broadcast(
        self,
        *,
        chain: str,
        signed: str | m.SignedPsbt | m.SignedPsbtOfOne | m.SignedTron,
        idempotency_key: str | None = None,
    ) -> m.BroadcastReply:
        """Send a signed transaction. It passes the same gates as its building; on 504 the
        header names the txid to look up.

        chain: a family (evm, tron, bitcoin, solana) or a chain key
        signed: EVM, Bitcoin: raw transaction in hex; Bitcoin also a PSBT with its
        signatures; Solana: base64; TRON: the signed transaction as wallets give it
        """
        return await self._call(
            "POST",
            "/v1/tx/broadcast",
            m.BroadcastReply,
            body=m.Broadcast(
                chain=chain,
                signed=signed,
            ),
            idempotency_key=idempotency_key,
        )

    async def list_webhooks(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> m.WebhookPage:
        """Your webhooks, newest first. Each with how its last delivery went.

        limit: how many at most
        cursor: `nextCursor` of the page before
        """
        return await self._call(
            "GET",
            "/v1/webhooks",
            m.WebhookPage,
            query={
                "limit": limit,
                "cursor": cursor,
            },
        )

    async def register_webhook(
        self,
        *,
        url: str,
        events: list[m.WebhookEventName] | None = None,
        idempotency_key: str | None = None,
    ) -> m.RegisteredWebhook:
        """Where your events are sent. The secret that signs them is given once.

        url: https, at most 2 048 characters
        events: left out or empty = all of them, but those that only who names them gets
        """
        return await self._call(
            "POST",
            "/v1/webhooks",
            m.RegisteredWebhook,
            body=m.RegisterWebhook(
                url=url,
                events=events,
            ),
            idempotency_key=idempotency_key,
        )

    async def delete_webhook(
        self,
        id: str,
        *,
        idempotency_key: str | None = None,
    ) -> m.WebhookRemoved:
        """Remove a webhook. What was on its way to it is given up.

        id: UUID of the webhook
        """
        return await self._call(
            "DELETE",
            f"/v1/webhooks/{self._segment(id)}",
            m.WebhookRemoved,
            idempotency_key=idempotency_key,
        )

    async def ping_webhook(
        self,
        id: str,
        *,
        idempotency_key: str | None = None,
    ) -> m.Pinged:
        """Send a test delivery at once, and say whether a 2xx came.

        id: UUID of the webhook
        """
        return await self._call(
            "POST",
            f"/v1/webhooks/{self._segment(id)}/ping",
            m.Pinged,
            idempotency_key=idempotency_key,
        )
