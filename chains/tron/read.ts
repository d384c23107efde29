// What one escrow shows: its record in the contract, at the newest block and at the newest solid
// one, joined with the transactions that made it. The record is the truth, and names the blocks to
// look into; a log by itself is nothing.
//
//   record     shown as
//   never      not funded
//   funded     funded; where the contract holds less of the token than the amount (it shrank or
//              was seized), seen and never deep
//   claimed    claimed, whatever the token did since
//   refunded   refunded
//
// Deep means: the solid record says the same, and the block has as many confirmations as wanted.

import { encodeFunctionData } from 'viem/utils';
import { escrowsAbi } from '../../contracts/tron/artifacts/abi.ts';
import { ParleyError } from '../../core/errors.ts';
import { type EscrowFacts, nothingSeen, type Sighting } from '../../core/facts.ts';
import type { WatchedEscrow } from '../adapter.ts';
import { once } from '../sources.ts';
import { headBlock, tokenBalance, type View, wordsOf } from './node.ts';
import { idOfEscrow } from './plan.ts';
import { transactionIn } from './receipts.ts';
import { remember, type Watch } from './watch.ts';

export type Status = 'never' | 'funded' | 'claimed' | 'refunded';
const statuses: readonly Status[] = ['never', 'funded', 'claimed', 'refunded'];

export type Record = {
  readonly status: Status;
  readonly fundedBlock: number;
  readonly settledBlock: number;
  /** Whether the contract has as much of the asset as this escrow is owed. */
  readonly covered: boolean;
};

const mostTries = 3;
/** Less than a builder of the market may take in all. */
const historyMs = 2_000;

export async function recordAt(
  watch: Watch,
  { address, terms }: Pick<WatchedEscrow, 'address' | 'terms'>,
  view: View,
  signal: AbortSignal,
): Promise<Record> {
  const { http, deployment } = watch;
  const { contract } = deployment;
  const args = [idOfEscrow(address)] as const;
  const data = encodeFunctionData({ abi: escrowsAbi, functionName: 'stateOf', args }).slice(2);
  const words = await wordsOf(http, view, contract, data, 3, signal);
  const [code, fundedBlock, settledBlock] = words.map(Number) as [number, number, number];
  const status = statuses[code];
  if (status === undefined) throw unexplained(watch, address, `with status ${code}`);
  const { token, amount } = terms;
  const covered =
    token === null ||
    status !== 'funded' ||
    (await tokenBalance(http, view, token, contract, signal)) >= amount;
  return { status, fundedBlock, settledBlock, covered };
}

function unexplained(watch: Watch, escrow: string, what: string): ParleyError {
  return new ParleyError(
    'chain_unavailable',
    `the ${watch.chain} node shows the escrow ${escrow} ${what}`,
    { chain: watch.chain, escrow },
  );
}

function isSettled({ status }: Record): boolean {
  return status === 'claimed' || status === 'refunded';
}

/** Behind a load balancer the newest block of one node may be older than another's solid one. */
function later(one: Record, other: Record): Record {
  const rank = (record: Record) => (isSettled(record) ? 2 : record.status === 'funded' ? 1 : 0);
  return rank(other) > rank(one) ? other : one;
}

export async function readEscrow(
  watch: Watch,
  watched: WatchedEscrow,
  signal: AbortSignal,
): Promise<EscrowFacts> {
  remember(watch, watched);
  const patience = AbortSignal.timeout(historyMs);
  for (let tries = 1; ; tries += 1) {
    const deep = await recordAt(watch, watched, 'solid', signal);
    const now = later(await recordAt(watch, watched, 'head', signal), deep);
    const head = await headBlock(watch.http, 'head', signal);
    const wanted = now.status === 'claimed' && !watch.secrets.has(watched.terms.hashlock);
    // A secret that is wanted is worth all the time there is; ids of transactions are not.
    const limit = wanted ? signal : AbortSignal.any([signal, patience]);
    const made = await transactionsFound(watch, watched.address, now, { limit, signal });
    // A block may have been taken back between two questions.
    if (!made.whole && !made.failed && tries < mostTries) continue;
    if (!made.whole) {
      // The record is the truth all the same.
      const { status, fundedBlock, settledBlock } = now;
      const facts = { escrow: watched.address, status, fundedBlock, settledBlock };
      once(watch, 'no_history', { chain: watch.chain, ...facts });
    }
    const facts = factsOf(watch, watched, { now, deep, head: head.number, made });
    noteDepth(watch, watched, facts, now);
    return facts;
  }
}

/** Shown where no transaction of a block is found to have done what the record says. */
const unknownTxid = 'unknown';

type Made = {
  readonly fund: string;
  readonly settle: string;
  readonly whole: boolean;
  /** The node does not tell, or not in time. */
  readonly failed?: true;
};

/** A node without receipts hides no record. */
async function transactionsFound(
  watch: Watch,
  escrow: string,
  record: Record,
  limits: { readonly limit: AbortSignal; readonly signal: AbortSignal },
): Promise<Made> {
  try {
    return await transactionsOf(watch, escrow, record, limits.limit);
  } catch (error) {
    if (limits.signal.aborted || !(error instanceof ParleyError)) throw error;
    return { fund: unknownTxid, settle: unknownTxid, whole: false, failed: true };
  }
}

/** The ids of the transactions behind a record, as far as they are found. */
async function transactionsOf(
  watch: Watch,
  escrow: string,
  record: Record,
  signal: AbortSignal,
): Promise<Made> {
  const { status, fundedBlock, settledBlock } = record;
  const none = { fund: unknownTxid, settle: unknownTxid };
  if (status === 'never') return { ...none, whole: true };
  const fund = await transactionIn(watch, escrow, fundedBlock, 'fund', signal);
  if (!isSettled(record)) return { ...none, fund: fund ?? unknownTxid, whole: fund !== null };
  const verb = status === 'claimed' ? 'claim' : 'refund';
  const settle = await transactionIn(watch, escrow, settledBlock, verb, signal);
  return {
    fund: fund ?? unknownTxid,
    settle: settle ?? unknownTxid,
    whole: fund !== null && settle !== null,
  };
}

type Shown = {
  readonly now: Record;
  readonly deep: Record;
  /** Height of the newest block. */
  readonly head: number;
  readonly made: Made;
};

function factsOf(
  watch: Watch,
  { terms, requiredConfirmations }: WatchedEscrow,
  { now, deep, head, made }: Shown,
): EscrowFacts {
  const secret = watch.secrets.get(terms.hashlock) ?? null;
  if (now.status === 'never') return { ...nothingSeen, secret };
  const sight = (txid: string, block: number, isSolid: boolean): Sighting => {
    const confirmations = Math.max(1, head - block + 1);
    const deepEnough = isSolid && confirmations >= requiredConfirmations;
    return { txid, confirmations, deep: deepEnough };
  };
  const fundedSolid = deep.status !== 'never' && deep.covered && now.covered;
  const settledSolid = deep.status === now.status && deep.settledBlock === now.settledBlock;
  const settled = isSettled(now) ? sight(made.settle, now.settledBlock, settledSolid) : null;
  return {
    funded: sight(made.fund, now.fundedBlock, fundedSolid),
    claimed: now.status === 'claimed' ? settled : null,
    refunded: now.status === 'refunded' ? settled : null,
    secret,
    balance: now.status === 'funded' ? terms.amount : 0n,
    empty: settled?.deep ?? false,
  };
}

/** What is not yet deep is reported again by changes() until it is. */
function noteDepth(
  watch: Watch,
  { address }: WatchedEscrow,
  { funded, claimed, refunded }: EscrowFacts,
  { fundedBlock, settledBlock }: Record,
): void {
  const settled = claimed ?? refunded;
  const shallow = settled === null ? funded : settled;
  if (shallow === null || shallow.deep) return;
  const block = settled === null ? fundedBlock : settledBlock;
  watch.shallow.set(address, Math.max(block, watch.shallow.get(address) ?? 0));
}
