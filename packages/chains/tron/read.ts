// The facts of one escrow: its lane's word at the newest and the newest solid block, and what made
// it. The word is the truth. It names no time: what is not solid lies in the blocks above the solid
// one, or waits for a block and is taken off again.

import { ParleyError } from '@parley/core/errors.ts';
import { type EscrowFacts, nothingSeen, type Sighting } from '@parley/core/facts.ts';
import { stateData } from '../escrows/calls.ts';
import {
  type EscrowState,
  isSettled,
  isUnfunded,
  mustHold,
  rankOf,
  stateIn,
  unknownTxid,
  verbOf,
} from '../escrows/state.ts';
import type { Look, WatchedEscrow } from '../interface/reading.ts';
import * as kit from '../kit/agreement.ts';
import { begun } from '../nodes/gathering.ts';
import { once, unlessAborted } from '../nodes/sources.ts';
import { firstSince, lookInEvents } from './events.ts';
import type { Http } from './http.ts';
import { blockAt, type Head, headBlock, isSame, secondOf, type View } from './node.ts';
import { contractEscrow, deploymentOf } from './plan.ts';
import { askAhead } from './preflight.ts';
import { loggedIn, transactionIn } from './receipts.ts';
import { momentOf, noteMoment, tokenBalance, wordsOf } from './views.ts';
import {
  blocksToSearch,
  type Found,
  isBelow,
  madeBy,
  noteMade,
  remember,
  type Verb,
  type Watch,
} from './watch.ts';

export type Record = EscrowState & {
  /** Whether the contract has as much of the asset as this escrow is owed. */
  readonly covered: boolean;
};

const mostTries = 3;
/** Less than a builder of the market may take in all; a slower read is reported later. */
const historyMs = 2_000;
const searchMs = 30_000;
/** Blocks that are searched at once, from the newest down. */
const searchedTogether = 8;

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
  const [word] = await wordsOf(http, view, contract, data, 1, signal);
  const shown = stateIn(word);
  if (shown === null) {
    const sentence = `the ${chain} node shows the escrow ${address} in state ${word}`;
    throw new ParleyError('chain_unavailable', sentence, { chain, escrow: address });
  }
  return { ...shown, covered: true };
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
  if (holding === null || record.state !== 'open') return record;
  return { ...record, covered: (await holding) >= amount };
}

/** Behind a load balancer the newest block of one node may be older than another's solid one. */
function later(one: Record, other: Record): Record {
  return rankOf(other) > rankOf(one) ? other : one;
}

/**
 * Views tell the block that they were run in, so that it is asked for by itself only where a node
 * does not tell it: there the newest before and after must be the same.
 */
export async function look(
  watch: Watch,
  escrows: readonly WatchedEscrow[],
  signal: AbortSignal,
): Promise<Look> {
  for (const each of escrows) remember(watch, each);
  const patience = AbortSignal.timeout(historyMs);
  let before: Head | null = null;
  for (let tries = 1; ; tries += 1) {
    const moment = momentOf(watch.http);
    const together = { ...watch, http: moment };
    // Before the words: a change that they do not show solid lies in a block above it.
    if (!moment.isTogether) await headBlock(moment, 'solid', signal);
    const reading = begun(Promise.all(escrows.map((each) => wordsAt(together, each, signal))));
    const [only] = escrows.length === 1 && moment.isTogether ? escrows : [];
    if (only !== undefined) askAhead(together, only.terms, signal);
    const words = await reading;
    const isLast = tries === mostTries;
    const seen = moment.seen('head');
    const head: Head = seen ?? (await headBlock(watch.http, 'head', signal));
    const mayHaveMoved = seen === null && escrows.length > 0;
    const hasMoved = mayHaveMoved && (before === null || !isSame(before, head));
    before = head;
    // A node that is slower than the chain is better than none.
    if (hasMoved && !isLast) continue;
    const limits = { isLast, patience, signal };
    const solid = moment.seen('solid') ?? (await headBlock(moment, 'solid', signal));
    const at = { head, solid: solid.number };
    const facts = await Promise.all(words.map((each) => factsAt(watch, each, at, limits)));
    const known = facts.filter((each) => each !== null);
    if (known.length < facts.length) continue;
    const heads = { height: head.number, clock: secondOf(head) };
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

/**
 * Throws `nothing_there`. True: what waits for a block would settle it, so a trial at the head tells
 * nothing.
 */
export async function mustStillHold(
  watch: Watch,
  escrow: Pick<WatchedEscrow, 'address' | 'terms'>,
  signal: AbortSignal,
): Promise<boolean> {
  const newest = await wordAt(watch, escrow, 'head', signal);
  if (isSettled(newest) && (await isInNoBlock(watch, escrow, newest, signal))) return true;
  mustHold(watch.chain, escrow.address, newest, 'status');
  return false;
}

async function isInNoBlock(
  watch: Watch,
  escrow: Pick<WatchedEscrow, 'address' | 'terms'>,
  newest: Record,
  signal: AbortSignal,
): Promise<boolean> {
  const verb = verbOf(newest);
  // Before the word: a change that it does not show lies in a block above it.
  const solid = await headBlock(watch.http, 'solid', signal);
  const [head, deep] = await Promise.all([
    headBlock(watch.http, 'head', signal),
    wordAt(watch, escrow, 'solid', signal),
  ]);
  if (verb === null || isSettled(deep)) return false;
  for (const block of blocksToSearch(watch, escrow.address, solid.number, head)) {
    if ((await transactionIn(watch, escrow.address, block, [verb], signal)) !== null) return false;
  }
  return true;
}

type Patience = {
  readonly isLast: boolean;
  readonly patience: AbortSignal;
  readonly signal: AbortSignal;
};

/** The newest block, and the number of the newest solid one. */
type Blocks = { readonly head: Head; readonly solid: number };

/** null: a block may have been taken back between two questions. */
async function factsAt(
  watch: Watch,
  { watched, deep, newest }: Words,
  at: Blocks,
  { isLast, patience, signal }: Patience,
): Promise<EscrowFacts | null> {
  const { head } = at;
  let now = later(newest, deep);
  if (now.state === 'ended') return endedFacts(watch, watched, { deep, head }, signal);
  const wanted = now.state === 'claimed' && !watch.secrets.has(watched.terms.hashlock);
  // A secret that is wanted is worth all the time there is; ids of transactions are not.
  const limit = wanted ? signal : AbortSignal.any([signal, patience]);
  let made = await transactionOf(watch, watched, { now, deep, ...at }, { limit, signal });
  // Blocks that were taken back meanwhile may have had it.
  if (made.isAwaited && !isLast && (await isGone(watch, watched, at, signal))) return null;
  while (made.isAwaited) {
    now = before(now);
    made = await transactionOf(watch, watched, { now, deep, ...at }, { limit, signal });
  }
  if (made.isMissing && !made.failed && !isLast) return null;
  if (made.isMissing) {
    // The word is the truth all the same.
    const { state: status } = now;
    once(watch, 'no_history', { chain: watch.chain, escrow: watched.address, status });
  }
  const isFundingKnown = (watched.stored?.funded?.txid ?? unknownTxid) !== unknownTxid;
  if (isSettled(now) && !isFundingKnown) {
    await lookInEvents(watch, watched, { sought: 'fund', head }, limit);
  }
  const facts = factsOf(watch, watched, { now, deep, ...at, made });
  noteDepth(watch, watched, facts, head);
  return facts;
}

async function isGone(
  watch: Watch,
  { address }: WatchedEscrow,
  { head, solid }: Blocks,
  signal: AbortSignal,
): Promise<boolean> {
  if (blocksToSearch(watch, address, solid, head).length === 0) return false;
  const there = await blockAt(watch.http, head.number, signal);
  return there === null || !isSame(there, head);
}

/** As it was before what waits for a block. */
function before(record: Record): Record {
  return { ...record, state: record.state === 'open' ? 'never' : 'open' };
}

type Made = {
  readonly found: Found | null;
  readonly isMissing: boolean;
  readonly failed: boolean;
  /** No block has it: it waits for one. */
  readonly isAwaited: boolean;
};

const nothingMade: Made = { found: null, isMissing: false, failed: false, isAwaited: false };

type Limits = { readonly limit: AbortSignal; readonly signal: AbortSignal };
type Looked = Blocks & { readonly now: Record; readonly deep: Record };

type Wanted = Blocks & {
  readonly watched: WatchedEscrow;
  readonly verb: Verb;
  readonly isSolid: boolean;
};

/** A node without receipts hides no change; one that is slow with them tells later. */
async function transactionOf(
  watch: Watch,
  watched: WatchedEscrow,
  { now, deep, head, solid }: Looked,
  { limit, signal }: Limits,
): Promise<Made> {
  const verb = verbOf(now);
  if (verb === null) return nothingMade;
  const { address: escrow } = watched;
  const isSolid = deep.state === now.state;
  const wanted = { watched, verb, isSolid, head, solid };
  const known = madeBy(watch, { escrow, verb });
  if (known?.isSolid) return { ...nothingMade, found: known };
  const search = searchFor(watch, wanted);
  try {
    const found = await unlessAborted(search, limit);
    const isAwaited = found === null && !isSolid;
    return { ...nothingMade, found, isMissing: found === null && isSolid, isAwaited };
  } catch (error) {
    if (signal.aborted) throw late(watch, escrow, error);
    if (!limit.aborted && !(error instanceof ParleyError)) throw error;
    const tell = (found: Found | null) => {
      if (found !== null && watch.known.has(escrow)) watch.owed.add(escrow);
    };
    search.then(tell, () => {});
    return { ...nothingMade, found: known, isMissing: known === null, failed: true };
  }
}

function late({ chain }: Watch, escrow: string, cause: unknown): ParleyError {
  const sentence = `the ${chain} node did not tell in time what became of ${escrow}`;
  return new ParleyError('chain_timeout', sentence, { chain, escrow }, { cause });
}

/** Goes on when nobody waits any more. */
function searchFor(watch: Watch, wanted: Wanted): Promise<Found | null> {
  const { watched, verb, isSolid, head, solid } = wanted;
  const { searches, closed } = watch;
  // A solid transaction stays where it is; others are searched anew for another head.
  const at = [solid, head.number, secondOf(head), head.parentHash];
  const key = `${watched.address} ${verb} ${isSolid || at}`;
  const going = searches.get(key);
  if (going !== undefined) return going;
  const until = AbortSignal.any([closed.signal, AbortSignal.timeout(searchMs)]);
  const search = found(watch, wanted, until).finally(() => searches.delete(key));
  searches.set(key, search);
  return search;
}

async function found(
  watch: Watch,
  { watched, verb, isSolid, head, solid }: Wanted,
  signal: AbortSignal,
): Promise<Found | null> {
  const { address: escrow } = watched;
  const inBlock = async (block: number): Promise<Found | null> => {
    const deed = await transactionIn(watch, escrow, block, [verb], signal);
    if (deed === null) return null;
    const { txid, hash } = deed;
    const made = { txid, block, hash, isSolid: isSolid && block <= solid };
    noteMade(watch, { escrow, verb }, made);
    return made;
  };
  const byMark = async () => {
    const marked = madeBy(watch, { escrow, verb });
    if (marked === null) return null;
    const { block } = marked;
    const isTold = verb !== 'claim' || watch.secrets.has(watched.terms.hashlock);
    if (!isTold || !isBelow(watch, marked, head)) return inBlock(block);
    const made = { ...marked, isSolid: isSolid && block <= solid };
    noteMade(watch, { escrow, verb }, made);
    return made;
  };
  const marked = await byMark();
  if (marked !== null) return marked;
  if (!isSolid) {
    for (const block of blocksToSearch(watch, escrow, solid, head)) {
      const made = await inBlock(block);
      if (made !== null) return made;
    }
    return null;
  }
  const sought = verb === 'fund' ? 'fund' : 'end';
  await lookInEvents(watch, watched, { sought, head }, signal);
  const told = await byMark();
  const { hashlock } = watched.terms;
  if (told === null && verb === 'claim' && !watch.secrets.has(hashlock)) {
    void begun(searchDown(watch, watched, head, inBlock));
  }
  return told;
}

/**
 * Without an index only the blocks have the secret of an old claim. They are searched from the
 * newest solid one down to the agreement; what is left when time is up is a later look's.
 */
async function searchDown(
  watch: Watch,
  watched: WatchedEscrow,
  head: Head,
  inBlock: (block: number) => Promise<Found | null>,
): Promise<void> {
  const { address: escrow, since } = watched;
  const { searches, known, closed } = watch;
  const own = known.get(escrow);
  const key = `${escrow} down`;
  if (own === undefined || searches.has(key)) return;
  const until = AbortSignal.any([closed.signal, AbortSignal.timeout(searchMs)]);
  const down = async (): Promise<Found | null> => {
    const first = (await firstSince(watch, since, head, until)) ?? 0;
    let block = own.searchedTo ?? head.number;
    while (block >= first) {
      const numbers = Array.from({ length: searchedTogether }, (_, at) => block - at);
      const all = await Promise.all(numbers.filter((each) => each >= first).map(inBlock));
      const made = all.find((each) => each !== null);
      if (made !== undefined && known.has(escrow)) watch.owed.add(escrow);
      if (made !== undefined) return made;
      block -= searchedTogether;
      own.searchedTo = block;
    }
    return null;
  };
  const search = down().finally(() => searches.delete(key));
  searches.set(key, search);
  await search;
}

type Shown = Looked & { readonly made: Made };

function factsOf(
  watch: Watch,
  { address, terms, requiredConfirmations, stored }: WatchedEscrow,
  { now, deep, head, solid, made }: Shown,
): EscrowFacts {
  const secret = watch.secrets.get(terms.hashlock) ?? null;
  const verb = verbOf(now);
  if (verb === null) return { ...nothingSeen, secret };
  const sight = (txid: string, confirmations: number, isSolid: boolean): Sighting => {
    const deepEnough = isSolid && confirmations >= requiredConfirmations;
    return { txid, confirmations, deep: deepEnough };
  };
  // A solid change lies in no block above the solid one.
  const countOf = (found: Found | null, isSolid: boolean) =>
    Math.max(1, head.number - (found?.block ?? (isSolid ? solid : head.number)) + 1);
  const funding = verb === 'fund' ? made.found : madeBy(watch, { escrow: address, verb: 'fund' });
  const fundTxid = funding?.txid ?? stored?.funded?.txid ?? unknownTxid;
  if (verb === 'fund') {
    const isSolid = !isUnfunded(deep) && deep.covered;
    const count = countOf(funding, isSolid);
    const funded = sight(fundTxid, count, isSolid && now.covered);
    return { ...nothingSeen, funded, secret, balance: terms.amount, empty: false };
  }
  const isSolid = deep.state === now.state;
  const count = countOf(made.found, isSolid);
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

/** A claim that the lane has forgotten: its secret may be in the blocks alone. */
async function searchEnded(watch: Watch, watched: WatchedEscrow, solid: Head): Promise<void> {
  const { address: escrow } = watched;
  const inBlock = async (block: number): Promise<Found | null> => {
    const until = watch.closed.signal;
    const deed = await transactionIn(watch, escrow, block, ['claim', 'refund'], until);
    if (deed === null) return null;
    const { txid, hash } = deed;
    const made = { txid, block, hash, isSolid: false };
    noteMade(watch, { escrow, verb: deed.verb }, made);
    return made;
  };
  await searchDown(watch, watched, solid, inBlock);
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
  if (empty && secret === null && !isProven(refund)) void begun(searchEnded(watch, watched, solid));
  const facts = { funded, claimed, refunded, secret, balance: 0n, empty };
  return isKnown ? facts : { ...facts, outcome: 'unknown' };
}

type Ended = { readonly verb: Verb; readonly head: Head; readonly solid: Head };

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
  head: Head,
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
    const { state, covered } = record;
    if (state === 'never') return 'no funding';
    return `${state}${covered ? '' : ', without its tokens'}`;
  },
};

export function mustAgreeOnHeads(watch: Watch, signal: AbortSignal): Promise<Http[]> {
  return kit.mustAgreeOnHeads(watch, compared, signal);
}

export function mustAgree(watch: Watch, escrow: WatchedEscrow, signal: AbortSignal): Promise<void> {
  return kit.mustAgree(watch, compared, escrow, signal);
}
