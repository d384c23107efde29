// The market's REST interface, one typed function an endpoint. Effects carry an idempotency key of
// their own; everything has a time limit; refusals are ParleyApiError.

import type { Allowance } from '../chains/interface/fund-ways.ts';
import type { Signed } from '../chains/interface/material.ts';
import type { Family } from '../core/families.ts';
import type { Hashlock, Secret } from '../core/hashlock.ts';
import type { Rules } from '../core/rules.ts';
import type { SwapStatus } from '../core/status.ts';
import type { Direction, LegName } from '../core/trade.ts';
import { call, defaultProductName, type HttpOptions, type Request } from './http.ts';
import type {
  ApiKey,
  Asset,
  Built,
  CreateRfq,
  ListingAnswer,
  MarketRules,
  Me,
  Page,
  Proof,
  ProvenWallet,
  Rfq,
  ScheduledRefunds,
  Swap,
  Thread,
} from './types.ts';

/** Per call: an idempotency key of the caller's own, and a way to stop. */
export type CallOptions = { readonly idempotencyKey?: string; readonly signal?: AbortSignal };
/** EVM tokens. */
export type FundQuery = {
  readonly allowance?: Allowance | undefined;
  readonly sign?: 'authorization' | undefined;
};
export type PageOptions = { readonly limit?: number; readonly cursor?: string };

export type ParleyClient = ReturnType<typeof parleyClient>;

/** A client of the market at `baseUrl`, such as `http://127.0.0.1:8080`. */
export function parleyClient(options: HttpOptions) {
  return {
    baseUrl: options.baseUrl,
    /** As it stands in the texts that wallets sign. */
    productName: options.productName ?? defaultProductName,
    ...identity(options),
    ...market(options),
    ...settlement(options),
  };
}

/** Path segment of an id: whatever the market calls itself must not leave its place. */
function segment(id: string): string {
  return encodeURIComponent(id);
}

function get(path: string, query: Request['query'], how: CallOptions): Request {
  const signal = how.signal === undefined ? {} : { signal: how.signal };
  return { method: 'GET', path, ...(query === undefined ? {} : { query }), ...signal };
}

function effect(
  method: 'POST' | 'DELETE',
  path: string,
  body: unknown,
  how: CallOptions,
  query?: Request['query'],
): Request {
  return {
    method,
    path,
    ...(body === undefined ? {} : { body }),
    ...(query === undefined ? {} : { query }),
    ...(how.idempotencyKey === undefined ? {} : { idempotencyKey: how.idempotencyKey }),
    ...(how.signal === undefined ? {} : { signal: how.signal }),
  };
}

function identity(options: HttpOptions) {
  return {
    mintNonce: (how: CallOptions = {}) =>
      call<{ nonce: string }>(options, get('/v1/keys/nonce', undefined, how)),
    mintKey: (proof: Proof & { rail: Family }, how: CallOptions = {}) =>
      call<ApiKey>(options, { ...effect('POST', '/v1/keys', proof, how), once: true }),
    me: (how: CallOptions = {}) => call<Me>(options, get('/v1/me', undefined, how)),
    walletNonce: (purpose: 'link' | 'authorize' = 'link', how: CallOptions = {}) =>
      call<{ nonce: string }>(options, get('/v1/wallets/nonce', { purpose }, how)),
    proveWallet: (
      family: Family,
      proof: Proof & { authorization?: Proof },
      how: CallOptions = {},
    ) => call<ProvenWallet>(options, effect('POST', `/v1/wallets/${family}`, proof, how)),
    removeWallet: (address: string, how: CallOptions = {}) =>
      call<ProvenWallet>(
        options,
        effect('DELETE', `/v1/wallets/${segment(address)}`, undefined, how),
      ),
  };
}

function market(options: HttpOptions) {
  return {
    assets: (
      query: PageOptions & {
        chain?: string;
        symbol?: string;
        address?: string;
        enabled?: boolean;
      } = {},
      how: CallOptions = {},
    ) => call<Page<'assets', Asset>>(options, get('/v1/assets', query, how)),
    rules: (how: CallOptions = {}) => call<MarketRules>(options, get('/v1/rules', undefined, how)),
    /** Throws `token_rejected` or `asset_delisted` (422) for what can never be traded. */
    listAsset: (token: { chain: string; address: string }, how: CallOptions = {}) =>
      call<ListingAnswer>(options, effect('POST', '/v1/assets', token, how)),
    createRfq: async (input: CreateRfq, how: CallOptions = {}) =>
      (await call<{ rfq: Rfq }>(options, effect('POST', '/v1/rfqs', input, how))).rfq,
    rfqs: (
      query: PageOptions & {
        direction?: Direction;
        baseAssetId?: string;
        quoteAssetId?: string;
        /** Instead: private RFQs for an address of yours. */
        addressed?: boolean;
      } = {},
      how: CallOptions = {},
    ) => call<Page<'rfqs', Rfq>>(options, get('/v1/rfqs', query, how)),
    rfq: (id: string, how: CallOptions = {}) =>
      call<Rfq>(options, get(`/v1/rfqs/${segment(id)}`, undefined, how)),
    cancelRfq: async (id: string, how: CallOptions = {}) => {
      const path = `/v1/rfqs/${segment(id)}/cancel`;
      return (await call<{ rfq: Rfq }>(options, effect('POST', path, undefined, how))).rfq;
    },
    threadsOfRfq: (id: string, query: PageOptions = {}, how: CallOptions = {}) =>
      call<Page<'threads', Thread>>(options, get(`/v1/rfqs/${segment(id)}/threads`, query, how)),
    quote: async (rfqId: string, quoteAmount: string, how: CallOptions = {}) => {
      const path = `/v1/rfqs/${segment(rfqId)}/quotes`;
      const body = { quoteAmount };
      return (await call<{ thread: Thread }>(options, effect('POST', path, body, how))).thread;
    },
    thread: (id: string, how: CallOptions = {}) =>
      call<Thread>(options, get(`/v1/threads/${segment(id)}`, undefined, how)),
    propose: async (id: string, quoteAmount: string, how: CallOptions = {}) => {
      const path = `/v1/threads/${segment(id)}/propose`;
      const body = { quoteAmount };
      return (await call<{ thread: Thread }>(options, effect('POST', path, body, how))).thread;
    },
    /**
     * Commits. The initiator passes `hashlock`, the other side must not. With `rules` the market
     * refuses (`rules_differ`) unless a swap would begin with exactly these.
     */
    accept: (
      id: string,
      terms: { quoteAmount: string; hashlock?: Hashlock; rules?: Rules },
      how: CallOptions = {},
    ) => {
      const path = `/v1/threads/${segment(id)}/accept`;
      return call<{ thread: Thread; swap?: Swap }>(options, effect('POST', path, terms, how));
    },
  };
}

function settlement(options: HttpOptions) {
  const leg = (id: string, name: LegName, verb: string) =>
    `/v1/swaps/${segment(id)}/legs/${name}/${verb}`;
  return {
    swaps: (query: PageOptions & { status?: SwapStatus } = {}, how: CallOptions = {}) =>
      call<Page<'swaps', Swap>>(options, get('/v1/swaps', query, how)),
    swap: (id: string, how: CallOptions = {}) =>
      call<Swap>(options, get(`/v1/swaps/${segment(id)}`, undefined, how)),
    /** On Bitcoin `address` is a compressed public key, 66 hex. */
    setAddress: async (
      id: string,
      input: { chain: string; address: string; keySignature?: string },
      how: CallOptions = {},
    ) => {
      const path = `/v1/swaps/${segment(id)}/address`;
      return (await call<{ swap: Swap }>(options, effect('POST', path, input, how))).swap;
    },
    /**
     * `sign`: also the text of a funding that others may send. The leg does not move from then on,
     * until that text is of no use any more.
     */
    fund: (id: string, name: LegName, how: CallOptions & FundQuery = {}) => {
      const { allowance, sign, ...rest } = how;
      const query = { allowance, sign };
      return call<Built>(options, effect('POST', leg(id, name, 'fund'), undefined, rest, query));
    },
    /** EVM: the market sends a token's funding that the refund address has signed (EIP-3009). */
    relayFunding: (
      id: string,
      name: LegName,
      signed: { readonly signature: string; readonly escrow: string },
      how: CallOptions = {},
    ) =>
      call<{ relayed: true; txid: string }>(
        options,
        effect('POST', leg(id, name, 'fund'), { ...signed, relay: true }, how),
      ),
    claim: (id: string, name: LegName, secret: Secret, how: CallOptions = {}) =>
      call<Built>(options, effect('POST', leg(id, name, 'claim'), { secret }, how)),
    /** The market sends the claim. It has the secret from this call on, whatever it answers. */
    relayClaim: (id: string, name: LegName, secret: Secret, how: CallOptions = {}) =>
      call<{ relayed: true; txid: string }>(
        options,
        effect('POST', leg(id, name, 'claim'), { secret, relay: true }, how),
      ),
    refund: (id: string, name: LegName, query: { escrow?: string } = {}, how: CallOptions = {}) =>
      call<Built>(options, effect('POST', leg(id, name, 'refund'), undefined, how, query)),
    /** Bitcoin: signed refunds in hex, the cheapest first. `scheduled-refunds.ts` makes them. */
    scheduleRefunds: async (
      id: string,
      name: LegName,
      input: { transactions: readonly string[]; escrow?: string },
      how: CallOptions = {},
    ) => {
      const request = effect('POST', leg(id, name, 'refund/scheduled'), input, how);
      return (await call<{ scheduledRefunds: ScheduledRefunds }>(options, request))
        .scheduledRefunds;
    },
    broadcast: (chain: string, signed: Signed, how: CallOptions = {}) =>
      call<{ txid: string }>(options, effect('POST', '/v1/tx/broadcast', { chain, signed }, how)),
  };
}
