// The market's REST interface, one typed function an endpoint; refusals are ParleyApiError.

import type { Allowance } from '../chains/interface/fund-ways.ts';
import type { Signed } from '../chains/interface/material.ts';
import type { Family } from '../core/families.ts';
import type { Hashlock, Secret } from '../core/hashlock.ts';
import type { Rules } from '../core/rules.ts';
import type { SwapStatus } from '../core/status.ts';
import type { Direction, LegName, Party } from '../core/trade.ts';
import { call, defaultProductName, type HttpOptions, keyText, type Request } from './http.ts';
import type {
  AccountRecord,
  ApiKey,
  Asset,
  Built,
  CreateRfq,
  Level,
  ListedWebhook,
  ListingAnswer,
  MarketRules,
  MarketStatus,
  Me,
  Page,
  Pair,
  PairPrice,
  Proof,
  ProvenWallet,
  PublishedLevels,
  PublishLevels,
  QuoteOutcome,
  Rfq,
  ScheduledRefunds,
  Swap,
  Thread,
  Webhook,
  WebhookEvent,
} from './types.ts';

export type CallOptions = Pick<Request, 'idempotencyKey' | 'signal'>;
/** EVM tokens. */
export type FundQuery = {
  readonly allowance?: Allowance | undefined;
  readonly sign?: 'authorization' | undefined;
};
export type PageOptions = { readonly limit?: number; readonly cursor?: string };
type ThreadQuery = { role?: Party; status?: Thread['status']; rfqId?: string };
type AssetQuery = { chain?: string; symbol?: string; address?: string; enabled?: boolean };
type RfqQuery = {
  direction?: Direction;
  baseAssetId?: string;
  quoteAssetId?: string;
  /** Those of accounts with at least so many settled swaps. */
  minSettled?: number;
  /** Instead: private RFQs for an address of yours. */
  addressed?: boolean;
  /** Instead: one's own that have not ended. */
  own?: boolean;
};
type PricedPair = { baseAssetId: string; quoteAssetId: string };
type PairQuery = PricedPair & {
  direction: Direction;
  /** Base units: high ones wait longer. */
  baseAmount?: string;
  quoteAmount?: string;
};
type LevelQuery = PricedPair & {
  direction: Direction;
  /** Only levels for so much of the base. */
  baseAmount?: string;
  /** Only of makers with at least so many settled swaps. */
  minSettled?: number;
  makerId?: string;
};
/** How long a price holds, from its receipt; left out: as long as the RFQ. 5 to 604 800. */
type Lifetime = { readonly validForSeconds?: number };
/** `unlessAccepted`: refused while the taker's acceptance of the price before stands. */
type Quoting = Lifetime & { readonly unlessAccepted?: boolean };
export type QuoteOfMany = Quoting & { readonly rfqId: string; readonly quoteAmount: string };
type Acceptance = { quoteAmount: string; hashlock?: Hashlock; rules?: Rules };

export type ParleyClient = ReturnType<typeof parleyClient>;

/**
 * A client of the market at `baseUrl`, such as `http://127.0.0.1:8080`. Throws TypeError for a key
 * that no header carries.
 */
export function parleyClient(options: HttpOptions) {
  const clock: { aheadSeconds: number | null } = { aheadSeconds: null };
  const heardClock = (aheadSeconds: number) => {
    clock.aheadSeconds = aheadSeconds;
    options.heardClock?.(aheadSeconds);
  };
  const key = options.key === undefined ? {} : { key: keyText(options.key) };
  const ask = asking({ ...options, ...key, heardClock });
  return {
    /** Of this machine against the market's, by its last answer; null: it has said no date. */
    clock: clock as Readonly<typeof clock>,
    baseUrl: options.baseUrl,
    productName: options.productName ?? defaultProductName,
    ...identity(ask),
    ...market(ask),
    ...levels(ask),
    ...settlement(ask),
    ...webhooks(ask),
  };
}

type Asked = Omit<Request, 'method' | 'path'> & { readonly base?: '' };
type Asking = ReturnType<typeof asking>;

function asking(options: HttpOptions) {
  const send =
    (method: Request['method']) =>
    <T>(path: string, how: CallOptions, asked: Asked = {}) => {
      const { base = '/v1', ...more } = asked;
      const { idempotencyKey, signal } = how;
      const key = method === 'GET' || idempotencyKey === undefined ? {} : { idempotencyKey };
      const stop = signal === undefined ? {} : { signal };
      return call<T>(options, { method, path: `${base}${path}`, ...more, ...key, ...stop });
    };
  return { get: send('GET'), post: send('POST'), remove: send('DELETE') };
}

/** Path segment of an id: whatever the market calls itself must not leave its place. */
const segment = encodeURIComponent;

function identity({ get, post, remove }: Asking) {
  return {
    mintNonce: (how: CallOptions = {}) => get<{ nonce: string }>('/keys/nonce', how),
    mintKey: (proof: Proof & { rail: Family }, how: CallOptions = {}) =>
      post<ApiKey>('/keys', how, { body: proof, once: true }),
    me: (how: CallOptions = {}) => get<Me>('/me', how),
    walletNonce: (purpose: 'link' | 'authorize' = 'link', how: CallOptions = {}) =>
      get<{ nonce: string }>('/wallets/nonce', how, { query: { purpose } }),
    proveWallet: (family: Family, body: Proof & { authorization?: Proof }, how: CallOptions = {}) =>
      post<ProvenWallet>(`/wallets/${family}`, how, { body }),
    removeWallet: (address: string, how: CallOptions = {}) =>
      remove<ProvenWallet>(`/wallets/${segment(address)}`, how),
  };
}

function market({ get, post }: Asking) {
  const rfqAt = (id: string) => `/rfqs/${segment(id)}`;
  const threadAt = (id: string) => `/threads/${segment(id)}`;
  const rfqOf = async (answer: Promise<{ rfq: Rfq }>) => (await answer).rfq;
  const threadOf = async (answer: Promise<{ thread: Thread }>) => (await answer).thread;
  return {
    assets: (query: PageOptions & AssetQuery = {}, how: CallOptions = {}) =>
      get<Page<'assets', Asset>>('/assets', how, { query }),
    rules: (how: CallOptions = {}) => get<MarketRules>('/rules', how),
    /** Needs no key. */
    status: (how: CallOptions = {}) => get<MarketStatus>('/market/status', how, { base: '' }),
    pair: (query: PairQuery, how: CallOptions = {}) => get<Pair>('/pairs', how, { query }),
    pairPrice: (query: PricedPair, how: CallOptions = {}) =>
      get<PairPrice>('/pairs/price', how, { query }),
    /** The same for who has no key yet. */
    keyless: {
      assets: (query: PageOptions & AssetQuery = {}, how: CallOptions = {}) =>
        get<Page<'assets', Asset>>('/market/assets', how, { query, base: '' }),
      pair: (query: PairQuery, how: CallOptions = {}) =>
        get<Pair>('/market/pairs', how, { query, base: '' }),
      pairPrice: (query: PricedPair, how: CallOptions = {}) =>
        get<PairPrice>('/market/pairs/price', how, { query, base: '' }),
      levels: (query: PageOptions & LevelQuery, how: CallOptions = {}) =>
        get<Page<'levels', Level>>('/market/levels', how, { query, base: '' }),
    },
    /** Of the other side of a thread of yours. */
    recordOf: (threadId: string, how: CallOptions = {}) =>
      get<AccountRecord>(`${threadAt(threadId)}/record`, how),
    /** Throws `token_rejected` or `asset_delisted` (422) for what can never be traded. */
    listAsset: (body: { chain: string; address: string }, how: CallOptions = {}) =>
      post<ListingAnswer>('/assets', how, { body }),
    createRfq: (body: CreateRfq, how: CallOptions = {}) => rfqOf(post('/rfqs', how, { body })),
    rfqs: (query: PageOptions & RfqQuery = {}, how: CallOptions = {}) =>
      get<Page<'rfqs', Rfq>>('/rfqs', how, { query }),
    rfq: (id: string, how: CallOptions = {}) => get<Rfq>(rfqAt(id), how),
    cancelRfq: (id: string, how: CallOptions = {}) => rfqOf(post(`${rfqAt(id)}/cancel`, how)),
    threadsOfRfq: (id: string, query: PageOptions = {}, how: CallOptions = {}) =>
      get<Page<'threads', Thread>>(`${rfqAt(id)}/threads`, how, { query }),
    quote: (rfqId: string, quoteAmount: string, how: CallOptions & Quoting = {}) => {
      const { validForSeconds, unlessAccepted } = how;
      const body = { quoteAmount, validForSeconds, unlessAccepted };
      return threadOf(post(`${rfqAt(rfqId)}/quotes`, how, { body }));
    },
    /** A maker's; closes the thread until it quotes again. */
    withdrawQuote: (threadId: string, how: CallOptions = {}) =>
      threadOf(post(`${threadAt(threadId)}/withdraw`, how)),
    /** 1 to 50 quotes, each on another RFQ: one request of the budget. An outcome each. */
    quoteMany: async (quotes: readonly QuoteOfMany[], how: CallOptions = {}) =>
      (await post<{ outcomes: QuoteOutcome[] }>('/quotes', how, { body: { quotes } })).outcomes,
    /** All open quotes of yours, oldest first, 500 a call: again with `after: next` until null. */
    withdrawQuotes: (body: { after?: string } = {}, how: CallOptions = {}) =>
      post<{ withdrawn: number; committed: number; next: string | null }>('/quotes/withdraw', how, {
        body,
      }),
    /** Your threads, newest first; unless named those that are open and you are the maker of. */
    quotes: (query: PageOptions & ThreadQuery = {}, how: CallOptions = {}) =>
      get<Page<'threads', Thread>>('/threads', how, { query }),
    thread: (id: string, how: CallOptions = {}) => get<Thread>(threadAt(id), how),
    propose: (id: string, quoteAmount: string, how: CallOptions & Lifetime = {}) => {
      const body = { quoteAmount, validForSeconds: how.validForSeconds };
      return threadOf(post(`${threadAt(id)}/propose`, how, { body }));
    },
    /** Commits. The initiator passes `hashlock`. With `rules` the market refuses others. */
    accept: (id: string, body: Acceptance, how: CallOptions = {}) =>
      post<{ thread: Thread; swap?: Swap }>(`${threadAt(id)}/accept`, how, { body }),
  };
}

function levels({ get, post }: Asking) {
  return {
    /** Prices at which makers would quote, best first. They promise nothing: ask for quotes. */
    levels: (query: PageOptions & LevelQuery, how: CallOptions = {}) =>
      get<Page<'levels', Level>>('/levels', how, { query }),
    /** A maker's, in place of those before; an empty list withdraws them. */
    publishLevels: (body: PublishLevels, how: CallOptions = {}) =>
      post<PublishedLevels>('/levels', how, { body }),
    /** All of yours, of every pair. */
    withdrawLevels: (how: CallOptions = {}) => post<{ withdrawn: number }>('/levels/withdraw', how),
  };
}

function settlement({ get, post }: Asking) {
  const swapAt = (id: string) => `/swaps/${segment(id)}`;
  const legAt = (id: string, name: LegName, verb: string) => `${swapAt(id)}/legs/${name}/${verb}`;
  return {
    swaps: (query: PageOptions & { status?: SwapStatus } = {}, how: CallOptions = {}) =>
      get<Page<'swaps', Swap>>('/swaps', how, { query }),
    swap: (id: string, how: CallOptions = {}) => get<Swap>(swapAt(id), how),
    /** On Bitcoin `address` is a compressed public key, 66 hex. */
    setAddress: async (
      id: string,
      body: { chain: string; leg?: LegName; address: string; keySignature?: string },
      how: CallOptions = {},
    ) => (await post<{ swap: Swap }>(`${swapAt(id)}/address`, how, { body })).swap,
    /** `sign`: also the text of a funding that others may send; the leg stays from then on. */
    fund: (id: string, name: LegName, how: CallOptions & FundQuery = {}) => {
      const { allowance, sign } = how;
      return post<Built>(legAt(id, name, 'fund'), how, { query: { allowance, sign } });
    },
    /** EVM: the market sends a token's funding that the refund address has signed (EIP-3009). */
    relayFunding: (
      id: string,
      name: LegName,
      signed: { readonly signature: string; readonly escrow: string },
      how: CallOptions = {},
    ) => {
      const body = { ...signed, relay: true };
      return post<{ relayed: true; txid: string }>(legAt(id, name, 'fund'), how, { body });
    },
    claim: (id: string, name: LegName, secret: Secret, how: CallOptions = {}) =>
      post<Built>(legAt(id, name, 'claim'), how, { body: { secret } }),
    /** The market sends the claim. It has the secret from this call on, whatever it answers. */
    relayClaim: (id: string, name: LegName, secret: Secret, how: CallOptions = {}) => {
      const body = { secret, relay: true };
      return post<{ relayed: true; txid: string }>(legAt(id, name, 'claim'), how, { body });
    },
    refund: (id: string, name: LegName, query: { escrow?: string } = {}, how: CallOptions = {}) =>
      post<Built>(legAt(id, name, 'refund'), how, { query }),
    /** Bitcoin: signed refunds in hex, the cheapest first. `scheduled-refunds.ts` makes them. */
    scheduleRefunds: async (
      id: string,
      name: LegName,
      body: { transactions: readonly string[]; escrow?: string },
      how: CallOptions = {},
    ) => {
      type Kept = { scheduledRefunds: ScheduledRefunds };
      const path = legAt(id, name, 'refund/scheduled');
      return (await post<Kept>(path, how, { body })).scheduledRefunds;
    },
    broadcast: (chain: string, signed: Signed, how: CallOptions = {}) =>
      post<{ txid: string }>('/tx/broadcast', how, { body: { chain, signed } }),
  };
}

function webhooks({ get, post, remove }: Asking) {
  const webhookAt = (id: string) => `/webhooks/${segment(id)}`;
  return {
    /** `events` empty or left out: all but the `thread.` ones. The secret is told this once. */
    registerWebhook: (
      // Any text: a newer market has more of them.
      body: { url: string; events?: readonly (WebhookEvent | (string & {}))[] },
      how: CallOptions = {},
    ) => post<{ webhook: Webhook; secret: string }>('/webhooks', how, { body }),
    webhooks: (query: PageOptions = {}, how: CallOptions = {}) =>
      get<Page<'webhooks', ListedWebhook>>('/webhooks', how, { query }),
    removeWebhook: (id: string, how: CallOptions = {}) => remove<{ ok: true }>(webhookAt(id), how),
    /** Sends a test, and says whether a 2xx came. */
    pingWebhook: (id: string, how: CallOptions = {}) =>
      post<{ ok: boolean; deliveryId: string }>(`${webhookAt(id)}/ping`, how),
  };
}
