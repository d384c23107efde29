// The market's REST interface, one typed function an endpoint; refusals are ParleyApiError.

import type { Signed } from '@parley/chains/interface/material.ts';
import type { Family } from '@parley/core/families.ts';
import type { Secret } from '@parley/core/hashlock.ts';
import type { LegName } from '@parley/core/trade.ts';
import { ParleyApiError } from './errors.ts';
import type { Operations, ProposeBody, QuoteBody, RelayedClaim } from './generated.ts';
import { defaultProductName, type HttpOptions, keyText } from './http.ts';
import { type BodyOf, type CallOptions, operationsOf, type QueryOf } from './operations.ts';
import type { Built, WebhookEvent } from './types.ts';
import { mustBeAddress } from './wrong-address.ts';

export type { CallOptions } from './operations.ts';

type Query<K extends keyof Operations> = QueryOf<Operations, K>;
type Body<K extends keyof Operations> = BodyOf<Operations, K>;
/** EVM tokens. */
export type FundQuery = Omit<Query<'POST /v1/swaps/{id}/legs/{leg}/fund'>, 'feeRate'>;
export type PageOptions = Query<'GET /v1/webhooks'>;
export type { QuoteOfMany } from './generated.ts';

/** Any text as an event: a newer market has more of them. */
type Registration = { url: string; events?: readonly (WebhookEvent | (string & {}))[] };

export type ParleyClient = ReturnType<typeof parleyClient>;

/** Operations that the market answers without a key too, at another path. */
const open = /^GET \/v1\/(?:assets|levels|pairs(?:\/(?:history|list|price))?)$/;

/** The operation that a client without a key asks. Throws ParleyApiError `key_missing` where no market could answer. */
function withoutKey(operation: string, maySign: boolean): string {
  if (open.test(operation)) return operation.replace('/v1/', '/market/');
  if (maySign || / \/market\/|\/v1\/keys(\/nonce)?$/.test(operation)) return operation;
  const how = 'give parleyClient a `key`, which `mintKey` of @parley/sdk/keys makes';
  const message = `${operation} needs an API key: ${how}. Nothing was asked`;
  throw new ParleyApiError({ status: 401, code: 'key_missing', message });
}

/**
 * A client of the market at `baseUrl`, such as `http://127.0.0.1:8080`. Without a `key` it makes
 * the public calls: `assets`, `pairs`, `pair`, `pairPrice`, `pairHistory`, `levels`, `status` and
 * what mints a key. Throws TypeError for a `baseUrl` that is none, or is plain http of another
 * machine without `allowHttp`, and for a key that no header carries.
 */
export function parleyClient(options: HttpOptions) {
  // A `fetch` of one's own may resolve addresses, and sign.
  const maySign = options.fetch !== undefined;
  if (!maySign) mustBeAddress(options.baseUrl, options.allowHttp ?? false);
  const clock: { aheadSeconds: number | null } = { aheadSeconds: null };
  const heardClock = (aheadSeconds: number) => {
    clock.aheadSeconds = aheadSeconds;
    options.heardClock?.(aheadSeconds);
  };
  const key = options.key === undefined ? {} : { key: keyText(options.key) };
  const given = { ...options, ...key, heardClock };
  // Its nonce is good once.
  const isOnce = (_: string, operation: string) => operation === 'POST /v1/keys';
  const openly = (operation: string) => withoutKey(operation, maySign);
  const routed = options.key === undefined ? openly : undefined;
  const ask = operationsOf<Operations>(given, isOnce, routed);
  return {
    /** This machine's clock against the market's, by its last answer; null: it has sent no date. */
    clock: clock as Readonly<typeof clock>,
    baseUrl: options.baseUrl,
    productName: options.productName ?? defaultProductName,
    ...identity(ask),
    ...market(ask),
    ...threads(ask),
    ...settlement(ask),
    ...webhooks(ask),
  };
}

type Asking = ReturnType<typeof operationsOf<Operations>>;

function identity({ ask, plain, send }: Asking) {
  return {
    mintNonce: plain('GET /v1/keys/nonce'),
    mintKey: send('POST /v1/keys'),
    me: plain('GET /v1/me'),
    walletNonce: (purpose: 'link' | 'authorize' = 'link', how: CallOptions = {}) =>
      ask('GET /v1/wallets/nonce', how, { query: { purpose } }),
    proveWallet: (family: Family, body: Body<'POST /v1/wallets/evm'>, how: CallOptions = {}) =>
      ask(`POST /v1/wallets/${family}`, how, { body }),
    removeWallet: (address: string, how: CallOptions = {}) =>
      ask('DELETE /v1/wallets/{address}', how, { path: { address } }),
  };
}

function market({ ask, plain, byId, list, byQuery, send }: Asking) {
  return {
    assets: list('GET /v1/assets'),
    rules: plain('GET /v1/rules'),
    /** Needs no key. */
    status: plain('GET /market/status'),
    pair: byQuery('GET /v1/pairs'),
    pairPrice: byQuery('GET /v1/pairs/price'),
    /** Prices of agreed swaps over days, for a chart. */
    pairHistory: byQuery('GET /v1/pairs/history'),
    /** The pairs that are traded now. */
    pairs: plain('GET /v1/pairs/list'),
    /** The same without a key, also from a client that has one. */
    keyless: {
      assets: list('GET /market/assets'),
      pair: byQuery('GET /market/pairs'),
      pairPrice: byQuery('GET /market/pairs/price'),
      pairHistory: byQuery('GET /market/pairs/history'),
      pairs: plain('GET /market/pairs/list'),
      levels: byQuery('GET /market/levels'),
      /** Prices of coins in a currency, where the operator has a source. */
      fiat: plain('GET /market/fiat'),
    },
    /** Throws `token_rejected` or `asset_delisted` (422) for what can never be traded. */
    listAsset: send('POST /v1/assets'),
    createRfq: async (body: Body<'POST /v1/rfqs'>, how: CallOptions = {}) =>
      (await ask('POST /v1/rfqs', how, { body })).rfq,
    rfqs: list('GET /v1/rfqs'),
    rfq: byId('GET /v1/rfqs/{id}'),
    cancelRfq: async (id: string, how: CallOptions = {}) =>
      (await ask('POST /v1/rfqs/{id}/cancel', how, { path: { id } })).rfq,
    threadsOfRfq: (id: string, query: PageOptions = {}, how: CallOptions = {}) =>
      ask('GET /v1/rfqs/{id}/threads', how, { path: { id }, query }),
    /** Prices at which makers would quote, best first. They promise nothing: ask for quotes. */
    levels: byQuery('GET /v1/levels'),
    /** A maker's, in place of those before; an empty list withdraws them. */
    publishLevels: send('POST /v1/levels'),
    /** All of yours, of every pair. */
    withdrawLevels: plain('POST /v1/levels/withdraw'),
  };
}

function threads({ ask, byId, list }: Asking) {
  return {
    quote: async (
      id: string,
      quoteAmount: string,
      how: CallOptions & Omit<QuoteBody, 'quoteAmount'> = {},
    ) => {
      const { validForSeconds, unlessAccepted } = how;
      const body = { quoteAmount, validForSeconds, unlessAccepted };
      return (await ask('POST /v1/rfqs/{id}/quotes', how, { path: { id }, body })).thread;
    },
    /** A maker's; closes the thread until it quotes again. */
    withdrawQuote: async (id: string, how: CallOptions = {}) =>
      (await ask('POST /v1/threads/{id}/withdraw', how, { path: { id } })).thread,
    /** 1 to 50 quotes, each on another RFQ: one request of the budget. An outcome each. */
    quoteMany: async (quotes: Body<'POST /v1/quotes'>['quotes'], how: CallOptions = {}) =>
      (await ask('POST /v1/quotes', how, { body: { quotes } })).outcomes,
    /** All open quotes of yours, oldest first, 500 a call: again with `after: next` until null. */
    withdrawQuotes: (body: Body<'POST /v1/quotes/withdraw'> = {}, how: CallOptions = {}) =>
      ask('POST /v1/quotes/withdraw', how, { body }),
    /** Your threads, newest first; unless named those that are open and you are the maker of. */
    quotes: list('GET /v1/threads'),
    thread: byId('GET /v1/threads/{id}'),
    /** The record of the other side of a thread of yours. */
    recordOf: byId('GET /v1/threads/{id}/record'),
    propose: async (
      id: string,
      quoteAmount: string,
      how: CallOptions & Omit<ProposeBody, 'quoteAmount'> = {},
    ) => {
      const body = { quoteAmount, validForSeconds: how.validForSeconds };
      return (await ask('POST /v1/threads/{id}/propose', how, { path: { id }, body })).thread;
    },
    /** Commits. The initiator passes `hashlock`. With `rules` the market refuses others. */
    accept: (id: string, body: Body<'POST /v1/threads/{id}/accept'>, how: CallOptions = {}) =>
      ask('POST /v1/threads/{id}/accept', how, { path: { id }, body }),
  };
}

function settlement({ ask, byId, list }: Asking) {
  const fundLeg = 'POST /v1/swaps/{id}/legs/{leg}/fund';
  const claimLeg = 'POST /v1/swaps/{id}/legs/{leg}/claim';
  const refundLeg = 'POST /v1/swaps/{id}/legs/{leg}/refund';
  const ownLane = 'POST /v1/swaps/{id}/legs/{leg}/lane';
  const releaseLeg = 'POST /v1/swaps/{id}/legs/{leg}/release';
  const cosignLeg = 'POST /v1/swaps/{id}/legs/{leg}/cosign';
  // Bytes are typed as those who sign know them.
  const built = (answer: Promise<object>) => answer as Promise<Built>;
  const relayed = (answer: Promise<object>) => answer as Promise<RelayedClaim>;
  return {
    swaps: list('GET /v1/swaps'),
    swap: byId('GET /v1/swaps/{id}'),
    /** On Bitcoin `address` is a compressed public key, 66 hex. */
    setAddress: async (
      id: string,
      body: Body<'POST /v1/swaps/{id}/address'>,
      how: CallOptions = {},
    ) => (await ask('POST /v1/swaps/{id}/address', how, { path: { id }, body })).swap,
    /** `sign`: also the text of a funding that others may send; the leg stays from then on. */
    fund: (id: string, leg: LegName, { allowance, sign, ...how }: CallOptions & FundQuery = {}) =>
      built(ask(fundLeg, how, { path: { id, leg }, query: { allowance, sign } })),
    /** EVM: the market sends a token's funding that the refund address has signed (EIP-3009). */
    relayFunding: (
      id: string,
      leg: LegName,
      signed: { readonly signature: string; readonly escrow: string },
      how: CallOptions = {},
    ) => relayed(ask(fundLeg, how, { path: { id, leg }, body: { ...signed, relay: true } })),
    claim: (id: string, leg: LegName, secret: Secret, how: CallOptions = {}) =>
      built(ask(claimLeg, how, { path: { id, leg }, body: { secret } })),
    /**
     * Before a claim that is made and sent elsewhere shows the secret: from then on no device of
     * yours gives the leg up. Throws `given_up` where one has.
     */
    announceClaim: async (id: string, leg: LegName, how: CallOptions = {}) =>
      (await ask(`${claimLeg}/announce`, how, { path: { id, leg } })).swap,
    /** The market sends the claim. It has the secret from this call on, whatever it answers. */
    relayClaim: (id: string, leg: LegName, secret: Secret, how: CallOptions = {}) =>
      relayed(ask(claimLeg, how, { path: { id, leg }, body: { secret, relay: true } })),
    refund: (id: string, leg: LegName, query: { escrow?: string } = {}, how: CallOptions = {}) =>
      built(ask(refundLeg, how, { path: { id, leg }, query })),
    /**
     * The side that is paid signs for its lane (`open_lane`). Without a signature it answers what
     * there is to sign.
     */
    openLane: (id: string, leg: LegName, body: Body<typeof ownLane> = {}, how: CallOptions = {}) =>
      ask(ownLane, how, { path: { id, leg }, body }),
    /**
     * Gives the swap up. Without a signature it answers what there is to sign, and from then on
     * nothing of the swap is funded.
     */
    release: (
      id: string,
      leg: LegName,
      body: Body<typeof releaseLeg> = {},
      how: CallOptions = {},
    ) => ask(releaseLeg, how, { path: { id, leg }, body }),
    /** Taproot: asks for a spend by both sides, or answers; an empty body reads what there is. */
    cosign: (id: string, leg: LegName, body: Body<typeof cosignLeg> = {}, how: CallOptions = {}) =>
      ask(cosignLeg, how, { path: { id, leg }, body }),
    /** Bitcoin: signed refunds in hex, the cheapest first. `scheduled-spends.ts` makes them. */
    scheduleRefunds: async (
      id: string,
      leg: LegName,
      body: Body<`${typeof refundLeg}/scheduled`>,
      how: CallOptions = {},
    ) => (await ask(`${refundLeg}/scheduled`, how, { path: { id, leg }, body })).scheduledRefunds,
    /** Bitcoin: the same of signed claims of the leg that pays you, without their secret. */
    scheduleClaims: async (
      id: string,
      leg: LegName,
      body: Body<`${typeof claimLeg}/scheduled`>,
      how: CallOptions = {},
    ) => (await ask(`${claimLeg}/scheduled`, how, { path: { id, leg }, body })).scheduledClaims,
    broadcast: (chain: string, signed: Signed, how: CallOptions = {}) =>
      ask('POST /v1/tx/broadcast', how, {
        body: { chain, signed } as Body<'POST /v1/tx/broadcast'>,
      }),
  };
}

function webhooks({ ask, byId, list }: Asking) {
  return {
    /** `events` empty or left out: all but `swap.release`, `swap.cosign` and the `thread.` ones. The secret is told this once. */
    registerWebhook: (body: Registration, how: CallOptions = {}) =>
      ask('POST /v1/webhooks', how, { body: body as Body<'POST /v1/webhooks'> }),
    webhooks: list('GET /v1/webhooks'),
    removeWebhook: byId('DELETE /v1/webhooks/{id}'),
    /** Sends a test, and says whether a 2xx came. */
    pingWebhook: byId('POST /v1/webhooks/{id}/ping'),
  };
}
