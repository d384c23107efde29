// For somebody with many swaps: claims and refunds of one chain in few transactions, which the
// contract pays together. Only with secrets that are public: a leg that a batch leaves, and a batch
// that fails, have shown theirs. Nothing of it is kept, and nothing is lost with it: whatever it
// does not settle is settled by `settle` of its swap, which sees what was.

import type { Batch, BuiltBatch } from '../chains/batches.ts';
import { inBatches, mostInBatch, paymentOf } from '../chains/escrows/batch.ts';
import { ParleyError } from '../core/errors.ts';
import type { EscrowFacts } from '../core/facts.ts';
import type { ChainKey } from '../core/families.ts';
import { type Hex32, opens } from '../core/hashlock.ts';
import { type LegName, otherLeg } from '../core/trade.ts';
import { SettleError } from './errors.ts';
import { sleep } from './http.ts';
import {
  type Context,
  contextOf,
  legOf,
  ownSides,
  type SetLeg,
  sourceOf,
  walletOf,
  watchedOf,
} from './settle/context.ts';
import { takenNonces } from './settle/hands/nonces.ts';
import { handOf } from './settle/hands/of.ts';
import { sendAlone } from './settle/send.ts';
import type { SettleInput } from './settle.ts';
import type { Kept, SwapRecord } from './stores/store.ts';
import type { AccountWallet } from './wallets/wallet.ts';

export type ManyInput = Pick<
  SettleInput,
  'sources' | 'wallets' | 'store' | 'pollMs' | 'replaceAfterMs' | 'chainTimeoutMs' | 'signal'
> & {
  /** EVM or TRON. */
  readonly chain: ChainKey;
  /** Default: all of the store. */
  readonly swapIds?: readonly string[];
  /** Most escrows in one transaction; default and limit 20 (chains/escrows/batch.ts). */
  readonly most?: number;
};

export type SentBatch = {
  readonly verb: 'claim' | 'refund';
  readonly swapIds: readonly string[];
  readonly txid: string;
  /** `waiting`: no block has taken it in the time that was given. */
  readonly state: 'mined' | 'reverted' | 'waiting';
};

export type ManyOutcome = {
  readonly batches: readonly SentBatch[];
  /** What is open to this side and in no batch. */
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
  /** Of a claim. */
  readonly secret: Hex32 | null;
};
type Left = { swapId: string; leg: LegName; why: string }[];

/** How many escrows are looked at at once. */
const looksAtOnce = 8;
/** A transaction that no block takes is raised so often, and then left to the next call. */
const mostRaises = 5;

/**
 * Claims and refunds what is open to this side on one chain. Throws SettleError where the chain has
 * no batches, and what its source throws; what one swap lacks is told in `left`.
 */
export async function settleMany(input: ManyInput): Promise<ManyOutcome> {
  const { chain, swapIds, most = mostInBatch } = input;
  const context = contextOf({ ...input, swapId: `many on ${chain}`, client: null });
  const { adapter } = sourceOf(context, chain);
  if (adapter.buildBatch === undefined) {
    throw new SettleError('no_source', `each escrow of "${chain}" is settled by itself`);
  }
  const left: Left = [];
  const items = await openItems(context, chain, swapIds ?? (await context.store.swapIds()), left);
  const batches: SentBatch[] = [];
  for (const verb of ['refund', 'claim'] as const) {
    const own = items.filter((item) => item.verb === verb);
    const payment = ({ leg }: Item) => paymentOf(leg.escrow.terms, verb);
    for (const some of inBatches(own, payment, Math.min(most, mostInBatch))) {
      const sent = await settleSome(context, chain, some, left);
      if (sent !== null) batches.push(sent);
    }
  }
  return { batches, left };
}

async function openItems(
  context: Context,
  chain: ChainKey,
  swapIds: readonly string[],
  left: Left,
): Promise<Item[]> {
  const { clock } = await sourceOf(context, chain).adapter.heads(context.limit());
  const found: Item[] = [];
  for (let at = 0; at < swapIds.length; at += looksAtOnce) {
    const looked = swapIds.slice(at, at + looksAtOnce).map(async (swapId) => {
      const record = await context.store.getSwap(swapId);
      if (record === null) return [];
      const names = (['a', 'b'] as const).filter((name) => record.swap.legs[name].chain === chain);
      const items = names.map((name) => openItem(context, record, name, { clock, left }));
      return (await Promise.all(items)).filter((item) => item !== null);
    });
    found.push(...(await Promise.all(looked)).flat());
  }
  return found;
}

/** What this leg lets this side do now; null: nothing, or `settle` has sent it already. */
async function openItem(
  context: Context,
  record: SwapRecord,
  name: LegName,
  { clock, left }: { readonly clock: number; readonly left: Left },
): Promise<Item | null> {
  const verb = name === ownSides(record).gives ? 'refund' : 'claim';
  const leg = legOf(record, name);
  if ((verb === 'claim') !== clock < leg.timelock) return null;
  const [facts, secret] = await Promise.all([
    factsOf(context, record, name),
    verb === 'claim' ? publicSecret(context, record, name) : null,
  ]);
  const isOpen = facts.balance > 0n && facts.claimed === null && facts.refunded === null;
  if (!isOpen || (verb === 'claim' && secret === null)) return null;
  if (record[verb] !== null) {
    const why = `its own ${verb} was sent: settle looks after it`;
    left.push({ swapId: record.swap.id, leg: name, why });
    return null;
  }
  return { record, leg, verb, secret };
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
): Promise<Hex32 | null> {
  if (record.publicSecret !== null) return record.publicSecret;
  const other = otherLeg(name);
  if (!context.sources.has(legOf(record, other).chain)) return null;
  const shown = await factsOf(context, record, other).catch(() => null);
  const secret = shown?.secret ?? null;
  return secret !== null && opens(secret, record.swap.hashlock) ? secret : null;
}

/** Those that are paid together, in one transaction; null: none of them can be. */
async function settleSome(
  context: Context,
  chain: ChainKey,
  items: readonly Item[],
  left: Left,
): Promise<SentBatch | null> {
  const good = await payable(context, chain, items, left);
  const [first] = good;
  if (first === undefined) return null;
  const built = await build(context, chain, good);
  const { txid, state } = await sent(context, first.leg, built);
  const swapIds = good.map(({ record }) => record.swap.id);
  return { verb: first.verb, swapIds, txid, state };
}

/**
 * Those whose payment works, found by halves: one that fails reverts all. What the contract would
 * leave is left out too.
 */
async function payable(
  context: Context,
  chain: ChainKey,
  items: readonly Item[],
  left: Left,
): Promise<readonly Item[]> {
  let why = 'the contract would leave it: it is settled already, or its time is over';
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
  const middle = Math.ceil(items.length / 2);
  const halves = [items.slice(0, middle), items.slice(middle)];
  const good: Item[] = [];
  for (const half of halves) good.push(...(await payable(context, chain, half, left)));
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

/** Gas beyond what was tried: the state may change until it is mined. */
const gasSharePercent = 125n;

/** Sent within its turn, so that the next nonce is chosen by a pool that shows it. */
async function sent(
  context: Context,
  leg: SetLeg,
  { material, gas }: BuiltBatch,
): Promise<{ readonly txid: string; readonly state: SentBatch['state'] }> {
  const wallet = walletOf(context, leg.chain) as AccountWallet;
  const hand = handOf(context, leg);
  const first = await hand.keeping(
    async () => {
      const kept = await signed();
      await sendAlone(context, leg, kept);
      return kept;
    },
    { isUrgent: true },
  );
  return until(context, leg, wallet, first);

  async function signed(): Promise<Kept> {
    if (wallet.family !== 'evm' || material.sign !== 'evm-tx') {
      const [sign] = hand.signFunding(material);
      if (sign === undefined) throw new SettleError('no_wallet', 'nothing to sign');
      return sign();
    }
    const [call] = material.txs;
    if (call === undefined) throw new SettleError('no_wallet', 'nothing to sign');
    const taken = await takenNonces({ context, leg, wallet }, true);
    const sending = gas === null ? call : { ...call, gas: (gas * gasSharePercent) / 100n };
    return wallet.sign(material.chainId, sending, context.limit(), taken);
  }
}

/** Until a block has it, in any version; raised where it waits for long. */
async function until(
  context: Context,
  leg: SetLeg,
  wallet: AccountWallet,
  first: Kept,
): Promise<{ readonly txid: string; readonly state: SentBatch['state'] }> {
  let kept = first;
  for (let raises = 0; raises <= mostRaises; raises += 1) {
    const overMs = performance.now() + context.replaceAfterMs(leg.family);
    while (performance.now() < overMs) {
      const { state } = await wallet.fate(kept, context.limit());
      if (state === 'succeeded') return { txid: kept.txid, state: 'mined' };
      if (state !== 'waiting') return { txid: kept.txid, state: 'reverted' };
      await sleep(context.pollMs, context.signal);
    }
    if (wallet.family !== 'evm') break;
    const raised = await wallet.raise(kept, { mostFeeWei: null }, context.limit());
    if (raised === null) break;
    kept = raised;
    await sendAlone(context, leg, kept);
  }
  return { txid: kept.txid, state: 'waiting' };
}
