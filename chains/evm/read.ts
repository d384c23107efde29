// What one escrow shows: its state (code and balance) at the best block and at its depth, joined
// with the logs that say by which transactions it came about. Neither is believed alone:
//
//   code  balance   log       is shown as
//   none  any       any       not funded: a log without code is no funding. What lies at an
//                             address without code cannot be claimed or refunded: balance 0
//   yes   >= amount funding   funded
//   yes   >= amount none      funded: only the factory can put code there. Its transaction is
//                             looked for in the block that made the code
//   yes   < amount  claim     claimed (what is left, dust, is shown as balance)
//   yes   < amount  refund    refunded, unless it was claimed before: then the dust went home
//   yes   < amount  none      the node kept a log back (receipts of known callers are asked), or
//                             the token took the money: seen, never deep, never `empty`
//   yes   >= amount claim     somebody paid it again after it settled; the claim is believed when
//                             its receipt says so too
//
// Deep means: the block of the transaction is at least as deep as the escrow wants (and at or
// below the tagged head where one is wanted), and the state at that depth says the same.

import { ParleyError } from '../../core/errors.ts';
import { type EscrowFacts, nothingSeen, type Sighting } from '../../core/facts.ts';
import type { WatchedEscrow } from '../adapter.ts';
import { once } from '../sources.ts';
import { confirmed, creationOf } from './creation.ts';
import { type Block, balanceAt, blockAt, codeAt, headBlock } from './node.ts';
import { scanEscrow } from './scan.ts';
import { type Known, type Mark, mark, remember, type Watch } from './watch.ts';

type State = { readonly code: boolean; readonly balance: bigint };

/** What happened, each at its first time in the chain's order. */
type History = {
  readonly fund: Mark | null;
  readonly claim: Mark | null;
  readonly refund: Mark | null;
};

const mostTries = 3;

/** One question for all that a request asks of the best block at the same moment. */
export function headOnce(watch: Watch, signal: AbortSignal): Promise<Block> {
  if (watch.head?.signal === signal) return watch.head.block;
  const block = headBlock(watch.rpc, signal).finally(() => {
    if (watch.head?.block === block) watch.head = null;
  });
  watch.head = { signal, block };
  return block;
}

/** Reads between two looks at the head, so that all that was read belongs to one chain. */
export async function readEscrow(
  watch: Watch,
  watched: WatchedEscrow,
  signal: AbortSignal,
): Promise<EscrowFacts> {
  const known = remember(watch, watched);
  for (let tries = 0; tries < mostTries; tries += 1) {
    const head = await headOnce(watch, signal);
    const facts = await readAt(watch, known, watched, head, signal);
    const again = await blockAt(watch.rpc, head.number, false, signal);
    if (again?.hash !== head.hash) continue;
    noteDepth(watch, watched, facts, head);
    return facts;
  }
  throw new ParleyError(
    'chain_unavailable',
    `the best block of ${watch.chain} changed ${mostTries} times while it was read`,
    { chain: watch.chain },
  );
}

async function readAt(
  watch: Watch,
  known: Known,
  watched: WatchedEscrow,
  head: Block,
  signal: AbortSignal,
): Promise<EscrowFacts> {
  const { address, terms } = watched;
  const secret = () => watch.secrets.get(terms.hashlock) ?? null;
  const now = await stateAt(watch, watched, head.number, signal);
  const waiting = watch.waiting.get(address);
  if (!now.code) {
    known.marks.clear();
    known.scannedTo = null;
    const funded = waiting?.verb === 'fund' ? atSight(waiting.txid) : null;
    return { ...nothingSeen, funded, secret: secret(), empty: funded === null };
  }
  const deepest = await deepestBlock(watch, watched, head, signal);
  const deep = await deepState(watch, watched, deepest, signal);
  const history = await historyOf(watch, known, watched, now, head.number, signal);
  const { amount } = terms;
  const settledBy = history.claim ?? history.refund;
  const isDeep = (found: Mark, shown: boolean) => found.block <= deepest && shown;
  const sight = (found: Mark | null, shown: boolean): Sighting | null =>
    found === null
      ? null
      : {
          txid: found.txid,
          confirmations: head.number - found.block + 1,
          deep: isDeep(found, shown),
        };
  const holds = settledBy !== null || now.balance >= amount;
  const held = deep === null || (deep.code && (settledBy !== null || deep.balance >= amount));
  const pending = settledBy === null && now.balance >= amount ? waiting : undefined;
  // Where the whole amount is there again, lookBack() has asked for the receipt.
  const gone = deep === null || (deep.code && (deep.balance < amount || now.balance >= amount));
  const settledDeep = settledBy !== null && isDeep(settledBy, gone);
  const isEmpty = now.balance === 0n && settledDeep && (deep === null || deep.balance === 0n);
  return {
    funded: sight(history.fund, holds && held),
    claimed:
      sight(history.claim, gone) ?? (pending?.verb === 'claim' ? atSight(pending.txid) : null),
    refunded:
      sight(history.refund, gone) ?? (pending?.verb === 'refund' ? atSight(pending.txid) : null),
    secret: secret(),
    balance: now.balance,
    empty: isEmpty && (await isFinal(watch, settledBy, head, signal)),
  };
}

function atSight(txid: string): Sighting {
  return { txid, confirmations: 0, deep: false };
}

/** Code and balance at a block. */
export async function stateAt(
  watch: Watch,
  { address, terms }: WatchedEscrow,
  at: number,
  signal: AbortSignal,
): Promise<State> {
  const code = (await codeAt(watch.rpc, address, at, signal)) !== '0x';
  const balance = code ? await balanceAt(watch.rpc, terms.token, address, at, signal) : 0n;
  return { code, balance };
}

/** The last block that is deep enough for this escrow; below 0 when none is. */
export async function deepestBlock(
  watch: Watch,
  { requiredConfirmations }: Pick<WatchedEscrow, 'requiredConfirmations'>,
  head: Pick<Block, 'number'>,
  signal: AbortSignal,
): Promise<number> {
  const byCount = head.number - requiredConfirmations + 1;
  if (watch.depthTag === null || requiredConfirmations < watch.tagFrom) return byCount;
  const tagged = await blockAt(watch.rpc, watch.depthTag, false, signal);
  return Math.min(byCount, tagged?.number ?? -1);
}

/** Behind the head, where a node names no final block: 17 minutes of the quickest chain. */
const finalAfterBlocks = 4_096;

/** The last block that nothing takes back any more; below 0 when none is. */
export async function finalBlock(
  watch: Watch,
  head: Pick<Block, 'number'>,
  signal: AbortSignal,
): Promise<number> {
  try {
    const final = await blockAt(watch.rpc, 'finalized', false, signal);
    if (final !== null) return final.number;
    once(watch, 'no_final_head', { chain: watch.chain, why: 'none' });
  } catch (error) {
    if (!(error instanceof ParleyError) || error.facts.rpcCode === undefined) throw error;
    once(watch, 'no_final_head', { chain: watch.chain, why: error.message });
  }
  return head.number - finalAfterBlocks;
}

async function isFinal(watch: Watch, found: Mark | null, head: Block, signal: AbortSignal) {
  return found !== null && found.block <= (await finalBlock(watch, head, signal));
}

/** null when the node keeps no state that old: then depth is judged by the logs' blocks. */
export async function deepState(
  watch: Watch,
  watched: WatchedEscrow,
  deepest: number,
  signal: AbortSignal,
): Promise<State | null> {
  if (deepest < 0) return { code: false, balance: 0n };
  try {
    return await stateAt(watch, watched, deepest, signal);
  } catch (error) {
    if (!(error instanceof ParleyError) || error.facts.rpcCode === undefined) throw error;
    once(watch, 'no_old_state', { chain: watch.chain, block: deepest, why: error.message });
    return null;
  }
}

async function historyOf(
  watch: Watch,
  known: Known,
  watched: WatchedEscrow,
  now: State,
  head: number,
  signal: AbortSignal,
): Promise<History & { readonly fund: Mark }> {
  const explained = ({ fund, claim, refund }: History) =>
    fund !== null && (now.balance >= watched.terms.amount || claim !== null || refund !== null);
  let history = await lookBack(watch, known, now, watched, head, signal);
  if (!explained(history)) {
    known.scannedTo = null;
    history = await lookBack(watch, known, now, watched, head, signal);
  }
  if (!explained(history)) {
    for (const txid of known.callers) {
      for (const verb of ['claim', 'refund'] as const) {
        const found = await confirmed(watch, known, txid, verb, signal);
        if (found !== null) mark(known, found);
      }
    }
    history = firsts(known, head);
  }
  const fund = history.fund ?? (await creationOf(watch, known, head, signal));
  if (fund === null) {
    throw new ParleyError(
      'chain_unavailable',
      `the ${watch.chain} node shows the escrow ${watched.address}, but no transaction made it`,
      { chain: watch.chain, escrow: watched.address },
    );
  }
  mark(known, fund);
  if (!explained({ ...history, fund })) {
    const { address } = watched;
    watch.log('unexplained_balance', { chain: watch.chain, escrow: address, held: now.balance });
  }
  return { ...history, fund };
}

/** Scans, and asks again for what is remembered from before the scanned blocks. */
async function lookBack(
  watch: Watch,
  known: Known,
  now: State,
  { terms }: WatchedEscrow,
  head: number,
  signal: AbortSignal,
): Promise<History> {
  const fresh = await scanEscrow(watch, known, head, signal);
  for (let tries = 0; ; tries += 1) {
    const history = firsts(known, head);
    const { fund, claim, refund } = history;
    // A settlement that left the whole amount behind is believed only with its receipt.
    const odd = now.balance >= terms.amount;
    const doubted = [fund, claim, refund].filter(
      (each) => each !== null && (!fresh.has(each.txid) || (odd && each.verb !== 'fund')),
    ) as Mark[];
    let changed = false;
    for (const each of doubted) {
      const found = await confirmed(watch, known, each.txid, each.verb, signal);
      if (found?.block === each.block) continue;
      known.marks.delete(`${each.verb} ${each.txid}`);
      if (found !== null) mark(known, found);
      changed = true;
    }
    if (!changed || tries === mostTries) return history;
  }
}

/** The first of each verb; a refund after a claim only sent dust home. */
function firsts(known: Known, head: number): History {
  const marks = [...known.marks.values()]
    .filter(({ block }) => block <= head)
    .sort((one, other) => one.block - other.block || one.index - other.index);
  const first = (verb: Mark['verb']) => marks.find((each) => each.verb === verb) ?? null;
  const claim = first('claim');
  return { fund: first('fund'), claim, refund: claim === null ? first('refund') : null };
}

/** What is not yet deep, and then not yet final, is reported again by changes() when it is. */
function noteDepth(watch: Watch, { address }: WatchedEscrow, facts: EscrowFacts, head: Block) {
  for (const found of [facts.funded, facts.claimed, facts.refunded]) {
    if (found === null || found.deep || found.confirmations === 0) continue;
    const block = head.number - found.confirmations + 1;
    watch.shallow.set(address, Math.max(block, watch.shallow.get(address) ?? 0));
  }
  const settled = facts.claimed ?? facts.refunded;
  // What is left in it is no matter of time.
  if (!settled?.deep || facts.empty || facts.balance > 0n) return;
  watch.unfinal.set(address, head.number - settled.confirmations + 1);
}
