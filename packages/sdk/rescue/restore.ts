// Gives a store of the phrase its records back, from a rescue file or from what the market lists. A
// restored swap is claimed and refunded, never funded.

import { bitcoinNetworkOf } from '@parley/chains/bitcoin/networks.ts';
import { type ChainKey, has } from '@parley/core/families.ts';
import type { UnixSeconds } from '@parley/core/nominal.ts';
import type { Destination } from '@parley/core/terms.ts';
import { otherLeg, type Party } from '@parley/core/trade.ts';
import type { ParleyClient } from '../client.ts';
import { messageOf, RescueError, SettleError, VerificationError } from '../errors.ts';
import { pagesOf } from '../pages.ts';
import { ownSides } from '../settle/record.ts';
import { mustBeOnly, type SwapRecord } from '../stores/store.ts';
import {
  givenLeg,
  type OwnTrade,
  type PinnedAsset,
  type PinnedChains,
  sourceIn,
} from '../trade.ts';
import type { Swap, Thread } from '../types.ts';
import { escrowOf, mustBeSwap, mustEqual, verifySwap } from '../verify.ts';
import { type RescueSwap, readOwnRescue } from './file.ts';
import { findBitcoinKeys, findSecrets, type SearchOptions } from './search.ts';
import type { PhraseStore } from './store.ts';

export type Restored = {
  readonly swapId: string;
  /**
   * `restored`: `settle` may go on. `kept`: the store had it. `over`, `not_begun`: by the market,
   * there is nothing to claim or refund. `declined`: by `confirm`. `refused`: `why` says it.
   */
  readonly outcome: 'restored' | 'kept' | 'over' | 'not_begun' | 'declined' | 'refused';
  readonly why: string;
  /** `missing`: a swap not claimed with a public secret is refunded only; search deeper. */
  readonly secret: 'found' | 'missing' | 'not_needed';
  /** Which Bitcoin key of the phrase its script names; null: none. */
  readonly bitcoinKey: number | null;
};

export type Restoring = SearchOptions & {
  /** The chains as the person pins them. */
  readonly chains: PinnedChains;
};

export type FromMarket = Restoring & {
  readonly client: ParleyClient;
  /** The customer's account, from `GET /v1/me`. */
  readonly userId: string;
  readonly assets: readonly PinnedAsset[];
  /** Whether that is the person's own. Bitcoin keys of the phrase are not asked about. */
  readonly isOwn: (chain: ChainKey, destination: Destination) => boolean;
  /** The market could name another price: a person says whether this is what was agreed. */
  readonly confirm: (swap: RescueSwap) => boolean | Promise<boolean>;
};

const pageSize = 100;
/** 10 000 swaps, the newest first. */
const mostPages = 100;

/** Throws as `readRescue`, and RescueError `other_phrase`, `other_network`. */
export async function restoreFromFile(
  store: PhraseStore,
  text: string,
  how: Restoring,
): Promise<Restored[]> {
  mustBeOfNetwork(store, how);
  const { swaps } = readOwnRescue(store, text);
  return keepAll(store, swaps, how, async ({ swap, former = {} }) => {
    for (const { leg, chain, escrow } of [swap.legs.a, swap.legs.b]) {
      const { view } = sourceIn(how.chains, chain);
      const field = `legs.${leg}.escrow`;
      for (const each of [escrow, ...(former[leg] ?? [])]) {
        if (each === null) continue;
        mustEqual(field, escrowOf(field, each.terms, view).address, each.address);
      }
    }
    return true;
  });
}

/**
 * `isWhole`: the list ended. A swap that the market leaves out is not found. Throws ParleyApiError
 * where it does not answer.
 */
export async function restoreFromMarket(
  store: PhraseStore,
  how: FromMarket,
): Promise<{ readonly swaps: Restored[]; readonly isWhole: boolean }> {
  mustBeOfNetwork(store, how);
  const { swaps, isWhole } = await listed(how);
  const done: Restored[] = [];
  const found: RescueSwap[] = [];
  for (const swap of swaps) {
    try {
      const ended = endOf(swap);
      if (ended !== null) done.push({ ...without(swap.id), ...ended });
      else found.push(await agreedTo(swap, how, await store.now()));
    } catch (error) {
      done.push(refusedBy(swap.id, error));
    }
  }
  const kept = await keepAll(store, found, how, async (each, isKey) => {
    mustBeOwn(each, how, isKey);
    return how.confirm(each);
  });
  return { swaps: [...done, ...kept], isWhole };
}

/** Keys of one network must not sign on another. */
function mustBeOfNetwork({ keys }: PhraseStore, { chains }: Restoring): void {
  const { name } = bitcoinNetworkOf(keys.network);
  for (const { source } of Object.values(chains)) {
    const { view } = source;
    if (!has(view, 'coins') || view.network.name === name) continue;
    const sentence = `the source of "${view.chain}" is of Bitcoin ${view.network.name}`;
    throw new RescueError('other_network', `${sentence}, the keys of ${name}`);
  }
}

type Check = (found: RescueSwap, isKey: (pubkey: string) => boolean) => Promise<boolean>;

async function keepAll(
  store: PhraseStore,
  found: readonly RescueSwap[],
  how: Restoring,
  check: Check,
): Promise<Restored[]> {
  const keys = findBitcoinKeys(store.keys, new Set(found.flatMap(pubkeysOf)));
  const wanted: RescueSwap[] = [];
  const done: Restored[] = [];
  for (const each of found) {
    const { id: swapId } = each.swap;
    try {
      const kept = await store.getSwap(swapId);
      if (kept !== null) done.push(keptAs(kept, each));
      else if (await check(each, (pubkey) => keys.has(pubkey))) wanted.push(each);
      else done.push({ ...without(swapId), outcome: 'declined', why: 'its terms were declined' });
    } catch (error) {
      done.push(refusedBy(swapId, error));
    }
  }
  const missing = new Set(await keepSecrets(store, wanted, how));
  for (const each of wanted) {
    const { id: swapId, hashlock, role } = each.swap;
    const secret =
      role === 'counterparty' ? 'not_needed' : missing.has(hashlock) ? 'missing' : 'found';
    const own = pubkeysOf(each).find((pubkey) => keys.has(pubkey));
    const bitcoinKey = own === undefined ? null : (keys.get(own) ?? null);
    try {
      await keep(store, each);
      const why = 'ready for settle, which claims and refunds and does not fund';
      done.push({ swapId, outcome: 'restored', why, secret, bitcoinKey });
    } catch (error) {
      done.push(refusedBy(swapId, error));
    }
  }
  return done;
}

/** Resolves to the hashlocks whose secrets were not found. */
async function keepSecrets(
  store: PhraseStore,
  swaps: readonly RescueSwap[],
  how: SearchOptions,
): Promise<string[]> {
  const wanted: RescueSwap['swap'][] = [];
  for (const { swap } of swaps) {
    const isKept = (await store.getSecret(swap.hashlock)) !== null;
    if (swap.role === 'initiator' && !isKept) wanted.push(swap);
  }
  const secrets = await findSecrets(store.keys, wanted, how);
  for (const [hashlock, secret] of secrets) await store.putSecret(hashlock, secret);
  return wanted.flatMap(({ hashlock }) => (secrets.has(hashlock) ? [] : [hashlock]));
}

async function keep(store: PhraseStore, found: RescueSwap): Promise<void> {
  const { trade } = found;
  const unsent = { funding: null, claim: null, refund: null, publicSecret: null };
  const record: SwapRecord = { ...found, ...unsent, restored: true };
  await mustBeOnly(store, record);
  await store.putTrade(trade);
  await store.putSwap(record);
}

/**
 * An older file, or a market, may name another escrow: readers of `kept` look for no escrow there.
 */
function keptAs({ swap: kept }: SwapRecord, { swap }: RescueSwap): Restored {
  const addressOf = (of: typeof swap, leg: 'a' | 'b') => of.legs[leg].escrow?.address ?? 'none';
  const moved = (['a', 'b'] as const).find((leg) => addressOf(kept, leg) !== addressOf(swap, leg));
  if (moved === undefined) {
    return { ...without(swap.id), outcome: 'kept', why: 'the store has its record' };
  }
  const differs = `leg ${moved} has moved: the store watches ${addressOf(kept, moved)}`;
  const why = `${differs}, and this names ${addressOf(swap, moved)}: an empty store takes that one`;
  return { ...without(swap.id), outcome: 'refused', why };
}

/** The person's keys in both scripts: where it is refunded, and where it is paid. */
function pubkeysOf({ trade: { refundTo, payTo } }: RescueSwap): string[] {
  return [refundTo, payTo].flatMap(({ pubkey }) => (pubkey === null ? [] : [pubkey]));
}

function without(swapId: string) {
  return { swapId, secret: 'not_needed', bitcoinKey: null } as const;
}

/** Only what concerns this swap alone is told of it. */
function refusedBy(swapId: string, error: unknown): Restored {
  const isOfSwap = error instanceof VerificationError || error instanceof SettleError;
  if (!isOfSwap) throw error;
  return { ...without(swapId), outcome: 'refused', why: messageOf(error) };
}

async function listed({ client, signal }: FromMarket) {
  const swaps = new Map<string, Swap>();
  let isWhole = false;
  const ask = (from: object) => client.swaps({ limit: pageSize, ...from }, { signal });
  for await (const page of pagesOf(mostPages, ask)) {
    for (const swap of page.swaps.slice(0, pageSize)) swaps.set(swap.id, swap);
    isWhole = page.nextCursor === null;
  }
  return { swaps: [...swaps.values()], isWhole };
}

/** By the market, which could as well have left the swap out. */
function endOf(swap: Swap): Pick<Restored, 'outcome' | 'why'> | null {
  mustBeSwap(swap, swap.id);
  const legs = [swap.legs.a, swap.legs.b];
  if (legs.some(({ escrow }) => escrow === null)) {
    return { outcome: 'not_begun', why: 'a leg has no escrow: neither side can have funded' };
  }
  const isOpen = legs.some(({ status }) => status === 'seen' || status === 'funded');
  // Too little, late, or a second payment beside a claim: the funder's own.
  const own = legs.find(({ long }) => long === (swap.role === 'initiator'));
  const isLeft = (own?.balance ?? '0') !== '0';
  if (isOpen || isLeft || swap.status === 'agreed') return null;
  return { outcome: 'over', why: `the market says that it is ${swap.status}` };
}

/** The trade as the market tells it, with the person's own pins; verified as ever. */
async function agreedTo(
  swap: Swap,
  { client, userId, assets, chains, signal }: FromMarket,
  now: UnixSeconds,
): Promise<RescueSwap> {
  const how = { signal };
  const thread = await client.thread(swap.threadId, how);
  mustEqual('thread.id', swap.threadId, thread.id);
  const party = thread.makerId === userId ? 'maker' : 'taker';
  mustEqual(`thread.${party}Id`, userId, thread[`${party}Id`]);
  const { rfq } = thread;
  const agreedAt = Math.floor(Date.parse(swap.createdAt) / 1_000);
  const trade: OwnTrade = {
    party,
    rfqId: thread.rfqId,
    threadId: thread.id,
    makerId: thread.makerId,
    takerId: thread.takerId,
    direction: rfq.direction,
    base: pinned(assets, rfq.baseAssetId),
    baseAmount: amountIn('thread.rfq.baseAmount', rfq.baseAmount),
    quote: pinned(assets, rfq.quoteAssetId),
    quoteAmount: amountIn('thread.quoteAmount', thread.quoteAmount),
    hashlock: swap.role === 'initiator' ? swap.hashlock : null,
    acceptedAt: agreedAt,
    swapSeenAt: agreedAt,
    ...destinationsIn(swap, party),
  };
  return { trade, swap: verifySwap(swap, trade, chains, { swapId: swap.id, now }) };
}

function pinned(assets: readonly PinnedAsset[], id: Thread['rfq']['baseAssetId']): PinnedAsset {
  const found = assets.find((each) => each.id === id);
  if (found !== undefined) return found;
  throw new VerificationError('rfq asset', 'one of your pinned assets', String(id));
}

function amountIn(field: string, text: unknown): bigint {
  if (typeof text === 'string' && /^[1-9]\d{0,77}$/.test(text)) return BigInt(text);
  throw new VerificationError(field, 'an amount in base units', String(text).slice(0, 80));
}

/** As the market shows them: `mustBeOwn` asks whose they are. */
function destinationsIn(swap: Swap, party: Party): Pick<OwnTrade, 'refundTo' | 'payTo'> {
  const gives = givenLeg(party);
  const own = swap.legs[gives];
  const other = swap.legs[otherLeg(gives)];
  const { refundAddress, refundPubkey = null, refundForm } = own;
  const { payoutAddress, payoutPubkey = null, payoutForm } = other;
  return {
    refundTo: {
      address: refundAddress ?? '',
      pubkey: refundPubkey,
      ...(refundForm && { form: refundForm }),
    },
    payTo: {
      address: payoutAddress ?? '',
      pubkey: payoutPubkey,
      ...(payoutForm && { form: payoutForm }),
    },
  };
}

function mustBeOwn(
  { trade, swap }: RescueSwap,
  { isOwn }: FromMarket,
  isKey: (pubkey: string) => boolean,
): void {
  const { gives, gets } = ownSides({ trade });
  for (const [leg, kind, to] of [
    [gives, 'refund', trade.refundTo],
    [gets, 'payout', trade.payTo],
  ] as const) {
    if (to.pubkey !== null && isKey(to.pubkey)) continue;
    if (isOwn(swap.legs[leg].chain, to)) continue;
    throw new VerificationError(`legs.${leg}.${kind}Address`, 'an address of yours', to.address);
  }
}
