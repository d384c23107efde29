// Tools that read the market: the assets, prices, requests and offers there are.

import { factsOf } from '@parley/core/families.ts';
import { parties, threadStatuses } from '@parley/core/trade.ts';
import type { ParleyClient } from '@parley/sdk/client.ts';
import { isoTime } from '@parley/sdk/people.ts';
import type { Pair } from '@parley/sdk/types.ts';
import { z } from 'zod';
import { type Amount, amountOf, type Desk } from '../desk.ts';
import { cursorIn, foreign, idIn, instantIn, orNull, placeIn, word } from '../foreign.ts';
import * as shape from '../schemas.ts';
import { readTool } from '../tool.ts';
import { type Call, waited } from '../waiting.ts';
import { rfqView, standingView, threadView } from './views.ts';

const pairIn = z.object({ base: shape.assetName, quote: shape.assetName });
const page = { limit: shape.limit, cursor: shape.cursor };

const chainOut = z.object({
  chain: z.string(),
  height: z.number().nullable(),
  quiet: z.boolean(),
  haltedSince: z.string().nullable(),
});

const status = readTool({
  name: 'market_status',
  title: 'Whether the market works',
  about: 'Whether swaps are agreed now, and the state of each chain as the market sees it.',
  input: z.object({}),
  output: z.object({
    market: z.string(),
    network: z.string(),
    at: z.string(),
    agrees: z.boolean(),
    waitsFor: z.array(shape.foreignOut),
    chains: z.array(chainOut),
  }),
  run: async ({ client, session }) => {
    const { at, network, agrees, waitsFor, chains } = await client.status();
    return {
      market: session.profile.market,
      network: word(network),
      at: instantIn(at),
      agrees,
      waitsFor: waitsFor.map((each) => foreign(each)),
      chains: chains.map(({ chain, height, isQuiet, haltedSince }) => ({
        chain: word(chain),
        height,
        quiet: isQuiet,
        haltedSince: orNull(instantIn, haltedSince),
      })),
    };
  },
});

const assets = readTool({
  name: 'assets',
  title: 'Assets that the market lists',
  about:
    'Anybody can list a token under any symbol: trade by contract. Only assets that the profile ' +
    'pins are traded by this server.',
  input: z.object({ chain: z.string().max(60).optional(), ...page }),
  output: z.object({ assets: z.array(shape.assetOut), nextCursor: shape.nextCursor }),
  run: async (desk, { chain, ...paged }) => {
    const of = chain === undefined ? {} : { chain };
    const found = await desk.client.assets({ ...of, ...paged });
    const names = await desk.names();
    const all = found.assets.map((each) => {
      const { name, pinned } = names.of(each.id);
      return {
        asset: name,
        chain: word(each.chain),
        contract: orNull(placeIn, each.address),
        symbol: foreign(each.symbol, 40),
        decimals: each.decimals,
        open: each.enabled,
        curated: each.verified,
        pinned,
      };
    });
    return { assets: all, nextCursor: orNull(cursorIn, found.nextCursor) };
  },
});

const costOut = z.object({ usual: shape.amountOut, most: shape.amountOut });
const pairLegOut = z.object({
  leg: z.string(),
  fundedBy: z.enum(['taker', 'maker']),
  chain: z.string(),
  long: z.boolean(),
  lockedSeconds: z.number().describe('after it a refund takes it back'),
  confirmations: z.number(),
  leastAmount: shape.amountOut.nullable(),
  costs: z.object({ fund: costOut, claim: costOut, refund: costOut }).nullable(),
});

function costsOf(desk: Desk, { chain, costs }: Pair['legs']['a']) {
  if (costs === null) return null;
  const of = desk.session.profile.chains[chain];
  const coin = {
    name: chain,
    decimals: of === undefined ? null : factsOf[of.family].coin.decimals,
  };
  const both = ({ usual, most }: { usual: string; most: string }) => ({
    usual: amountOf(usual, coin),
    most: amountOf(most, coin),
  });
  return { fund: both(costs.fund), claim: both(costs.claim), refund: both(costs.refund) };
}

const pair = readTool({
  name: 'pair',
  title: 'What a trade of a pair costs and locks',
  about:
    'Who funds first, for how long coins may be locked, the least amount, and the costs of both ' +
    'legs in the coins of their chains, by the market.',
  input: pairIn.extend({ side: shape.side.optional() }),
  output: z.object({
    fundsFirst: z.enum(['taker', 'maker']),
    initiatorFundBySeconds: z.number(),
    counterpartyFundBySeconds: z.number(),
    usualSeconds: z.number().nullable().describe('until both are paid'),
    legs: z.array(pairLegOut),
  }),
  run: async (desk, { base, quote, side = 'sell' }) => {
    const names = await desk.names();
    const direction = side === 'sell' ? 'sell_base' : 'buy_base';
    const ids = { baseAssetId: names.idOf(base), quoteAssetId: names.idOf(quote) };
    const found = await desk.client.pair({ direction, ...ids });
    const legs = (['b', 'a'] as const).map((name) => {
      const leg = found.legs[name];
      const least =
        leg.leastAmount === null ? null : amountOf(leg.leastAmount, names.of(leg.assetId));
      const fundedBy = name === 'b' ? ('taker' as const) : ('maker' as const);
      return {
        leg: name,
        fundedBy,
        chain: word(leg.chain),
        long: leg.long,
        lockedSeconds: leg.timelockSeconds,
        confirmations: leg.confirmations,
        leastAmount: least,
        costs: costsOf(desk, leg),
      };
    });
    const { initiator, initiatorFundBySeconds, counterpartyFundBySeconds, expected } = found;
    const usualSeconds = expected?.counterparty.usualSeconds ?? null;
    return {
      fundsFirst: initiator,
      initiatorFundBySeconds,
      counterpartyFundBySeconds,
      usualSeconds,
      legs,
    };
  },
});

const tradeOut = z.object({
  side: shape.side,
  base: shape.amountOut,
  quote: shape.amountOut,
  at: z.string(),
});

const trades = readTool({
  name: 'recent_trades',
  title: 'What others traded a pair at',
  about: 'Public agreements that both sides funded, and the median by price. A hint, no quote.',
  input: pairIn,
  output: z.object({
    median: tradeOut.nullable(),
    trades: z.array(tradeOut),
    windowSeconds: z.number(),
  }),
  run: async (desk, { base, quote }) => {
    const names = await desk.names();
    const ids = { baseAssetId: names.idOf(base), quoteAssetId: names.idOf(quote) };
    const { median, agreements, windowSeconds } = await desk.client.pairPrice(ids);
    const view = (each: (typeof agreements)[number]) => ({
      side: each.direction === 'sell_base' ? ('sell' as const) : ('buy' as const),
      base: amountOf(each.baseAmount, names.of(ids.baseAssetId)),
      quote: amountOf(each.quoteAmount, names.of(ids.quoteAssetId)),
      at: instantIn(each.agreedAt),
    });
    return {
      median: median === null ? null : view(median),
      trades: agreements.map(view),
      windowSeconds,
    };
  },
});

const book = readTool({
  name: 'book',
  title: 'Open requests for quote',
  about: 'Requests to quote, newest first: public ones, your own, or private ones for you.',
  input: z.object({
    base: shape.assetName.optional(),
    quote: shape.assetName.optional(),
    which: z.enum(['public', 'own', 'addressed']).optional().describe('default public'),
    minSettled: z.int().min(1).max(1_000).optional().describe('settled swaps of its account'),
    ...page,
  }),
  output: z.object({ rfqs: z.array(shape.rfqOut), nextCursor: shape.nextCursor }),
  run: async (desk, { base, quote, which = 'public', minSettled, ...paged }) => {
    const names = await desk.names();
    const found = await desk.client.rfqs({
      ...paged,
      ...(base === undefined ? {} : { baseAssetId: names.idOf(base) }),
      ...(quote === undefined ? {} : { quoteAssetId: names.idOf(quote) }),
      ...(which === 'public' ? {} : { [which]: true }),
      ...(minSettled === undefined ? {} : { minSettled }),
    });
    const rfqs = found.rfqs.map((each) => rfqView(each, names, desk.userId));
    return { rfqs, nextCursor: orNull(cursorIn, found.nextCursor) };
  },
});

const levelOut = z.object({
  makerId: z.string().describe('of its quotes too'),
  maker: shape.standingOut,
  base: shape.amountOut,
  quote: shape.amountOut,
  leastBase: shape.amountOut.nullable(),
  endsAt: z.string(),
});

const levels = readTool({
  name: 'levels',
  title: 'Indicative prices of makers',
  about:
    'What makers say they would quote for a pair, best first. They bind nobody: ask for quotes.',
  input: pairIn.extend({ side: shape.side, ...page }),
  output: z.object({ levels: z.array(levelOut), nextCursor: shape.nextCursor }),
  run: async (desk, { base, quote, side, ...paged }) => {
    const names = await desk.names();
    const ids = { baseAssetId: names.idOf(base), quoteAssetId: names.idOf(quote) };
    const direction = side === 'sell' ? 'sell_base' : 'buy_base';
    const found = await desk.client.levels({ ...ids, direction, ...paged });
    const ofBase = names.of(ids.baseAssetId);
    const ofQuote = names.of(ids.quoteAssetId);
    const all = found.levels.map((each) => ({
      makerId: idIn(each.makerId),
      maker: standingView(each.makerStanding),
      base: amountOf(each.baseAmount, ofBase),
      quote: amountOf(each.quoteAmount, ofQuote),
      leastBase: each.leastBaseAmount === null ? null : amountOf(each.leastBaseAmount, ofBase),
      endsAt: instantIn(each.expiresAt),
    }));
    return { levels: all, nextCursor: orNull(cursorIn, found.nextCursor) };
  },
});

/** Where the maker's are all read: a cursor of the taker's follows, or nothing. */
const asTaker = 'taker_';
const usualThreads = 20;

type Which = Omit<NonNullable<Parameters<ParleyClient['quotes']>[0]>, 'role'>;

/** The maker's threads, and then the taker's. */
async function ofBothRoles({ quotes }: ParleyClient, which: Which) {
  const { limit = usualThreads, cursor, ...of } = which;
  const isTaker = cursor?.startsWith(asTaker) === true;
  const made = isTaker
    ? { threads: [], nextCursor: null }
    : await quotes({ ...of, role: 'maker', limit, ...(cursor === undefined ? {} : { cursor }) });
  const left = limit - made.threads.length;
  if (made.nextCursor !== null) return made;
  if (left === 0) return { ...made, nextCursor: asTaker };
  const from = isTaker ? cursor.slice(asTaker.length) : '';
  const asked = { ...of, role: 'taker' as const, limit: left };
  const taken = await quotes(from === '' ? asked : { ...asked, cursor: from });
  const { nextCursor } = taken;
  return {
    threads: [...made.threads, ...taken.threads],
    nextCursor: nextCursor == null ? null : asTaker + nextCursor,
  };
}

const threads = readTool({
  name: 'threads',
  title: 'Your negotiations',
  about:
    'Quotes on a request of yours, or your threads by role and status, newest first: those of a ' +
    'maker, then those of a taker. Without a status the open ones.',
  input: z.object({
    rfqId: shape.id.optional(),
    role: z.enum(parties).optional(),
    status: z.enum(threadStatuses).optional(),
    ...page,
  }),
  output: z.object({ threads: z.array(shape.threadOut), nextCursor: shape.nextCursor }),
  run: async (desk, { rfqId, role, status: state, ...paged }) => {
    const names = await desk.names();
    const which = { ...(state && { status: state }), ...(rfqId && { rfqId }), ...paged };
    const found = await (role !== undefined
      ? desk.client.quotes({ ...which, role })
      : rfqId === undefined || state !== undefined
        ? ofBothRoles(desk.client, which)
        : desk.client.threadsOfRfq(rfqId, paged));
    const all = found.threads.map((each) => threadView(each, names, desk.userId));
    return { threads: all, nextCursor: orNull(cursorIn, found.nextCursor) };
  },
});

const threadMs = 2_000;

/** Until the price, an acceptance or the swap is another, or the thread has closed. */
async function moved(desk: Desk, threadId: string, seconds: number, call: Call) {
  let first: string | null = null;
  const look = () => desk.client.thread(threadId, { signal: call.signal });
  const of = { call, timer: desk.timer, seconds, everyMs: threadMs, look };
  return waited({
    ...of,
    isOver: ({ quoteAmount, status, makerAccepted, takerAccepted, swapId }) => {
      const stands = JSON.stringify([quoteAmount, status, makerAccepted, takerAccepted, swapId]);
      first ??= stands;
      return status === 'closed' || swapId !== null || stands !== first;
    },
    words: ({ status }) => `thread ${threadId}: ${word(status)}`,
  });
}

const thread = readTool({
  name: 'thread',
  title: 'One negotiation',
  about:
    'Its price and each price before, what stands accepted, and how the other side kept its word. ' +
    'With waitSeconds: once price, acceptances or swap change.',
  depth: 1,
  input: z.object({ threadId: shape.id, waitSeconds: shape.waitSeconds }),
  output: z.object({
    thread: shape.threadOut,
    prices: z.array(
      z.object({ by: z.enum(['you', 'them']), price: shape.amountOut, at: z.string() }),
    ),
  }),
  waits: ({ waitSeconds = 0 }) => waitSeconds,
  run: async (desk, { threadId, waitSeconds = 0 }, call) => {
    const names = await desk.names();
    const found = await moved(desk, threadId, waitSeconds, call);
    const record = await desk.client.recordOf(threadId).catch(() => null);
    const view = threadView(found, names, desk.userId);
    const prices = found.messages.map(({ by, quoteAmount, at }) => ({
      by: by === view.role ? ('you' as const) : ('them' as const),
      price: amountOf(quoteAmount, names.of(found.rfq.quoteAssetId)),
      at: instantIn(at),
    }));
    const otherSide = standingView(record) ?? view.otherSide;
    return { thread: { ...view, otherSide }, prices };
  },
});

const leftOut = z.object({
  asset: z.string(),
  perSwap: shape.amountOut,
  leftToday: shape.amountOut,
});

async function limitsLeft({ held }: Desk) {
  if (held === null) return null;
  const { limits, ledger } = held;
  return (await ledger.left()).map(({ asset, perSwap, left }) => {
    const own = limits.assets.get(asset)?.own ?? { name: asset, decimals: null };
    return { asset, perSwap: amountOf(perSwap, own), leftToday: amountOf(left, own) };
  });
}

const account = readTool({
  name: 'account',
  title: 'The account and what this server may do',
  about:
    'Whose account it is, what its API key may do, its wallets, whether this server holds keys, ' +
    'and what its limits leave for today.',
  input: z.object({}),
  output: z.object({
    accountId: z.string(),
    market: z.string(),
    scopes: z.array(z.string()),
    holdsKeys: z.boolean(),
    wallets: z.record(z.string(), z.array(z.string())),
    limits: z
      .object({ pairs: z.array(z.string()), assets: z.array(leftOut), swapsPerDay: z.number() })
      .nullable(),
    now: z.string(),
  }),
  run: async (desk) => {
    const me = await desk.client.me();
    const wallets = Object.entries(me.wallets).map(([family, { login, proven }]) => {
      const all = [...(login === null ? [] : [login]), ...proven];
      return [word(family), all.map(placeIn)] as const;
    });
    const left = await limitsLeft(desk);
    const { limits } = desk.held ?? { limits: null };
    const assetsLeft: { asset: string; perSwap: Amount; leftToday: Amount }[] = left ?? [];
    return {
      accountId: idIn(me.userId),
      market: desk.session.profile.market,
      scopes: me.scopes.map(word),
      holdsKeys: desk.held !== null,
      wallets: Object.fromEntries(wallets),
      limits:
        limits === null
          ? null
          : { pairs: [...limits.pairs], assets: assetsLeft, swapsPerDay: limits.swapsPerDay },
      now: isoTime(desk.session.now()),
    };
  },
});

export const marketTools = [status, account, assets, pair, trades, levels, book, threads, thread];
