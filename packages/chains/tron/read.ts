// The facts of one escrow: its lane's word at the newest and the newest solid block, and what made
// it. The word is the truth. A waiting transaction shows in the head and is taken off again.

import { ParleyError } from '@parley/core/errors.ts';
import { type EscrowFacts, nothingSeen, type Sighting } from '@parley/core/facts.ts';
import { stateData } from '../escrows/calls.ts';
import {
  type EscrowState,
  isSettled,
  isUnfunded,
  rankOf,
  stateIn,
  unknownTxid,
  verbOf,
} from '../escrows/state.ts';
import type { Look, WatchedEscrow } from '../interface/reading.ts';
import * as kit from '../kit/agreement.ts';
import { begun } from '../nodes/gathering.ts';
import { once, unlessAborted } from '../nodes/sources.ts';
import { lookInEvents } from './events.ts';
import type { Http } from './http.ts';
import { type Block, blockAt, headBlock, secondOf, type View } from './node.ts';
import { contractEscrow, deploymentOf } from './plan.ts';
import { askAhead } from './preflight.ts';
import { blocksAt, loggedIn, transactionIn } from './receipts.ts';
import { isOf, momentOf, noteMoment, tokenBalance, wordsOf } from './views.ts';
import { type Found, madeBy, noteMade, remember, type Verb, type Watch } from './watch.ts';

export type Record = EscrowState & {
  /** Whether the contract has as much of the asset as this escrow is owed. */
  readonly covered: boolean;
  /** Whether something that waits for a block would settle it: trials at the head tell nothing. */
  readonly isAwaited: boolean;
};

const mostTries = 3;
/** Less than a builder of the market may take in all; a slower read is reported later. */
const historyMs = 2_000;
const searchMs = 30_000;

/** The word alone: a hostile token is asked nothing. */
export async function wordAt(
  watch: Watch,
  { address, terms }: Pick<WatchedEscrow, 'address' | 'terms'>,
  view: View,
  signal: AbortSignal,
): Promise<Record> {
  const { chain, http } = watch;
  const { contract } = deploymentOf(watch, terms);
  const data = stateData(contractEscrow(terms)).slice(2);
  const words = await wordsOf(http, view, contract, data, 2, signal);
  const shown = stateIn(words);
  if (shown === null) {
    const sentence = `the ${chain} node shows the escrow ${address} in state ${words[0]}`;
    throw new ParleyError('chain_unavailable', sentence, { chain, escrow: address });
  }
  return inBlocks({ ...shown, covered: true, isAwaited: false }, Number.POSITIVE_INFINITY);
}

export async function recordAt(
  watch: Watch,
  escrow: Pick<WatchedEscrow, 'address' | 'terms'>,
  view: View,
  signal: AbortSignal,
): Promise<Record> {
  const { terms } = escrow;
  const { token, amount } = terms;
  const { contract } = deploymentOf(watch, terms);
  const holding =
    token === null ? null : begun(tokenBalance(watch.http, view, token, contract, signal));
  const record = await wordAt(watch, escrow, view, signal);
  // A waiting transaction has taken the escrow's part out of the head's balance.
  if (holding === null || record.state !== 'open' || record.isAwaited) return record;
  return { ...record, covered: (await holding) >= amount };
}

/** As it was before what is in no block up to that second. */
function inBlocks(record: Record, second: number): Record {
  const { state, changedAt } = record;
  const isNone = changedAt === 0 || changedAt > second;
  if (!isNone || !(state === 'open' || isSettled(record))) return record;
  if (state === 'open') return { ...record, state: 'never', changedAt: 0 };
  return { ...record, state: 'open', changedAt: 0, isAwaited: true };
}

/** Behind a load balancer the newest block of one node may be older than another's solid one. */
function later(one: Record, other: Record): Record {
  return rankOf(other) > rankOf(one) ? other : one;
}

/** Where a node does not tell a view's block, the newest before and after must be the same. */
export async function look(
  watch: Watch,
  escrows: readonly WatchedEscrow[],
  signal: AbortSignal,
): Promise<Look> {
  for (const each of escrows) remember(watch, each);
  const patience = AbortSignal.timeout(historyMs);
  let before: Block | null = null;
  for (let tries = 1; ; tries += 1) {
    const moment = momentOf(watch.http);
    const together = { ...watch, http: moment };
    const reading = begun(Promise.all(escrows.map((each) => wordsAt(together, each, signal))));
    const [only] = escrows.length === 1 && moment.isTogether ? escrows : [];
    if (only !== undefined) askAhead(together, only.terms, signal);
    let head = await headBlock(moment, 'head', signal);
    const words = await reading;
    const isLast = tries === mostTries;
    const seen = moment.seen('head');
    if (seen === null && escrows.length > 0) head = await headBlock(watch.http, 'head', signal);
    const isSame =
      escrows.length === 0 || (seen === null ? before?.hash === head.hash : isOf(seen, head));
    before = head;
    // A node that is slower than the chain is better than none.
    if (!isSame && !isLast) continue;
    const limits = { isLast, patience, signal };
    const facts = await Promise.all(words.map((each) => factsAt(watch, each, head, limits)));
    const known = facts.filter((each) => each !== null);
    if (known.length < facts.length) continue;
    const { number, hash } = head;
    const heads = { height: number, hash, clock: secondOf(head) };
    noteMoment(heads, moment);
    return { heads, facts: known };
  }
}

type Words = { readonly watched: WatchedEscrow; readonly deep: Record; readonly newest: Record };

async function wordsAt(watch: Watch, watched: WatchedEscrow, signal: AbortSignal): Promise<Words> {
  const [deep, newest] = await Promise.all([
    recordAt(watch, watched, 'solid', signal),
    recordAt(watch, watched, 'head', signal),
  ]);
  return { watched, deep, newest };
}

type Patience = {
  readonly isLast: boolean;
  readonly patience: AbortSignal;
  readonly signal: AbortSignal;
};

/** null: a block may have been taken back between two questions. */
async function factsAt(
  watch: Watch,
  { watched, deep, newest }: Words,
  head: Block,
  { isLast, patience, signal }: Patience,
): Promise<EscrowFacts | null> {
  const now = later(inBlocks(newest, secondOf(head)), deep);
  if (now.state === 'ended') return endedFacts(watch, watched, { deep, head }, signal);
  const wanted = now.state === 'claimed' && !watch.secrets.has(watched.terms.hashlock);
  // A secret that is wanted is worth all the time there is; ids of transactions are not.
  const limit = wanted ? signal : AbortSignal.any([signal, patience]);
  const looked = { now, deep, head };
  const made = await transactionOf(watch, watched.address, looked, { limit, signal });
  if (made.isMissing && !made.failed && !isLast) return null;
  if (made.isMissing) {
    // The word is the truth all the same.
    const { state: status, changedAt } = now;
    once(watch, 'no_history', { chain: watch.chain, escrow: watched.address, status, changedAt });
  }
  const isFundingKnown = (watched.stored?.funded?.txid ?? unknownTxid) !== unknownTxid;
  if (isSettled(now) && !isFundingKnown) {
    await lookInEvents(watch, watched, { sought: 'fund', head }, limit);
  }
  const facts = factsOf(watch, watched, { ...looked, made });
  noteDepth(watch, watched, facts, head);
  return facts;
}

type Made = {
  readonly found: Found | null;
  readonly isMissing: boolean;
  readonly failed: boolean;
};

type Limits = { readonly limit: AbortSignal; readonly signal: AbortSignal };
type Looked = { readonly now: Record; readonly deep: Record; readonly head: Block };

type Wanted = {
  readonly escrow: string;
  readonly verb: Verb;
  readonly second: number;
  readonly isSolid: boolean;
  readonly head: Block;
};

/** A node without receipts hides no change; one that is slow with them tells later. */
async function transactionOf(
  watch: Watch,
  escrow: string,
  { now, deep, head }: Looked,
  { limit, signal }: Limits,
): Promise<Made> {
  const verb = verbOf(now);
  if (verb === null) return { found: null, isMissing: false, failed: false };
  // As it is without what waits for a block: which block that was, the word no longer tells.
  if (now.changedAt === 0) {
    return { found: madeBy(watch, { escrow, verb }), isMissing: false, failed: false };
  }
  const isSolid = deep.state === now.state && deep.changedAt === now.changedAt;
  const wanted = { escrow, verb, second: now.changedAt, isSolid, head };
  const known = madeBy(watch, wanted);
  if (known !== null && (known.isSolid || !isSolid)) {
    return { found: known, isMissing: false, failed: false };
  }
  const search = searchFor(watch, wanted);
  try {
    const found = (await unlessAborted(search, limit)) ?? known;
    return { found, isMissing: found === null, failed: false };
  } catch (error) {
    if (signal.aborted) throw late(watch, wanted, error);
    if (!limit.aborted && !(error instanceof ParleyError)) throw error;
    const tell = (found: Found | null) => {
      if (found !== null && watch.known.has(escrow)) watch.owed.add(escrow);
    };
    search.then(tell, () => {});
    return { found: known, isMissing: known === null, failed: true };
  }
}

function late({ chain }: Watch, { escrow }: Wanted, cause: unknown): ParleyError {
  const sentence = `the ${chain} node did not tell in time what became of ${escrow}`;
  return new ParleyError('chain_timeout', sentence, { chain, escrow }, { cause });
}

/** Goes on when nobody waits any more. */
function searchFor(watch: Watch, wanted: Wanted): Promise<Found | null> {
  const { escrow, verb, second, isSolid } = wanted;
  const { searches, closed } = watch;
  const key = `${escrow} ${verb} ${second} ${isSolid}`;
  const going = searches.get(key);
  if (going !== undefined) return going;
  const until = AbortSignal.any([closed.signal, AbortSignal.timeout(searchMs)]);
  const search = found(watch, wanted, until).finally(() => searches.delete(key));
  searches.set(key, search);
  return search;
}

async function found(
  watch: Watch,
  { escrow, verb, second, isSolid, head }: Wanted,
  signal: AbortSignal,
): Promise<Found | null> {
  for (const block of await blocksAt(watch, second, head, signal)) {
    const txid = await transactionIn(watch, escrow, block, verb, signal);
    if (txid === null) continue;
    const made = { txid, block, isSolid };
    noteMade(watch, { escrow, verb, second }, made);
    return made;
  }
  return null;
}

type Shown = Looked & { readonly made: Made };

const slotSeconds = 3;

function factsOf(
  watch: Watch,
  { address, terms, requiredConfirmations, stored }: WatchedEscrow,
  { now, deep, head, made }: Shown,
): EscrowFacts {
  const secret = watch.secrets.get(terms.hashlock) ?? null;
  const verb = verbOf(now);
  if (verb === null) return { ...nothingSeen, secret };
  // Where its block is not found, as many as have gone by if no witness missed a slot.
  const passed = (second: number) => 1 + Math.floor((secondOf(head) - second) / slotSeconds);
  const sight = (txid: string, confirmations: number, isSolid: boolean): Sighting => {
    const deepEnough = isSolid && confirmations >= requiredConfirmations;
    return { txid, confirmations, deep: deepEnough };
  };
  const confirmationsOf = (found: Found | null, second: number) =>
    Math.max(1, found === null ? passed(second) : head.number - found.block + 1);
  const funding = verb === 'fund' ? made.found : madeBy(watch, { escrow: address, verb: 'fund' });
  const fundTxid = funding?.txid ?? stored?.funded?.txid ?? unknownTxid;
  if (verb === 'fund') {
    const isSolid = !isUnfunded(deep) && deep.covered;
    const count = confirmationsOf(funding, now.changedAt || deep.changedAt);
    const funded = sight(fundTxid, count, isSolid && now.covered);
    return { ...nothingSeen, funded, secret, balance: terms.amount, empty: false };
  }
  const isSolid = deep.state === now.state && deep.changedAt === now.changedAt;
  const count = confirmationsOf(made.found, now.changedAt);
  const storedTxid = (verb === 'claim' ? stored?.claimed : stored?.refunded)?.txid;
  const settled = sight(made.found?.txid ?? storedTxid ?? unknownTxid, count, isSolid);
  const fundCount = funding === null ? count : Math.max(count, head.number - funding.block + 1);
  return {
    // A solid settling has a funding below it.
    funded: sight(fundTxid, fundCount, deep.state === 'open' ? deep.covered : isSolid),
    claimed: verb === 'claim' ? settled : null,
    refunded: verb === 'refund' ? settled : null,
    secret,
    balance: 0n,
    empty: settled.deep,
  };
}

// How it ended is not guessed: by the solid word, what was stored, and logs still in their blocks.
async function endedFacts(
  watch: Watch,
  watched: WatchedEscrow,
  { deep, head }: Pick<Looked, 'deep' | 'head'>,
  signal: AbortSignal,
): Promise<EscrowFacts> {
  const { address: escrow, terms, requiredConfirmations, stored } = watched;
  const solidVerb = verbOf(deep);
  const solid = await headBlock(watch.http, 'solid', signal);
  if (!(stored?.claimed ?? stored?.refunded)?.deep) {
    const limit = AbortSignal.any([signal, AbortSignal.timeout(historyMs)]);
    await lookInEvents(watch, watched, { sought: 'end', head }, limit);
  }
  const sight = async (verb: Verb, before: Sighting | null): Promise<Sighting | null> => {
    if (before?.deep) return before;
    if (verb !== 'fund' && isSettled(deep) && solidVerb !== verb) return null;
    const logged = await loggedSighting(watch, watched, { verb, head, solid }, signal);
    if (solidVerb !== verb) return logged ?? before;
    // Where its block is not known: it is none above the solid one.
    const confirmations = logged?.confirmations ?? head.number - solid.number + 1;
    const isDeep = deep.covered && confirmations >= requiredConfirmations;
    return { txid: (logged ?? before)?.txid ?? unknownTxid, confirmations, deep: isDeep };
  };
  // One that was stored before it was deep, and that no log shows now, may have been taken back.
  const isProven = (each: Sighting | null): boolean =>
    each !== null && (each.deep || (each !== stored?.claimed && each !== stored?.refunded));
  const claim = await sight('claim', stored?.claimed ?? null);
  const refund = await sight('refund', stored?.refunded ?? null);
  const claimed = isProven(refund) && !isProven(claim) ? null : claim;
  const refunded = claimed === null ? refund : null;
  const settled = claimed ?? refunded;
  const isKnown = settled !== null && isProven(settled);
  if (!isKnown) once(watch, 'unknown_outcome', { chain: watch.chain, escrow });
  const funding = await sight('fund', stored?.funded ?? null);
  // An escrow that was settled for good had been funded.
  const wasFunded = settled?.deep ?? false;
  const shown = funding ?? (isKnown ? { ...settled, txid: unknownTxid } : null);
  const funded = shown && { ...shown, deep: shown.deep || wasFunded };
  const secret = watch.secrets.get(terms.hashlock) ?? stored?.secret ?? null;
  const empty = deep.state === 'ended' || isSettled(deep);
  const facts = { funded, claimed, refunded, secret, balance: 0n, empty };
  return isKnown ? facts : { ...facts, outcome: 'unknown' };
}

type Ended = { readonly verb: Verb; readonly head: Block; readonly solid: Block };

/** By a log that was followed, where it is still in its block: that may have been taken back. */
async function loggedSighting(
  watch: Watch,
  { address: escrow, requiredConfirmations }: WatchedEscrow,
  { verb, head, solid }: Ended,
  signal: AbortSignal,
): Promise<Sighting | null> {
  const made = madeBy(watch, { escrow, verb });
  if (made === null) return null;
  const { block } = made;
  const txid = await loggedIn(watch, escrow, block, verb, signal);
  if (txid === null) return null;
  const confirmations = Math.max(1, head.number - block + 1);
  return {
    txid,
    confirmations,
    deep: block <= solid.number && confirmations >= requiredConfirmations,
  };
}

function noteDepth(
  watch: Watch,
  { address }: WatchedEscrow,
  { funded, claimed, refunded }: EscrowFacts,
  head: Block,
): void {
  const shallow = claimed ?? refunded ?? funded;
  if (shallow === null || shallow.deep) return;
  const block = head.number - shallow.confirmations + 1;
  watch.shallow.set(address, Math.max(block, watch.shallow.get(address) ?? 0));
}

export async function hashAt(one: Http, height: number, signal: AbortSignal) {
  return (await blockAt(one, height, signal))?.hash ?? null;
}

const compared: kit.Compared<Watch, Http> = {
  nodesOf: ({ http }) => http,
  headOf: async (one, signal) => (await headBlock(one, 'solid', signal)).number,
  heights: (lowest) => [lowest],
  hashAt,
  mustMeet: false,
  unit: 'height',
  fundingBy: async (watch, http, escrow, signal) => {
    const record = await recordAt({ ...watch, http }, escrow, 'solid', signal);
    const { state, changedAt, covered } = record;
    if (state === 'never') return 'no funding';
    return `${state} at ${changedAt}${covered ? '' : ', without its tokens'}`;
  },
};

export function mustAgreeOnHeads(watch: Watch, signal: AbortSignal): Promise<Http[]> {
  return kit.mustAgreeOnHeads(watch, compared, signal);
}

export function mustAgree(watch: Watch, escrow: WatchedEscrow, signal: AbortSignal): Promise<void> {
  return kit.mustAgree(watch, compared, escrow, signal);
}
