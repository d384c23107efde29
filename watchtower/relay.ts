// What somebody asks the key to send: a claim whose secret may be known to nobody else, or a
// funding that its funder signed (EIP-3009), which binds every term of the escrow. Once it is
// answered for it has to land, so it is refused where that is not certain: gates, balance, time.
// What is signed and what is reserved for it are kept in one transaction, and nothing is sent
// before that has committed. Asked for again, however often, it is signed once.

import type { GasWork } from '../chains/gas/account.ts';
import { within } from '../chains/nodes/time-limit.ts';
import { ParleyError } from '../core/errors.ts';
import { baseUnits, type ChainKey, type Family } from '../core/families.ts';
import { fundBy } from '../core/gates.ts';
import type { Secret } from '../core/hashlock.ts';
import {
  busyPollMs,
  busySeconds,
  fundingLeadSeconds,
  mostFailed,
  pauseMs,
  relayLeadSeconds,
  requestPatienceMs,
} from './bounds.ts';
import { type Attempt, attemptsOf, isLive } from './db/attempts.ts';
import { findJob, insertAsked, isWaiting, type Job, purposes } from './db/jobs.ts';
import { noteWanted } from './db/keys.ts';
import { fundingSums, relaySums } from './db/sums.ts';
import type {
  AskedLeg,
  Asking,
  ClaimAsking,
  FundAsking,
  FundedLeg,
  Gas,
  Parts,
  Passed,
  Relayed,
  Tx,
} from './port.ts';
import { type AskedVerb, beyondBounds, mustHaveTime, tooBusy, unavailable } from './refusals.ts';
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
  allowanceOfFunding,
  allowanceOfRelay,
  dayOf,
  type Funds,
  freeOf,
  fundingShort,
  isAskedFor,
  isDust,
  keptForDay,
  relayShort,
  type Short,
} from './spending.ts';
import { realTime, TooShort } from './step.ts';

/** What is to be sent, for whom, and what landing it may take. */
type Wish = {
  readonly verb: AskedVerb;
  readonly chain: ChainKey;
  readonly escrow: string;
  readonly accountId: string;
  readonly passed: Passed;
  readonly work: Extract<GasWork, { readonly verb: AskedVerb }>;
  readonly reserve: bigint;
  readonly makesAccount: boolean;
  readonly secret: Secret | null;
  readonly signature: string | null;
};

/** Throws `relay_unavailable`, and what the builder of a claim throws. */
export async function relayClaim(deps: Parts, asking: ClaimAsking): Promise<Relayed> {
  const { market } = deps;
  const { signal, accountId } = asking;
  const asked = await market.claimAsked(asking);
  const { chain, family, escrow } = asked;
  const gas = claimantOf(deps, asked);
  const before = escrow && (await relayedBefore(deps.db, { chain, verb: 'claim', escrow }));
  if (before) return before;
  await asking.admit();
  const { address } = gas.account;
  const claimable = await market.mayClaim(asking, address, signal).catch((error: unknown) => {
    if (!(error instanceof ParleyError) || error.code !== 'claim_unpayable') throw error;
    // What the key lacks is the market's trouble: its address is nobody's to send coins to.
    const { lack = null, has = null, need = null } = error.facts;
    const key = `the gas key of "${chain}" has ${has} ${baseUnits[family]}`;
    const why = `${key} and sending this may take ${need}`;
    throw unavailable('claim', why, { chain, lack, has, need });
  });
  mustHaveTime('claim', claimable, timeOf(deps, claimable));
  const { terms } = claimable.escrow;
  const { secret, state } = claimable;
  const work = { verb: 'claim', terms, secret, isPublic: state.secret !== null } as const;
  return relayed(deps, gas, asking, {
    ...{ verb: 'claim', chain, accountId, work, passed: claimable, secret, signature: null },
    escrow: claimable.escrow.address,
  });
}

/** Paid from a cap of its own, out of what neither claims nor relays have a use for. */
export async function relayFunding(deps: Parts, asking: FundAsking): Promise<Relayed> {
  const { signal, accountId, signature, escrow } = asking;
  const asked = await deps.market.fundAsked(asking);
  const { chain } = asked;
  const gas = funderOf(deps.gas, asked);
  if (typeof gas === 'string') throw unavailable('fund', gas, { chain });
  const before = await relayedBefore(deps.db, { chain, verb: 'fund', escrow });
  if (before !== null) return before;
  await asking.admit();
  const passed = await deps.market.mayFund(asking, signal);
  const by = fundBy(passed.state, passed.state.legs[passed.leg]);
  mustHaveTime('fund', passed, { by, needs: fundingLeadSeconds });
  const { terms } = passed.escrow;
  const work = { verb: 'fund', terms, signature } as const;
  const about = { verb: 'fund', chain, escrow, accountId } as const;
  return relayed(deps, gas, asking, { ...about, work, passed, secret: null, signature });
}

export function claimantOf<Key>(
  { gas }: { readonly gas: ReadonlyMap<ChainKey, Key> },
  { chain, family }: AskedLeg,
): Key {
  const found = gas.get(chain);
  if (found !== undefined) return found;
  const why =
    family === 'bitcoin'
      ? 'a Bitcoin claim needs its receiver’s own signature'
      : `this market has no gas key on "${chain}"`;
  throw unavailable('claim', why, { chain });
}

/** The key that sends fundings of such a leg; or why none does, whoever asks and whenever. */
export function funderOf<Key extends { readonly fundings: { readonly cap: bigint } }>(
  keys: ReadonlyMap<ChainKey, Key>,
  { chain, family, token }: FundedLeg,
): Key | string {
  if (family !== 'evm') return `a funding on "${chain}" is sent by its funder alone`;
  if (token === null) return `the native coin of "${chain}" has no authorization to sign`;
  const key = keys.get(chain);
  if (key === undefined) return `this market has no gas key on "${chain}"`;
  return key.fundings.cap === 0n ? `this market sends no fundings on "${chain}"` : key;
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

/** All that can be refused is refused before the lease: what is refused holds up nobody. */
async function relayed(
  deps: Parts,
  gas: Gas,
  { accountId, signal, keep }: Asking,
  about: Omit<Wish, 'reserve' | 'makesAccount'>,
): Promise<Relayed> {
  const { account } = gas;
  const { work, chain } = about;
  const asking = Promise.all([account.quote(work, signal), account.reserve(work, signal)]);
  const [{ mostCost, makesAccount }, reserve] = await within(signal, chain, asking);
  mustBeWorth(about, mostCost);
  const wish = { ...about, reserve, makesAccount };
  return inPlace(deps, { chain, accountId }, (isHead) =>
    signedInTime(deps, { gas, signal, isHead }, wish, keep),
  );
}

/** Waits for what is in flight. */
async function signedInTime(
  deps: Parts,
  { gas, signal, isHead }: Looking & { readonly isHead: () => boolean },
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
      // Nodes are asked once; once a second by who waits longest; and where nothing is in flight.
      const isDue = askedAtMs === null || (isHead() && elapsedMs() - askedAtMs >= pauseMs);
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
      if (elapsedMs() > until) throw tooBusy(wish.verb, chain, null);
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
  const { work, verb, makesAccount, reserve, escrow, chain, accountId, secret, signature } = wish;
  const { swapId, leg } = wish.passed;
  const { live, nonce, most } = await roomFor(deps, lease, wish);
  const slot = { nonce, instead: null, most, withoutAccount: !makesAccount };
  // One of the key's own is under way, and is made to land.
  const signed = live === null ? await signWith(deps, lease, work, slot) : null;
  if (signed !== null) mustBeWorth(wish, signed.mostCost);
  const at = new Date(deps.now());
  return deps.db.transaction(async (tx) => {
    await mustHold(tx, deps, lease);
    if (verb === 'fund') await deps.market.pin(tx, { swapId, leg, escrow });
    const { version, sealed } =
      secret === null ? { version: null, sealed: null } : sealSecret(deps, secret);
    const { id: jobId } = await insertAsked(tx, {
      ...{ chain, escrow, verb, purpose: verb === 'fund' ? 'fund' : 'relay' },
      ...{ swapId, leg, accountId, reserve, makesAccount, signature },
      ...{ secret: sealed, secretVersion: version, at, since: dayOf(deps.now()) },
    });
    if (signed !== null) await keepSigned(tx, deps, lease, signed, { jobId, verb });
    const answer: Relayed = { relayed: true, txid: signed?.txid ?? (live as Attempt).txid };
    await keep?.(tx, answer);
    return answer;
  });
}

/** Bounds, balance and nonce of this moment. Under a lease nobody else changes them. */
async function roomFor(deps: Parts, looking: Looking, wish: Wish) {
  const job = await findJob(deps.db, wish);
  return wish.verb === 'claim'
    ? roomForClaim(deps, looking, wish, job)
    : roomForFunding(deps, looking, wish, job);
}

async function roomForClaim(deps: Parts, looking: Looking, wish: Wish, job: Job | null) {
  const { gas } = looking;
  const { chain, reserve, accountId, makesAccount } = wish;
  const except = job?.id ?? null;
  const of = { chain, since: dayOf(deps.now()), accountId, except };
  const short = relayShort(gas.relays, await relaySums(deps.db, of), { reserve, makesAccount });
  if (short !== null) throw beyondBounds('claim', chain, short, reserve);
  const own = job === null ? [] : await attemptsOf(deps.db, job.id, gas.account.address);
  mustNotFail(chain, own);
  const funds = await fundsOf(deps, looking, { accountId: null, jobId: except });
  const allowance = allowanceOfRelay(funds, reserve);
  if ('short' in allowance) throw beyondFunds(chain, allowance.short, funds, reserve);
  const live = own.find(({ outcome, verb }) => verb === 'claim' && isLive(outcome)) ?? null;
  const nonce = live === null ? await nextNonce(deps, looking) : live.nonce;
  return { live, nonce, most: reserve };
}

async function roomForFunding(deps: Parts, looking: Looking, wish: Wish, job: Job | null) {
  const { gas } = looking;
  const { chain, reserve, accountId } = wish;
  const except = job?.id ?? null;
  const of = { chain, since: dayOf(deps.now()), accountId, except };
  const short = fundingShort(gas.fundings, await fundingSums(deps.db, of), reserve);
  if (short !== null) throw beyondBounds('fund', chain, short, reserve);
  const funds = await fundsOf(deps, looking, { accountId: null, jobId: except });
  const allowance = allowanceOfFunding(funds, reserve);
  if (!('short' in allowance)) {
    return { live: null, nonce: await nextNonce(deps, looking), most: allowance.most };
  }
  const { fundingsUnderWay: underWay } = funds.sums;
  if (allowance.short === 'busy') throw tooBusy('fund', chain, underWay);
  const free = freeOf(funds);
  const kept = keptForDay(funds);
  const why =
    `the gas key of "${chain}" has ${free} to spare, keeps ${kept} for claims, and this ` +
    `may take ${reserve}`;
  throw unavailable('fund', why, { chain, free, kept, reserve, underWay });
}

function beyondFunds(chain: ChainKey, short: Short, funds: Funds, needed: bigint): ParleyError {
  const { relaysUnderWay: underWay } = funds.sums;
  if (short === 'busy') return tooBusy('claim', chain, underWay);
  const free = freeOf(funds);
  const why = `the gas key of "${chain}" has ${free} to spare and landing this may take ${needed}`;
  return unavailable('claim', why, { chain, free, reserve: needed, underWay });
}

/** Asked for again, what a chain refuses each time would cost gas each time. */
function mustNotFail(chain: ChainKey, attempts: readonly Attempt[]): void {
  const failed = attempts.filter(
    ({ outcome, verb }) => outcome === 'failed' && verb === 'claim',
  ).length;
  if (failed < mostFailed) return;
  const sentence = `"${chain}" took ${failed} claims of this leg and refused each of them`;
  throw unavailable('claim', sentence, { chain, failed });
}

/** Dust in the native coin. What a token is worth is not known here: bounds are all there is. */
function mustBeWorth({ work }: Pick<Wish, 'work'>, mostCost: bigint): void {
  const { chain, amount } = work.terms;
  if (work.verb !== 'claim' || !isDust(work.terms, mostCost)) return;
  const sentence = `a leg of ${amount} is not worth the ${mostCost} that its gas may take`;
  throw unavailable('claim', sentence, { chain, amount, mostCost });
}

/** Nothing is relayed on Bitcoin. */
function leadOf(family: Family): number {
  return relayLeadSeconds[family === 'bitcoin' ? 'evm' : family];
}

/** By when a claim has to be sent, and how long before. */
function timeOf({ adapters }: Parts, { leg: name, state }: Passed) {
  const leg = state.legs[name];
  if (state.secret === null) return { by: state.deadlines.revealBy, needs: leadOf(leg.family) };
  const needs = adapters.get(leg.chain)?.policy.normal.settleSeconds ?? 0;
  return { by: leg.timelock, needs };
}
