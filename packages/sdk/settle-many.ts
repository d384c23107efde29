// Claims and refunds of many swaps on one chain, in few transactions, with public secrets alone.
// Spends that no batch settles are left to `settle` of their swap.

import { hasLeg, inBatches, mostInBatch, paymentOf } from '@parley/chains/escrows/calls.ts';
import { evmTransactionGas } from '@parley/chains/evm/gas-policy.ts';
import type { Batch, BuiltBatch } from '@parley/chains/interface/batches.ts';
import { sleep } from '@parley/chains/nodes/turn.ts';
import { smaller } from '@parley/core/amounts.ts';
import { groupBy } from '@parley/core/engines.ts';
import { ParleyError } from '@parley/core/errors.ts';
import type { EscrowFacts } from '@parley/core/facts.ts';
import { type ChainKey, has } from '@parley/core/families.ts';
import { opens, type Secret } from '@parley/core/hashlock.ts';
import { type LegName, otherLeg } from '@parley/core/trade.ts';
import { SettleError } from './errors.ts';
import { type Context, contextOf, sourceOf, walletOf } from './settle/context.ts';
import { isGivenAway, takenNonces } from './settle/hands/nonces.ts';
import { handOf } from './settle/hands/of.ts';
import { legOf, ownSides, type SetLeg, watchedOf } from './settle/record.ts';
import { sendAlone } from './settle/send.ts';
import type { SettleInput } from './settle.ts';
import { type Kept, keptNow, type Store, type SwapRecord } from './stores/store.ts';
import type { AccountWallet, EvmWallet, TxOutcome } from './wallets/wallet.ts';

export type ManyInput = Pick<
  SettleInput,
  'chains' | 'store' | 'pollMs' | 'replaceAfterMs' | 'chainTimeoutMs' | 'signal'
> & {
  readonly chain: ChainKey;
  readonly swapIds?: readonly string[];
  /** Most escrows in one transaction, 1 at least. Default and limit: 20 (escrows/calls.ts). */
  readonly most?: number;
  /** Awaited before each version of a batch is sent. One that rejects stops nothing. */
  readonly onSigned?: (batch: Omit<SentBatch, 'state'>) => Promise<void>;
};

export type SentBatch = {
  readonly verb: 'claim' | 'refund';
  readonly swapIds: readonly string[];
  readonly txid: string;
  /** `waiting`: no block has it in time. `lost`: another transaction has its nonce. */
  readonly state: 'mined' | 'reverted' | 'lost' | 'waiting';
};

export type ManyOutcome = {
  readonly batches: readonly SentBatch[];
  /** Spends that are open to this side and in no batch. */
  readonly left: readonly {
    readonly swapId: string;
    readonly leg: LegName;
    readonly why: string;
  }[];
};

type Item = {
  readonly record: SwapRecord;
  readonly leg: SetLeg;
  readonly verb: 'claim' | 'refund';
  readonly secret: Secret | null;
};
/** Hears of a version that is about to leave. */
type Tell = (txid: string) => Promise<void>;
type Left = { swapId: string; leg: LegName; why: string }[];

/** Swaps that `settleMany` reads at once. The others wait. */
const readsAtOnce = 8;
/** A transaction that no block takes is raised so often, and then left to the next call. */
const mostRaises = 5;

/** Spends of a batch that reverted: an attacker who made it fail could make the next one fail. */
const reverted = new WeakMap<Store, Set<string>>();

function revertedOf(store: Store): Set<string> {
  const found = reverted.get(store) ?? new Set<string>();
  reverted.set(store, found);
  return found;
}

const keyOf = (verb: 'claim' | 'refund', swapId: string) => `${verb} ${swapId}`;

/**
 * Sends the open claims and refunds of one chain. Throws SettleError where the chain has no
 * batches. `left` says why a swap or batch was not settled.
 */
export async function settleMany(input: ManyInput): Promise<ManyOutcome> {
  const { chain, swapIds, most = mostInBatch } = input;
  const size = Math.min(most, mostInBatch);
  if (!(size >= 1)) throw new RangeError(`most must be 1 at least, is ${most}`);
  const context = contextOf({ ...input, swapId: `many on ${chain}`, client: null });
  const { adapter } = sourceOf(context, chain);
  if (adapter.buildBatch === undefined) {
    throw new SettleError('no_source', `each escrow of "${chain}" is settled by itself`);
  }
  const left: Left = [];
  const failed = revertedOf(input.store);
  const ids = swapIds ?? (await context.store.swapIds());
  const items = await openItems(context, chain, ids, { left, failed });
  const batches: SentBatch[] = [];
  for (const verb of ['refund', 'claim'] as const) {
    const own = items.filter((item) => item.verb === verb);
    for (const some of batchesOf(own, verb, size)) {
      batches.push(...(await settleSome(context, chain, some, { ...input, left })));
    }
    const lost = batches.filter((sent) => sent.verb === verb && sent.state === 'reverted');
    for (const swapId of lost.flatMap((sent) => sent.swapIds)) failed.add(keyOf(verb, swapId));
  }
  return { batches, left };
}

/** A batch is one call of one contract. */
function batchesOf(items: readonly Item[], verb: Item['verb'], size: number): Item[][] {
  const byContract = groupBy(items, ({ leg }) => leg.escrow.terms.lane?.contract);
  const payment = ({ leg }: Item) => paymentOf(leg.escrow.terms, verb);
  return [...byContract.values()].flatMap((some) => inBatches(some, payment, size));
}

type Opening = {
  /** The chain's. */
  readonly clock: number;
  readonly left: Left;
  readonly failed: ReadonlySet<string>;
};

async function openItems(
  context: Context,
  chain: ChainKey,
  swapIds: readonly string[],
  { left, failed }: Pick<Opening, 'left' | 'failed'>,
): Promise<Item[]> {
  const { clock } = await sourceOf(context, chain).adapter.heads(context.limit());
  const found: Item[] = [];
  for (let at = 0; at < swapIds.length; at += readsAtOnce) {
    const read = swapIds.slice(at, at + readsAtOnce).map(async (swapId) => {
      const record = await context.store.getSwap(swapId);
      if (record === null) return [];
      const names = (['a', 'b'] as const).filter((name) => record.swap.legs[name].chain === chain);
      const items = names.map((name) => openItem(context, record, name, { clock, left, failed }));
      return (await Promise.all(items)).filter((item) => item !== null);
    });
    found.push(...(await Promise.all(read)).flat());
  }
  return found;
}

/**
 * The spend that this leg lets this side make now; null: no spend is open, or `settle` has sent it
 * already.
 */
async function openItem(
  context: Context,
  record: SwapRecord,
  name: LegName,
  { clock, left, failed }: Opening,
): Promise<Item | null> {
  const verb = name === ownSides(record).gives ? 'refund' : 'claim';
  const leg = legOf(record, name);
  if ((verb === 'claim') !== clock < leg.timelock) return null;
  const facts = await factsOf(context, record, name);
  if (facts.balance === 0n || facts.claimed !== null || facts.refunded !== null) return null;
  const secret = verb === 'claim' ? await publicSecret(context, record, name, facts) : null;
  if (verb === 'claim' && secret === null) return null;
  const { id: swapId } = record.swap;
  const what = whyAlone();
  if (what === null) return { record, leg, verb, secret };
  left.push({ swapId, leg: name, why: `${what}: settle looks after it` });
  return null;

  function whyAlone(): string | null {
    if (failed.has(keyOf(verb, swapId))) return 'its batch has reverted';
    if (record[verb] !== null) return `its own ${verb} was sent`;
    return hasLeg(leg.escrow.terms) ? null : 'a batch has no room for its amount or times';
  }
}

function factsOf(context: Context, record: SwapRecord, name: LegName): Promise<EscrowFacts> {
  const { adapter } = sourceOf(context, legOf(record, name).chain);
  return adapter.readEscrow(watchedOf(record, name), context.limit());
}

/** Kept as such, or shown by either chain. Never the one that this side alone knows. */
async function publicSecret(
  context: Context,
  record: SwapRecord,
  name: LegName,
  { secret: own }: Pick<EscrowFacts, 'secret'>,
): Promise<Secret | null> {
  if (record.publicSecret !== null) return record.publicSecret;
  const { hashlock } = record.swap;
  if (own !== null && opens(own, hashlock)) return own;
  const other = otherLeg(name);
  if (context.chains[legOf(record, other).chain] === undefined) return null;
  const shown = await factsOf(context, record, other).catch(() => null);
  const secret = shown?.secret ?? null;
  return secret !== null && opens(secret, hashlock) ? secret : null;
}

/**
 * In one transaction, or in several where the wallet cannot offer the gas of all: no node takes
 * such a one. A failure takes back no batch before it.
 */
async function settleSome(
  context: Context,
  chain: ChainKey,
  items: readonly Item[],
  told: Pick<ManyInput, 'onSigned'> & { readonly left: Left },
): Promise<readonly SentBatch[]> {
  const { left } = told;
  try {
    const good = await payable(context, chain, items, left);
    const [first] = good;
    if (first === undefined) return [];
    const built = await build(context, chain, good);
    if (good.length > 1 && !(await affords(context, chain, built))) {
      const [some, others] = halvesOf(good);
      const before = await settleSome(context, chain, some, told);
      return [...before, ...(await settleSome(context, chain, others, told))];
    }
    const swapIds = good.map(({ record }) => record.swap.id);
    const { verb } = first;
    const tell: Tell = async (signed) => {
      await told.onSigned?.({ verb, swapIds, txid: signed }).catch(() => undefined);
    };
    const { txid, state } = await sent(context, first.leg, built, tell);
    return [{ verb, swapIds, txid, state }];
  } catch (error) {
    context.signal?.throwIfAborted();
    if (error instanceof SettleError) throw error;
    const why = error instanceof Error ? error.message : String(error);
    for (const { record, leg } of items) {
      const { id: swapId } = record.swap;
      const isTold = left.some((each) => each.swapId === swapId && each.leg === leg.leg);
      if (!isTold) left.push({ swapId, leg: leg.leg, why });
    }
    return [];
  }
}

function halvesOf<T>(items: readonly T[]): readonly [readonly T[], readonly T[]] {
  const middle = Math.ceil(items.length / 2);
  return [items.slice(0, middle), items.slice(middle)];
}

async function affords(
  context: Context,
  chain: ChainKey,
  { gas }: Pick<BuiltBatch, 'gas'>,
): Promise<boolean> {
  if (gas === null) return true;
  const { adapter } = sourceOf(context, chain);
  const offered = { gas: smaller(gas, evmTransactionGas), feePerGas: null };
  const owed = { claims: [], fundings: [], offered };
  const { address } = walletOf(context, chain);
  return ((await adapter.fundsShortage?.(owed, address, context.limit())) ?? null) === null;
}

/** Found by halves: the contract leaves a payment that fails, and its neighbours with it. */
async function payable(
  context: Context,
  chain: ChainKey,
  items: readonly Item[],
  left: Left,
): Promise<readonly Item[]> {
  let why = 'the contract would leave it: it is settled, its time is over, or its payment fails';
  try {
    const { settles } = await build(context, chain, items);
    if (settles === items.length) return items;
  } catch (error) {
    if (!(error instanceof ParleyError) || error.code !== 'payout_would_fail') throw error;
    why = error.message;
  }
  const [first] = items;
  if (items.length <= 1) {
    if (first !== undefined) left.push({ swapId: first.record.swap.id, leg: first.leg.leg, why });
    return [];
  }
  const good: Item[] = [];
  for (const half of halvesOf(items)) good.push(...(await payable(context, chain, half, left)));
  return good;
}

async function build(
  context: Context,
  chain: ChainKey,
  items: readonly Item[],
): Promise<BuiltBatch> {
  const { adapter } = sourceOf(context, chain);
  const wallet = walletOf(context, chain) as AccountWallet;
  const built = await adapter.buildBatch?.(batchOf(items), wallet.address, context.limit());
  if (built === undefined) throw new SettleError('no_source', `no batches on "${chain}"`);
  return built;
}

function batchOf(items: readonly Item[]): Batch {
  const terms = items.map(({ leg }) => leg.escrow.terms);
  if (items[0]?.verb !== 'claim') {
    return { verb: 'refund', legs: terms.map((each) => ({ terms: each })) };
  }
  const legs = items.map(({ leg, secret }) => ({ terms: leg.escrow.terms, secret: secret ?? '' }));
  return { verb: 'claim', legs };
}

/** Sent within its turn, so that the next nonce is chosen by a pool that shows it. */
async function sent(
  context: Context,
  leg: SetLeg,
  { material, gas }: BuiltBatch,
  tell: Tell,
): Promise<Pick<SentBatch, 'txid' | 'state'>> {
  const wallet = walletOf(context, leg.chain) as AccountWallet;
  if (wallet.asks !== undefined) {
    throw new SettleError('no_wallet', `${wallet.address} asks a person: batches are signed alone`);
  }
  const hand = handOf(context, leg);
  const first = await hand.keeping(async () => {
    const kept = keptNow(await signed());
    await tell(kept.txid);
    await offer(context, leg, kept);
    return kept;
  }, true);
  return until(context, leg, wallet, first, tell);

  async function signed(): Promise<Kept> {
    if (!has(wallet, 'nonces') || material.sign !== 'evm-tx') {
      const [sign] = hand.signFunding(material);
      if (sign === undefined)
        throw new SettleError('no_wallet', 'the batch has no transaction to sign');
      return sign();
    }
    const [call] = material.txs;
    if (call === undefined)
      throw new SettleError('no_wallet', 'the batch has no transaction to sign');
    const taken = await takenNonces({ context, leg, wallet }, true);
    const limit = gas === null ? {} : { gas: smaller(gas, evmTransactionGas) };
    return wallet.sign(material.chainId, { ...call, ...limit }, context.limit(), taken);
  }
}

/** Throws what the node refuses with. One that gives no answer may have taken it. */
async function offer(context: Context, leg: SetLeg, kept: Kept): Promise<void> {
  try {
    await sendAlone(context, leg, kept);
  } catch (error) {
    handOf(context, leg).forget();
    if (error instanceof ParleyError && error.code === 'refused_by_node') throw error;
  }
}

async function until(
  context: Context,
  leg: SetLeg,
  wallet: AccountWallet,
  first: Kept,
  tell: Tell,
): Promise<Pick<SentBatch, 'txid' | 'state'>> {
  let kept = first;
  for (let raises = 0; ; raises += 1) {
    const state = await waited(context, leg, wallet, kept);
    const { txid } = kept;
    if (state !== 'waiting') return { txid, state: state === 'succeeded' ? 'mined' : state };
    if (!has(wallet, 'nonces') || raises === mostRaises) return { txid, state };
    const raised = await raise(context, leg, wallet, kept, tell);
    if (raised === null) return { txid, state };
    kept = raised;
  }
}

/** The outcome of the batch within the given time. A node that does not answer shows nothing. */
async function waited(
  context: Context,
  { family }: SetLeg,
  wallet: AccountWallet,
  kept: Kept,
): Promise<TxOutcome['state']> {
  const overMs = performance.now() + context.replaceAfterMs(family);
  while (performance.now() < overMs) {
    const asked = wallet.outcome(kept, context.limit()).catch(() => null);
    const { state = 'waiting' } = (await asked) ?? {};
    if (state !== 'waiting') return state;
    await sleep(context.pollMs, context.signal);
  }
  return 'waiting';
}

/** Only while nothing kept later has the nonce. null: no version of it pays more. */
async function raise(
  context: Context,
  leg: SetLeg,
  wallet: EvmWallet,
  kept: Kept,
  tell: Tell,
): Promise<Kept | null> {
  const work = async () => {
    // It gives way to whatever was kept since its first version.
    const asked = { slot: 'funding', kept } as const;
    if (await isGivenAway(context, leg, asked)) return null;
    const signed = await wallet.raise(kept, { mostFeeWei: null }, context.limit());
    if (signed === null) return null;
    const raised = { ...signed, ...(kept.keptAtMs && { keptAtMs: kept.keptAtMs }) };
    await tell(raised.txid);
    await offer(context, leg, raised);
    return raised;
  };
  try {
    return await handOf(context, leg).keeping(work, false);
  } catch {
    context.signal?.throwIfAborted();
    return kept;
  }
}
