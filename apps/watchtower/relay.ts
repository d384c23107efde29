// Requests to the key: a claim whose secret the asker alone may know, or a
// funding that its funder signed (EIP-3009), which binds every term of the escrow. Once it is
// answered for it has to land, so it is refused where that is not certain: gates, balance, time.
// The signature and its reserve are kept in one transaction, which commits before anything
// is sent. Asked for again, however often, it is signed once.

import type { GasWork } from '@parley/chains/gas/account.ts';
import { within } from '@parley/chains/nodes/time-limit.ts';
import { type Fact, ParleyError } from '@parley/core/errors.ts';
import { type ChainKey, type Family, factsOf, has } from '@parley/core/families.ts';
import { fundBy } from '@parley/core/gates.ts';
import type { Secret } from '@parley/core/hashlock.ts';
import { pessimistic } from '@parley/core/swap.ts';
import {
  busyPollMs,
  busySeconds,
  fundingLeadSeconds,
  mostFailed,
  mostFailedFunding,
  partBesideClaims,
  pauseMs,
  relayLeadSeconds,
  requestPatienceMs,
} from './bounds.ts';
import { type Attempt, attemptsOf, isLive } from './db/attempts.ts';
import { findJob, insertAsked, isWaiting, purposes } from './db/jobs.ts';
import { noteWanted } from './db/keys.ts';
import type {
  AskedLeg,
  Asking,
  ClaimAsking,
  FundAsking,
  FundedLeg,
  Gas,
  Parts,
  Passed,
  PlannedEscrow,
  Relayed,
  Tx,
} from './port.ts';
import { sealSecret } from './sealing.ts';
import {
  fundsOf,
  inPlace,
  isStoredBusy,
  keepSigned,
  type Lease,
  type Looking,
  leased,
  mustHold,
  nextNonce,
  signWith,
} from './sign.ts';
import {
  allowanceOfAsked,
  type Funds,
  freeOf,
  isAskedFor,
  isDust,
  type Short,
} from './spending.ts';
import { realTime, TooShort } from './step.ts';

/** A transaction to be sent, for whom, and the most that landing it may take. */
type Wish = {
  readonly verb: AskedVerb;
  readonly chain: ChainKey;
  readonly escrow: string;
  readonly passed: Passed;
  readonly work: Extract<GasWork, { readonly verb: AskedVerb }>;
  readonly reserve: bigint;
  readonly secret: Secret | null;
  readonly signature: string | null;
};

/** Throws `relay_unavailable`, and what the builder of a claim throws. */
export async function relayClaim(deps: Parts, asking: ClaimAsking): Promise<Relayed> {
  const { market } = deps;
  const { signal } = asking;
  const asked = await market.claimAsked(asking);
  const { chain, family, escrow } = asked;
  const gas = keyOf(deps, 'claim', asked, unclaimable(ableOf(deps.gas), asked));
  const before = escrow && (await relayedBefore(deps.db, { chain, verb: 'claim', escrow }));
  if (before) return before;
  await asking.admit();
  const { address } = gas.account;
  const claimable = await market.mayClaim(asking, address, signal).catch((error: unknown) => {
    if (!(error instanceof ParleyError) || error.code !== 'claim_unpayable') throw error;
    // The market has to fill the key: its address is not for others to send coins to.
    const { lack = null, has = null, need = null } = error.facts;
    const key = `the gas key of "${chain}" has ${has} ${factsOf[family].coin.unit}`;
    const why = `${key} and sending this may take ${need}`;
    throw unavailable('claim', why, { chain, lack, has, need });
  });
  mustHaveTime('claim', claimable, timeOf(deps, claimable));
  const { terms } = claimable.escrow;
  const { secret, state } = claimable;
  const work = { verb: 'claim', terms, secret, isPublic: state.secret !== null } as const;
  return relayed(deps, gas, asking, {
    verb: 'claim',
    chain,
    work,
    passed: claimable,
    secret,
    signature: null,
    escrow: claimable.escrow.address,
  });
}

export async function relayFunding(deps: Parts, asking: FundAsking): Promise<Relayed> {
  const { signal, signature, escrow } = asking;
  const asked = await deps.market.fundAsked(asking);
  const { chain } = asked;
  const gas = keyOf(deps, 'fund', asked, unfundable(ableOf(deps.gas), asked));
  const before = await relayedBefore(deps.db, { chain, verb: 'fund', escrow });
  if (before !== null) return before;
  await asking.admit();
  const passed = await deps.market.mayFund(asking, signal);
  const by = fundBy(passed.state, passed.state.legs[passed.leg]);
  mustHaveTime('fund', passed, { by, needs: fundingLeadSeconds });
  const work = fundingWork(passed.escrow, signature);
  const about = { verb: 'fund', chain, escrow } as const;
  return relayed(deps, gas, asking, { ...about, work, passed, secret: null, signature });
}

export function fundingWork({ terms, laneSignature }: PlannedEscrow, signature: string) {
  const work = { verb: 'fund', terms, signature } as const;
  return laneSignature === undefined ? work : { ...work, laneSignature };
}

/** Chains with a key that takes requests. */
export function ableOf(keys: Parts['gas']): ReadonlySet<ChainKey> {
  return new Set([...keys].flatMap(([chain, { takesRequests }]) => (takesRequests ? chain : [])));
}

type Able = ReadonlySet<ChainKey>;

/** Why no claim of such a leg is sent, whoever asks and whenever; null: it may be. */
export function unclaimable(chains: Able, { chain, family }: AskedLeg): string | null {
  if (chains.has(chain)) return null;
  return has(family, 'gasKeys')
    ? `this market has no gas key on "${chain}"`
    : `a ${factsOf[family].title} claim needs its receiver’s own signature`;
}

/** The same of a funding. */
export function unfundable(chains: Able, { chain, family, token }: FundedLeg): string | null {
  if (!has(family, 'signedFundings')) return `a funding on "${chain}" is sent by its funder alone`;
  if (token === null) return `the native coin of "${chain}" has no authorization to sign`;
  return chains.has(chain) ? null : `this market has no gas key on "${chain}"`;
}

function keyOf({ gas }: Parts, verb: AskedVerb, { chain }: AskedLeg, why: string | null): Gas {
  const key = gas.get(chain);
  if (why !== null || key === undefined) throw unavailable(verb, `${why}`, { chain });
  return key;
}

/** The newest transaction for it that may land or has, if it was taken on and is not given up. */
export async function relayedBefore(
  tx: Tx,
  of: { readonly chain: ChainKey; readonly verb: AskedVerb; readonly escrow: string },
): Promise<Relayed | null> {
  const job = await findJob(tx, of);
  if (job === null || !isAskedFor(job.purpose) || job.state === 'dropped') return null;
  const own = (await attemptsOf(tx, job.id)).filter(({ verb, outcome }) => {
    return verb === of.verb && outcome !== 'gone';
  });
  const landed = own.find(({ outcome }) => outcome === 'mined' || outcome === 'deep');
  const newest = landed ?? own.at(-1);
  return newest === undefined ? null : { relayed: true, txid: newest.txid };
}

/** All that can be refused is refused before the lease, so a refusal holds up no other. */
async function relayed(
  deps: Parts,
  gas: Gas,
  { accountId, signal, keep }: Asking,
  about: Omit<Wish, 'reserve'>,
): Promise<Relayed> {
  const { account } = gas;
  const { work, chain } = about;
  const asking = Promise.all([account.quote(work, signal), account.reserve(work, signal)]);
  const [mostCost, reserve] = await within(signal, chain, asking);
  mustBeWorth(about, mostCost);
  const wish = { ...about, reserve };
  return inPlace(deps, { chain, accountId }, () => signedInTime(deps, { gas, signal }, wish, keep));
}

/** Waits for what is in flight. */
async function signedInTime(
  deps: Parts,
  { gas, signal }: Looking,
  wish: Wish,
  keep: Asking['keep'],
): Promise<Relayed> {
  const { chain } = wish;
  const hasNonces = gas.account.pendingNonce !== undefined;
  const { elapsedMs, pause, leaseClock } = deps.signingTime ?? realTime;
  const until = elapsedMs() + requestPatienceMs;
  for (let askedAtMs: number | null = null; ; ) {
    // Several requests may wait for the same: the first one signs.
    const before = await relayedBefore(deps.db, wish);
    if (before !== null) return before;
    try {
      // Without nonces nothing waits for what is in flight.
      if (hasNonces) await mustBeNext(deps, wish);
      // Nodes are asked once a second, and where nothing is in flight.
      const isDue = askedAtMs === null || elapsedMs() - askedAtMs >= pauseMs;
      if (!isDue && (await isStoredBusy(deps, gas))) throw new TooShort('busy');
      askedAtMs = elapsedMs();
      await roomFor(deps, { gas, signal }, wish);
      const how = { patienceMs: requestPatienceMs, signal };
      return await leased(deps, gas, how, async (lease) => {
        return (await relayedBefore(deps.db, wish)) ?? (await signAndKeep(deps, lease, wish, keep));
      });
    } catch (error) {
      if (!(error instanceof TooShort)) throw error;
      if (wish.verb === 'claim') await noteWanted(deps.db, chain, leaseClock());
      if (elapsedMs() > until) throw tooBusy(chain);
    }
    await pause(busyPollMs, signal);
  }
}

/** Jobs that wait for what is in flight were there before. */
async function mustBeNext(deps: Parts, { chain, escrow, verb }: Wish): Promise<void> {
  const own = await findJob(deps.db, { chain, escrow, verb });
  const ahead = verb === 'claim' ? purposes.slice(0, 2) : purposes.slice(0, 4);
  const dueBy = new Date(deps.now() + busySeconds * 1_000);
  const of = { chain, except: own?.id ?? null, purposes: ahead, dueBy };
  if (await isWaiting(deps.db, of)) throw new TooShort('busy');
}

async function signAndKeep(
  deps: Parts,
  lease: Lease,
  wish: Wish,
  keep: Asking['keep'],
): Promise<Relayed> {
  const { work, verb, reserve, escrow, chain, secret, signature } = wish;
  const { swapId, leg } = wish.passed;
  const { live, nonce, most } = await roomFor(deps, lease, wish);
  const slot = { nonce, instead: null, most };
  // One of the key's own is under way, and is made to land.
  const signed = live === null ? await signWith(deps, lease, work, slot) : null;
  if (signed !== null) mustBeWorth(wish, signed.mostCost);
  const at = new Date(deps.now());
  return deps.db.transaction(async (tx) => {
    await mustHold(tx, deps, lease);
    if (verb === 'fund') await deps.market.pin(tx, { swapId, leg, escrow });
    else if (wish.passed.state.secret === null) await deps.market.showSecret(tx, { swapId, leg });
    const { version, sealed } =
      secret === null ? { version: null, sealed: null } : sealSecret(deps, secret);
    const { id: jobId } = await insertAsked(tx, {
      chain,
      escrow,
      verb,
      purpose: verb === 'fund' ? 'fund' : 'relay',
      swapId,
      leg,
      reserve,
      signature,
      secret: sealed,
      secretVersion: version,
      at,
    });
    if (signed !== null) await keepSigned(tx, deps, lease, signed, { jobId, verb });
    const answer: Relayed = { relayed: true, txid: signed?.txid ?? (live as Attempt).txid };
    await keep?.(tx, answer);
    return answer;
  });
}

/** Cap, balance and nonce of this moment. Under a lease nobody else changes them. */
async function roomFor(deps: Parts, looking: Looking, { chain, verb, escrow, reserve }: Wish) {
  const job = await findJob(deps.db, { chain, verb, escrow });
  const { address } = looking.gas.account;
  const own = job === null ? [] : await attemptsOf(deps.db, job.id, address);
  mustNotFail(chain, verb, own);
  const funds = await fundsOf(deps, looking, job?.id ?? null);
  const allowance = allowanceOfAsked(funds, verb === 'fund' ? 'fund' : 'relay', reserve);
  if ('short' in allowance) throw beyondFunds(verb, chain, allowance.short, funds, reserve);
  const live = own.find((each) => each.verb === verb && isLive(each.outcome)) ?? null;
  const nonce = live === null ? await nextNonce(deps, looking) : live.nonce;
  return { live, nonce, most: allowance.most };
}

/** Asked for again, what a chain refuses each time would cost gas each time. */
function mustNotFail(chain: ChainKey, verb: AskedVerb, attempts: readonly Attempt[]): void {
  const { length: failed } = attempts.filter(
    (each) => each.outcome === 'failed' && each.verb === verb,
  );
  if (failed < (verb === 'fund' ? mostFailedFunding : mostFailed)) return;
  const sentence = `"${chain}" took ${failed} transactions for this leg and refused each of them`;
  throw unavailable(verb, sentence, { chain, failed });
}

/** Dust in the native coin. The worth of a token is not known here: the cap is all there is. */
function mustBeWorth({ work }: Pick<Wish, 'work'>, mostCost: bigint): void {
  const { chain, amount } = work.terms;
  if (work.verb !== 'claim' || !isDust(work.terms, mostCost)) return;
  const sentence = `a leg of ${amount} is not worth the ${mostCost} that its gas may take`;
  throw unavailable('claim', sentence, { chain, amount, mostCost });
}

/** Bitcoin has no relays. */
function leadOf(family: Family): number {
  return relayLeadSeconds[has(family, 'gasKeys') ? family : 'evm'];
}

/** By when a claim has to be sent, and how long before. */
function timeOf({ adapters }: Parts, { leg: name, state }: Passed) {
  const leg = state.legs[name];
  if (state.secret === null) return { by: state.deadlines.revealBy, needs: leadOf(leg.family) };
  const needs = adapters.get(leg.chain)?.policy.normal.settleSeconds ?? 0;
  return { by: leg.timelock, needs };
}

// Why nothing is sent for who asked, with the numbers. It is all told before anything is signed.

export type AskedVerb = 'claim' | 'fund';

const nouns = { claim: 'claim', fund: 'funding' } as const;

/** Refuses what could not land in time any more. */
function mustHaveTime(
  verb: AskedVerb,
  { leg, state, clocks }: Passed,
  { by, needs }: { readonly by: number; readonly needs: number },
): void {
  const now = Math.max(pessimistic(clocks, state.legs.a), pessimistic(clocks, state.legs.b));
  if (now + needs <= by) return;
  const sentence = `sending it needs ${needs} s before ${by}, and it is ${now}`;
  throw unavailable(verb, sentence, { leg, now, by, needs });
}

function tooBusy(chain: ChainKey): ParleyError {
  const sentence =
    `the gas key of "${chain}" has a transaction in flight, the most there may be; ` +
    'the watchtower sent nothing';
  return new ParleyError('overloaded', sentence, { chain });
}

/** The server that asked has given up waiting, and taken back its request. */
export function unanswered(chain: ChainKey): ParleyError {
  const sentence = `no watchtower of "${chain}" answered in time; the market took its request back`;
  return new ParleyError('overloaded', sentence, { chain });
}

/** `reserve`: the most that landing it may take. */
function beyondFunds(
  verb: AskedVerb,
  chain: ChainKey,
  short: Short,
  funds: Funds,
  reserve: bigint,
): ParleyError {
  if (short === 'busy') return tooBusy(chain);
  const { dailyCap, sums } = funds;
  const takes = `and landing this may take ${reserve}`;
  const facts = { chain, reason: short, reserve };
  if (short === 'balance') {
    const free = freeOf(funds);
    const why = `the gas key of "${chain}" has ${free} to spare ${takes}`;
    return unavailable(verb, why, { ...facts, free });
  }
  const limit = dailyCap / partBesideClaims;
  const { spent, spentBeside, promised } = sums;
  const why =
    `the gas key of "${chain}" may spend ${dailyCap} today, ${limit} of it on requests and ` +
    `refunds; ${spent} is spent, ${spentBeside} of it on these, ${promised} is promised, ${takes}`;
  const numbers = { ...facts, dailyCap, spent, spentBeside, promised };
  return unavailable(verb, `${why}, until the UTC day ends`, numbers);
}

export function unavailable(
  verb: AskedVerb,
  sentence: string,
  facts: Readonly<Record<string, Fact>>,
): ParleyError {
  const whole = `${sentence}: send the ${nouns[verb]} yourself`;
  return new ParleyError('relay_unavailable', whole, facts);
}
