// The transaction of a block that has spent the coins of a Bitcoin payment: the payment itself, one
// that pays the same, or something else, as another wallet of the same key may send. The receiver may have spent the
// payment's output by then, so the blocks are read and not what is unspent now.

import type { BitcoinBackend, PastByAddress, PastByBlock } from '@parley/chains/bitcoin/backend.ts';
import { coreBackend } from '@parley/chains/bitcoin/core-backend.ts';
import { esploraBackend } from '@parley/chains/bitcoin/esplora-backend.ts';
import { bitcoinNetworks, parseBitcoinAddress } from '@parley/chains/bitcoin/networks.ts';
import { parseTx, type Tx } from '@parley/chains/bitcoin/raw-transaction.ts';
import type { BaseUnits, UnixSeconds } from '@parley/core/nominal.ts';
import { type Kept, versionsOf } from '@parley/sdk/stores/store.ts';
import { Failure } from '../failures.ts';
import { bitcoinAt, type Now, type PinnedOn } from '../sources.ts';

/** Blocks of one look: the next one goes on from there. */
const mostBlocks = 20;
/** Transactions of an address of one look, the newest first: the next one goes on below. */
const mostOfAddress = 200;

export type Spent = {
  readonly txid: string;
  /** It is a version of the payment, or pays the same amount to the same address. */
  readonly pays: boolean;
  /** With its own; 1 where a node that answers does not have it yet. */
  readonly blocks: number;
};

export type Spending = {
  readonly kept: Kept;
  readonly to: string;
  readonly amount: BaseUnits;
  /** The address whose coins they are. */
  readonly from: string;
  /** A moment before it was signed. */
  readonly since: UnixSeconds;
};

/**
 * null: no node has found it yet, and the next look goes on. Throws Failure `nodes_disagree`, and
 * where no node answers.
 */
export type SpendSearch = (spending: Spending, signal: AbortSignal) => Promise<Spent | null>;

/** By the nodes of a chain as a trader pins them. */
export function spendSearch(of: PinnedOn<'bitcoin'>, now: Now): SpendSearch {
  const network = bitcoinNetworks[of.bitcoin];
  const nodes = of.nodes.map(bitcoinAt).map((node) => {
    if ('esploraUrl' in node) return esploraBackend({ url: node.esploraUrl, network });
    return coreBackend({ url: node.coreUrl, network, now });
  });
  return searchBy(nodes, (address) => parseBitcoinAddress(address, network).script);
}

export function searchBy(
  nodes: readonly Pick<BitcoinBackend, 'past' | 'tip' | 'block'>[],
  scriptOf: (address: string) => Uint8Array,
): SpendSearch {
  /** Where the next look at each node begins, by the first coin that is looked for. */
  const heights = new Map<string, number>();
  const ids = new Map<string, string>();
  return async (spending, signal) => {
    // Each version spends all of them: a block that has one of them for another has ended it.
    const coins = parseTx(spending.kept.raw).inputs.map((each) => each.outpoint());
    const asking = nodes.map(async (node, at) => {
      const { past } = node;
      const key = `${at} ${coins[0]}`;
      const found =
        past.kind === 'by_address'
          ? await byAddress(past, coins, { next: ids, key }, spending, signal)
          : await byBlock({ ...node, past }, coins, { next: heights, key }, spending, signal);
      if (found === null) return null;
      const { height } = await node.tip(signal);
      return { txid: found.tx.txid(), found, blocks: Math.max(1, height - found.height + 1) };
    });
    const said = await Promise.allSettled(asking);
    const answers = said.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
    const [failure] = said.flatMap((each) => (each.status === 'rejected' ? [each.reason] : []));
    if (answers.length === 0) throw failure;
    const shown = answers.filter((each) => each !== null);
    const [first] = shown;
    if (first === undefined) return null;
    mustBeOfOneChain(
      shown.map(({ found }) => found.tx),
      coins,
    );
    const isByAll = shown.length === answers.length;
    const blocks = isByAll ? Math.min(...shown.map((each) => each.blocks)) : 1;
    const paying = shown.find(({ found }) => paysTheSame(found.tx, spending, scriptOf));
    return { txid: (paying ?? first).txid, pays: paying !== undefined, blocks };
  };
}

type Found = { readonly tx: Tx; readonly height: number };

const spends = (tx: Tx, coins: readonly string[]) =>
  tx.inputs.some(({ outpoint }) => coins.includes(outpoint()));

/** Two nodes may find the spenders of two coins. Throws where they have one coin spent by both. */
function mustBeOfOneChain(found: readonly Tx[], coins: readonly string[]): void {
  for (const coin of coins) {
    const [one, other] = new Set(found.filter((tx) => spends(tx, [coin])).map((tx) => tx.txid()));
    if (other === undefined) continue;
    const sentence = `one node has ${coin} spent by ${one}, another one by ${other}`;
    throw new Failure('chain_unavailable', 'nodes_disagree', sentence);
  }
}

function paysTheSame(
  tx: Tx,
  { kept, to, amount }: Spending,
  scriptOf: (address: string) => Uint8Array,
): boolean {
  if (versionsOf(kept).includes(tx.txid())) return true;
  const script = scriptOf(to);
  return tx.outputs.some(
    (each) => each.amount === amount && Buffer.compare(each.script, script) === 0,
  );
}

type Place<At> = { readonly next: Map<string, At>; readonly key: string };

async function byAddress(
  past: PastByAddress,
  coins: readonly string[],
  { next, key }: Place<string>,
  { from }: Spending,
  signal: AbortSignal,
): Promise<Found | null> {
  const below = next.get(key) ?? null;
  const { mined, cutAt } = await past.read(from, { most: mostOfAddress, below }, signal);
  const found = mined.findLast(({ tx }) => spends(tx, coins));
  // Found again there at once at the next look.
  if (found !== undefined) return found;
  if (cutAt === null) next.delete(key);
  else next.set(key, cutAt);
  return null;
}

async function byBlock(
  node: Pick<BitcoinBackend, 'tip' | 'block'> & { readonly past: PastByBlock },
  coins: readonly string[],
  { next, key }: Place<number>,
  { since }: Spending,
  signal: AbortSignal,
): Promise<Found | null> {
  const { height: tip } = await node.tip(signal);
  const first = next.get(key) ?? (await node.past.firstHeight(since, signal));
  for (let height = first; height <= tip; height += 1) {
    next.set(key, height);
    if (height - first >= mostBlocks) return null;
    const [hash = null] = await node.past.blockHashes([height], signal);
    if (hash === null) break;
    const transactions = await (await node.block(hash, signal)).transactions();
    const tx = transactions.find((each) => spends(each, coins));
    // Found again there at once at the next look.
    if (tx !== undefined) return { tx, height };
  }
  // A reorganisation may put it below: the next look begins anew.
  next.delete(key);
  return null;
}
