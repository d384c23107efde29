// The facts of one escrow: its state at the best block and at its depth, and the logs that explain
// it. The state is the truth. Deep: the block is deep enough, and the state there says the same.

import { ParleyError } from '@parley/core/errors.ts';
import { type EscrowFacts, nothingSeen, type Sighting } from '@parley/core/facts.ts';
import type { Secret } from '@parley/core/hashlock.ts';
import {
  type EscrowState,
  isUnfunded,
  rankOf,
  settledRank,
  unknownTxid,
  verbOf,
} from '../escrows/state.ts';
import type { Look, WatchedEscrow } from '../interface/reading.ts';
import * as kit from '../kit/agreement.ts';
import { begun, gathering } from '../nodes/gathering.ts';
import type { Rpc } from '../nodes/rpc.ts';
import { once } from '../nodes/sources.ts';
import { type At, atLook, type Block, balanceAt, blockAt, headBlock } from './node.ts';
import { deploymentOf } from './plan.ts';
import { changeOf, confirmed, isRefusal, scanEscrow } from './scan.ts';
import { stateAt as wordAt } from './state.ts';
import { type Known, type Mark, mark, remember, type Watch } from './watch.ts';

export type State = EscrowState & { readonly covered: boolean };

type History = {
  readonly fund: Mark | null;
  readonly claim: Mark | null;
  readonly refund: Mark | null;
  /** Its counter went to another escrow: it was never funded. */
  readonly isVoid?: true;
};

const nothingTold: History = { fund: null, claim: null, refund: null };

const mostTries = 3;

/** The facts at the best block: all that is asked at one moment leaves in one exchange. */
export async function look(
  watch: Watch,
  escrows: readonly WatchedEscrow[],
  signal: AbortSignal,
): Promise<Look> {
  for (let tries = 1; ; tries += 1) {
    const head = await headBlock(gathering(watch.rpc, signal), signal);
    const heads = { height: head.number, hash: head.hash, clock: head.timestamp };
    const together: Watch = { ...watch, rpc: atLook(watch.rpc, heads) };
    try {
      const facts = await Promise.all(
        escrows.map(async (each) => {
          const shown = await readAt(together, remember(watch, each), each, head, signal);
          noteDepth(watch, each, shown, head);
          return shown;
        }),
      );
      return { heads, facts };
    } catch (error) {
      if (!mayBeOfReorganisation(error) || tries === mostTries) throw error;
      const same = await blockAt(watch.rpc, head.number, false, signal);
      if (same?.hash === head.hash) throw error;
    }
  }
}

/** The node has no answer for a block that was taken back, or its logs are gone. */
function mayBeOfReorganisation(error: unknown): boolean {
  if (!(error instanceof ParleyError)) return false;
  return error.facts.rpcCode !== undefined || error.facts.escrow !== undefined;
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
  const depth = async () => {
    const deepest = await deepestBlock(watch, watched, head, signal);
    return { deepest, deep: await deepState(watch, watched, deepest, signal) };
  };
  const looking = () => lookBack(watch, known, head.number, signal);
  // A funded escrow is as a rule open still, or settled: all of it is asked for at once.
  const wasFunded = known.marks.size > 0 || (watched.stored?.funded ?? null) !== null;
  const early = wasFunded ? { depth: begun(depth()), history: begun(looking()) } : null;
  const now = await stateAt(watch, watched, head, signal, wasFunded);
  const waiting = watch.waiting.get(address);
  if (isUnfunded(now)) {
    // A poll that is under way keeps nothing.
    await early?.history.catch(() => {});
    known.marks.clear();
    known.scannedTo = null;
    const funded = waiting === undefined ? null : atSight(waiting);
    return { ...nothingSeen, funded, secret: secret(), empty: funded === null };
  }
  const { deepest, deep } = await (early?.depth ?? depth());
  const looked = early?.history ?? looking();
  const history = await historyOf(watch, known, watched, now, head, looked, signal).catch(
    (error: unknown) => {
      if (now.state !== 'ended' || !isRefusal(error)) throw error;
      once(watch, 'unknown_outcome', { chain: watch.chain, escrow: address, why: error.message });
      return nothingTold;
    },
  );
  const sight = (found: Mark | null, shown: boolean): Sighting | null =>
    found === null
      ? null
      : {
          txid: found.txid,
          confirmations: head.number - found.block + 1,
          deep: found.block <= deepest && shown,
        };
  const { claim, refund } = settlingOf(now, history);
  if (now.state === 'ended' && claim === null && refund === null) {
    if (history.isVoid && history.fund === null) return { ...nothingSeen, secret: secret() };
    return endedUnseen(watched, sight(history.fund, true), secret());
  }
  const wasSettled = deep === null || rankOf(deep) >= settledRank;
  const claimed = sight(claim, wasSettled);
  const refunded = sight(refund, wasSettled);
  const settled = claim ?? refund;
  const isSettledDeep = (claimed ?? refunded)?.deep ?? false;
  const isDeep = deep === null || (rankOf(deep) > 0 && (deep.state !== 'open' || deep.covered));
  const funded = sight(history.fund, isDeep && (now.state !== 'open' || now.covered));
  return {
    funded: funded ?? unknownFunding(watched, head, settled),
    claimed,
    refunded,
    secret: secret(),
    balance: now.state === 'open' ? terms.amount : 0n,
    empty: isSettledDeep && (await isFinal(watch, settled, head, signal)),
  };
}

function atSight(txid: string): Sighting {
  return { txid, confirmations: 0, deep: false };
}

/** Where the log of the funding is lost, by what was stored; it lies below what settled it. */
function unknownFunding({ stored }: WatchedEscrow, head: Block, settled: Mark | null) {
  if (stored?.funded) return stored.funded;
  const confirmations = settled === null ? 1 : head.number - settled.block + 1;
  return { txid: unknownTxid, confirmations, deep: settled !== null };
}

/** A funding that nothing proves is none: the counter may have gone to another escrow. */
function endedUnseen(
  { stored = nothingSeen }: WatchedEscrow,
  funding: Sighting | null,
  secret: Secret | null,
): EscrowFacts {
  const { funded, claimed, refunded } = stored;
  const seen = { funded: funding ?? funded, claimed, refunded, secret: secret ?? stored.secret };
  const facts = { ...seen, balance: 0n, empty: true };
  return (claimed ?? refunded)?.deep ? facts : { ...facts, outcome: 'unknown' };
}

/** The state says whether it was a claim or a refund; for an ended one its logs or receipts do. */
function settlingOf(
  { state }: EscrowState,
  { claim, refund }: History,
): Pick<History, 'claim' | 'refund'> {
  switch (state) {
    case 'claimed':
      return { claim, refund: null };
    case 'refunded':
      return { claim: null, refund };
    case 'ended':
      return { claim, refund: claim === null ? refund : null };
    case 'never':
    case 'void':
    case 'open':
      return { claim: null, refund: null };
  }
}

export async function stateAt(
  { rpc, deployment }: Pick<Watch, 'rpc' | 'deployment'>,
  { terms }: Pick<WatchedEscrow, 'terms'>,
  at: At,
  signal: AbortSignal,
  isLikelyOpen = false,
): Promise<State> {
  const { token, amount } = terms;
  const { contract } = deploymentOf({ deployment }, terms);
  const holding = async () =>
    token === null ? amount : balanceAt(rpc, token, contract, at, signal);
  const early = isLikelyOpen ? begun(holding()) : null;
  const shown = await wordAt(rpc, deployment, terms, at, signal);
  if (shown.state !== 'open') return { ...shown, covered: true };
  return { ...shown, covered: (await (early ?? holding())) >= amount };
}

/** The last block that is deep enough for this escrow; below 0 without one. */
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

/** The last block that nothing takes back any more; below 0 without one. */
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
    if (!isRefusal(error)) throw error;
    once(watch, 'no_final_head', { chain: watch.chain, why: error.message });
  }
  return head.number - finalAfterBlocks;
}

async function isFinal(watch: Watch, found: Mark | null, head: Block, signal: AbortSignal) {
  return found !== null && found.block <= (await finalBlock(watch, head, signal));
}

/** null when the node keeps no state that old: then depth is judged by the logs' blocks. */
async function deepState(
  watch: Watch,
  watched: WatchedEscrow,
  deepest: number,
  signal: AbortSignal,
): Promise<State | null> {
  if (deepest < 0) return { state: 'never', covered: true };
  try {
    return await stateAt(watch, watched, deepest, signal, true);
  } catch (error) {
    if (!isRefusal(error)) throw error;
    once(watch, 'no_old_state', { chain: watch.chain, block: deepest, why: error.message });
    return null;
  }
}

async function historyOf(
  watch: Watch,
  known: Known,
  watched: WatchedEscrow,
  now: State,
  head: Block,
  looked: Promise<History>,
  signal: AbortSignal,
): Promise<History> {
  const { address } = watched;
  let history = await looked;
  if (!explains(history, now)) {
    known.scannedTo = null;
    history = await lookBack(watch, known, head.number, signal);
  }
  if (explains(history, now)) return history;
  const verb = verbOf(now);
  // A lane that is used again forgets how this one ended: the blocks tell it.
  const verbs = verb === null ? (['claim', 'refund'] as const) : [verb];
  const found = await changeOf(watch, known, verbs, now, signal);
  if (found === 'void' && now.state === 'ended') return { ...history, isVoid: true };
  if (found !== null && found !== 'void') {
    mark(known, found);
    return firsts(known, head.number);
  }
  if (now.state === 'ended') {
    once(watch, 'unknown_outcome', { chain: watch.chain, escrow: address });
    return history;
  }
  throw new ParleyError(
    'chain_unavailable',
    `the ${watch.chain} node shows the escrow ${address} ${now.state}, but no transaction that did it`,
    { chain: watch.chain, escrow: address },
  );
}

function explains({ fund, claim, refund }: History, { state }: State): boolean {
  switch (state) {
    case 'open':
      return fund !== null;
    case 'claimed':
      return claim !== null;
    case 'refunded':
      return refund !== null;
    case 'ended':
      return claim !== null || refund !== null;
    case 'never':
    case 'void':
      return true;
  }
}

/** Scans, and asks again for what is remembered from before the scanned blocks. */
async function lookBack(watch: Watch, known: Known, head: number, signal: AbortSignal) {
  const fresh = await scanEscrow(watch, known, head, signal);
  for (let tries = 0; ; tries += 1) {
    const history = firsts(known, head);
    const { fund, claim, refund } = history;
    const doubted = [fund, claim, refund].filter(
      (each) => each !== null && !fresh.has(each.txid),
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

function firsts(known: Known, head: number): History {
  const marks = [...known.marks.values()]
    .filter(({ block }) => block <= head)
    .sort((one, other) => one.block - other.block || one.index - other.index);
  const first = (verb: Mark['verb']) => marks.find((each) => each.verb === verb) ?? null;
  return { fund: first('fund'), claim: first('claim'), refund: first('refund') };
}

/**
 * A sighting that is not yet confirmed, and then not yet final, is reported again by changes() when
 * it is.
 */
function noteDepth(watch: Watch, { address }: WatchedEscrow, facts: EscrowFacts, head: Block) {
  for (const found of [facts.funded, facts.claimed, facts.refunded]) {
    if (found === null || found.deep || found.confirmations === 0) continue;
    const block = head.number - found.confirmations + 1;
    watch.shallow.set(address, Math.max(block, watch.shallow.get(address) ?? 0));
  }
  const settled = facts.claimed ?? facts.refunded;
  // The rest in it is no matter of time.
  if (!settled?.deep || facts.empty || facts.balance > 0n) return;
  watch.unfinal.set(address, head.number - settled.confirmations + 1);
}

/** Blocks below the lowest head at which sources are compared: the last ones may still change. */
const agreementDepth = 6;

export async function hashAt(one: Rpc, height: number, signal: AbortSignal) {
  return (await blockAt(one, height, false, signal))?.hash ?? null;
}

const compared: kit.Compared<Watch, Rpc> = {
  nodesOf: ({ rpc }) => rpc,
  headOf: async (one, signal) => (await headBlock(one, signal)).number,
  heights: (lowest) => [Math.max(0, lowest - agreementDepth)],
  hashAt,
  mustMeet: false,
  unit: 'height',
  fundingBy,
};

export function mustAgreeOnHeads(watch: Watch, signal: AbortSignal): Promise<Rpc[]> {
  return kit.mustAgreeOnHeads(watch, compared, signal);
}

export function mustAgree(watch: Watch, escrow: WatchedEscrow, signal: AbortSignal): Promise<void> {
  return kit.mustAgree(watch, compared, escrow, signal);
}

async function fundingBy(asked: Watch, rpc: Rpc, escrow: WatchedEscrow, signal: AbortSignal) {
  const watch = { ...asked, rpc };
  const head = await headBlock(rpc, signal);
  const deepest = await deepestBlock(watch, escrow, head, signal);
  // Without state that old, what it shows now must do.
  const state =
    (await deepState(watch, escrow, deepest, signal)) ??
    (await stateAt(watch, escrow, head.number, signal));
  const { state: shown, covered } = state;
  if (shown === 'never' || shown === 'void') return 'no funding';
  return `${shown}${covered ? '' : ', without its tokens'}`;
}
