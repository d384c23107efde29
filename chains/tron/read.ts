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
// The head shows what waits for a block as if it had happened: run in block 0 at time 0, so that a
// claim after its timelock succeeds there until its block. Such a record is none: the escrow is
// shown as it is without it.
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
import { type Found, remember, type Verb, type Watch } from './watch.ts';

export type Status = 'never' | 'funded' | 'claimed' | 'refunded';
const statuses: readonly Status[] = ['never', 'funded', 'claimed', 'refunded'];

export type Record = {
  readonly status: Status;
  readonly fundedBlock: number;
  readonly settledBlock: number;
  /** Whether the contract has as much of the asset as this escrow is owed. */
  readonly covered: boolean;
  /** Whether something that waits for a block would settle it: trials at the head tell nothing. */
  readonly isAwaited: boolean;
};

const mostTries = 3;
/** Less than a builder of the market may take in all; what takes longer is told later. */
const historyMs = 2_000;
const searchMs = 30_000;

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
  const shown = { status, fundedBlock, settledBlock, covered: true, isAwaited: false };
  const record = inBlocks(shown, Number.POSITIVE_INFINITY);
  const { token, amount } = terms;
  // What waits has taken the escrow's part out of the head's balance.
  if (token === null || record.status !== 'funded' || record.isAwaited) return record;
  const covered = (await tokenBalance(http, view, token, contract, signal)) >= amount;
  return { ...record, covered };
}

/** As it was before what is in no block up to `head`. */
function inBlocks(record: Record, head: number): Record {
  const { status, fundedBlock, settledBlock } = record;
  const isNone = (block: number) => block === 0 || block > head;
  if (status === 'never') return record;
  if (isNone(fundedBlock)) return { ...record, status: 'never', fundedBlock: 0, settledBlock: 0 };
  if (!isSettled(record) || !isNone(settledBlock)) return record;
  return { ...record, status: 'funded', settledBlock: 0, isAwaited: true };
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
    const newest = await recordAt(watch, watched, 'head', signal);
    const head = await headBlock(watch.http, 'head', signal);
    const now = later(inBlocks(newest, head.number), deep);
    const wanted = now.status === 'claimed' && !watch.secrets.has(watched.terms.hashlock);
    // A secret that is wanted is worth all the time there is; ids of transactions are not.
    const limit = wanted ? signal : AbortSignal.any([signal, patience]);
    const made = await transactionsOf(watch, watched.address, now, deep, { limit, signal });
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
  readonly failed: boolean;
};

type Limits = { readonly limit: AbortSignal; readonly signal: AbortSignal };

/** The ids of the transactions behind a record, as far as they are found. */
async function transactionsOf(
  watch: Watch,
  escrow: string,
  record: Record,
  deep: Record,
  limits: Limits,
): Promise<Made> {
  const { status, fundedBlock, settledBlock } = record;
  const none = { txid: unknownTxid, failed: false };
  const of = (verb: Verb, block: number, solid: number) =>
    transactionOf(watch, { escrow, verb, block, isSolid: block === solid }, limits);
  const [fund, settle] = await Promise.all([
    status === 'never' ? none : of('fund', fundedBlock, deep.fundedBlock),
    isSettled(record)
      ? of(status === 'claimed' ? 'claim' : 'refund', settledBlock, deep.settledBlock)
      : none,
  ]);
  const isFound = ({ txid }: { txid: string }) => txid !== unknownTxid;
  return {
    fund: fund.txid,
    settle: settle.txid,
    whole: (status === 'never' || isFound(fund)) && (!isSettled(record) || isFound(settle)),
    failed: fund.failed || settle.failed,
  };
}

type Wanted = {
  readonly escrow: string;
  readonly verb: Verb;
  readonly block: number;
  readonly isSolid: boolean;
};

/** A node without receipts hides no record, and one that is slow with them tells them later. */
async function transactionOf(
  watch: Watch,
  wanted: Wanted,
  { limit, signal }: Limits,
): Promise<{ readonly txid: string; readonly failed: boolean }> {
  const known = watch.made.get(wanted.escrow)?.get(placeOf(wanted));
  if (known !== undefined && (known.isSolid || !wanted.isSolid)) return { ...known, failed: false };
  const search = searchFor(watch, wanted);
  try {
    const txid = await Promise.race([search, ended(limit)]);
    return { txid: txid ?? known?.txid ?? unknownTxid, failed: false };
  } catch (error) {
    if (signal.aborted) throw late(watch, wanted, error);
    if (!limit.aborted && !(error instanceof ParleyError)) throw error;
    const tell = (txid: string | null) => {
      if (txid !== null && watch.known.has(wanted.escrow)) watch.owed.add(wanted.escrow);
    };
    search.then(tell, () => {});
    return { txid: known?.txid ?? unknownTxid, failed: true };
  }
}

function late({ chain }: Watch, { escrow }: Wanted, cause: unknown): ParleyError {
  const sentence = `the ${chain} node did not tell in time what became of ${escrow}`;
  return new ParleyError('chain_timeout', sentence, { chain, escrow }, { cause });
}

const placeOf = ({ verb, block }: Wanted): string => `${verb} ${block}`;

/** Goes on when nobody waits any more. */
function searchFor(watch: Watch, wanted: Wanted): Promise<string | null> {
  const { escrow, verb, block, isSolid } = wanted;
  const { searches, made, closed } = watch;
  const key = `${escrow} ${placeOf(wanted)} ${isSolid}`;
  const going = searches.get(key);
  if (going !== undefined) return going;
  const until = AbortSignal.any([closed.signal, AbortSignal.timeout(searchMs)]);
  const search = transactionIn(watch, escrow, block, verb, until)
    .then((txid) => {
      if (txid !== null && watch.known.has(escrow)) {
        const own = made.get(escrow) ?? new Map<string, Found>();
        made.set(escrow, own.set(placeOf(wanted), { txid, isSolid }));
      }
      return txid;
    })
    .finally(() => searches.delete(key));
  searches.set(key, search);
  return search;
}

function ended(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const end = () => reject(signal.reason);
    if (signal.aborted) end();
    signal.addEventListener('abort', end, { once: true });
  });
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
