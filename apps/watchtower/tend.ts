// One job of the keeper: the chain is read, and one step follows. The next read finds a step that
// ended half-way: a transaction is kept before it is sent, and a kept one is sent until the chain
// shows its outcome.

import type { ChainAdapter } from '@parley/chains/adapter.ts';
import type { GasWork } from '@parley/chains/gas/account.ts';
import { saysFeeTooLow } from '@parley/chains/nodes/answers.ts';
import { within } from '@parley/chains/nodes/time-limit.ts';
import { lateClaim } from '@parley/core/deadlines.ts';
import { ParleyError } from '@parley/core/errors.ts';
import type { EscrowFacts } from '@parley/core/facts.ts';
import { fundBy } from '@parley/core/gates.ts';
import { opens, type Secret } from '@parley/core/hashlock.ts';
import { gatesMs, inHandSeconds, lookAgainSeconds, wantedSeconds } from './bounds.ts';
import {
  type Attempt,
  attemptsOf,
  claimWasShown,
  giveUpUnsent,
  isLive,
  markSent,
  storeShown,
} from './db/attempts.ts';
import { endJob, forgetSecret, isWaiting, type Job, purposes, putOffJobs } from './db/jobs.ts';
import { wasWanted } from './db/keys.ts';
import { asksGates, type Decision, decide, graceOf, hasWaited, type Look } from './decide.ts';
import { isOutbid, withOutcomes } from './outcomes.ts';
import type { Gas, Parts, Tx } from './port.ts';
import { fundingWork } from './relay.ts';
import { openSecret, openTransaction } from './sealing.ts';
import { fundsOf, signOrYield, signVoid } from './sign.ts';
import { allowanceOf, isAskedFor } from './spending.ts';
import { type On, realTime, TooShort } from './step.ts';

/** How a broadcast ends where no node has the bytes: all refused them, or none was given them. */
const absent: readonly string[] = ['refused_by_node', 'chain_unavailable'];

/** Why something may not be made to pay more now, though what is signed of it may still land. */
const heldUp: readonly string[] = ['fee_above_limit', 'nothing_there'];

/**
 * One read and one step; `hasRoom`: the key has none in flight. Throws what a chain throws,
 * `TooShort`, or a refusal of the chain's.
 */
export async function tend(
  deps: Parts,
  gas: Gas,
  job: Job,
  hasRoom: () => Promise<boolean>,
  signal: AbortSignal,
): Promise<void> {
  const { chain } = job;
  const about = await deps.market.caseOf(chain, job.escrow);
  const adapter = deps.adapters.get(chain);
  if (about === null || adapter === undefined)
    return void (await endJob(deps.db, job.id, 'dropped'));
  const { escrow } = about;
  const attempts = await attemptsOf(deps.db, job.id, gas.account.address);
  const on: On = { deps, gas, job, about, escrow, adapter, signal, attempts };
  const rest = graceLeft(on);
  if (rest !== null) return putOff(on, rest);
  const isUnseen = job.verb === 'claim' && about.state.secret === null;
  // Any of them that a node has after all makes the secret public.
  const each = isUnseen && !(await claimWasShown(deps.db, job.id));
  const fresh = await withOutcomes(on, attempts, { each });
  const { facts, clock } = await read(on);
  const secret = secretOf(on, facts);
  // A claim that nodes have had is known to others too, though no chain shows it, whichever key
  // signed it.
  const isPublic = secret.isPublic || (await claimWasShown(deps.db, job.id));
  const look = await lookOf(on, { facts, clock, wall: wallOf(deps), attempts: fresh, isPublic });
  const decision = decide(look);
  const isIdle = !fresh.some(({ outcome }) => isLive(outcome));
  // The job has no effect any more, and leaves nothing behind.
  const isOver = decision.do === 'wait' && about.done && isIdle;
  const wanted: Decision = isOver ? { do: 'end', as: 'done' } : decision;
  const next = await unlessDisputed(on, wanted, look);
  // A transaction that left is asked for until nodes tell its outcome.
  if (next.do === 'end' && (await isUntold(on))) return putOff(on, lookAgainSeconds);
  if (next.do === 'sign' && isIdle) await mustHaveRoom(on, hasRoom);
  const { known } = secret;
  await carryOut(on, next, { secret: known, isPublic, isWaitedFor: look.hurried });
}

/**
 * A new transaction waits while another one of the same key is in flight. A job without funds is
 * short of those instead.
 */
async function mustHaveRoom(on: On, hasRoom: () => Promise<boolean>): Promise<void> {
  const { deps, gas, signal } = on;
  const { purpose, id } = on.job;
  if (isAskedFor(purpose) || (await hasRoom())) return;
  const funds = await fundsOf(deps, { gas, signal }, id);
  const allowance = allowanceOf(funds, purpose, null);
  throw new TooShort('short' in allowance ? allowance.short : 'busy');
}

const wallOf = ({ now }: Parts) => Math.floor(now() / 1000);

/** How long the party is still left to do it itself; null: no longer. */
function graceLeft({ deps, gas, job, about, escrow, attempts }: On): number | null {
  if (attempts.length > 0 || isAskedFor(job.purpose)) return null;
  const wall = wallOf(deps);
  const clock = Math.max(wall, about.clock);
  const grace = graceOf(job.verb, gas.graces, escrow.terms.timelock, clock);
  const left = Math.floor(job.createdAt.getTime() / 1000) + grace - wall;
  return left > 0 ? left : null;
}

async function isUntold({ deps, gas, job }: On): Promise<boolean> {
  const kept = await attemptsOf(deps.db, job.id, gas.account.address);
  return kept.some(({ outcome, sentAt }) => isLive(outcome) && sentAt !== null);
}

async function lookOf(
  on: On,
  seen: Pick<Look, 'facts' | 'clock' | 'wall' | 'attempts' | 'isPublic'>,
): Promise<Look> {
  const { job, about, escrow, adapter } = on;
  const { terms } = escrow;
  const nonce = seen.attempts.at(-1)?.nonce ?? null;
  const hurried = nonce !== null && (await isWaitedFor(on));
  const { state } = about;
  const ungated = {
    ...seen,
    verb: job.verb,
    amount: terms.amount,
    timelock: job.verb === 'fund' ? fundBy(state, state.legs[job.leg]) : terms.timelock,
    barred: false,
    driftSeconds: adapter.policy.driftSeconds,
    createdAt: Math.floor(job.createdAt.getTime() / 1000),
    revealBy: state.deadlines.revealBy,
    hurried,
    yields: hurried && job.purpose !== 'relay',
    outbid: false,
  };
  const look = asksGates(ungated) ? { ...ungated, barred: await barredNow(on) } : ungated;
  const waiting = hasWaited(look);
  const outbid = waiting !== null && (await isOutbid(on, waiting, replaced(on, waiting)));
  return { ...look, outbid };
}

/** Whether a relay was refused for what this has in flight, or a more urgent job waits for it. */
async function isWaitedFor({ deps, job }: On): Promise<boolean> {
  const { id: except, chain } = job;
  const clock = (deps.signingTime ?? realTime).leaseClock();
  if (await wasWanted(deps.db, chain, { seconds: wantedSeconds, clock })) return true;
  const dueBy = new Date(deps.now() + inHandSeconds * 1_000);
  const ahead = purposes.slice(0, Math.max(1, purposes.indexOf(job.purpose)));
  return isWaiting(deps.db, { chain, except, purposes: ahead, dueBy });
}

/** Null: a chain is away, or its nodes disagree. That takes no more than a part of the look. */
async function barredNow({ deps, job, signal }: On): Promise<boolean | null> {
  const { limit } = deps.signingTime ?? realTime;
  try {
    return await deps.market.isBarred(job, AbortSignal.any([signal, limit(gatesMs)]));
  } catch (error) {
    if (signal.aborted || !(error instanceof ParleyError)) throw error;
    const { chain, swapId, leg } = job;
    const facts = { chain, swapId, leg, failure: error.code };
    deps.log.warn(facts, 'the gates of a funding cannot be asked');
    return null;
  }
}

/** `refused`: that no node takes it at its fee. */
function replaced({ attempts }: On, { nonce }: Attempt, refused = false) {
  const same = attempts.filter((each) => each.nonce === nonce && isLive(each.outcome));
  return { replacements: same.length, refused };
}

async function read({ escrow, adapter, signal }: On) {
  const { heads, facts } = await within(signal, adapter.chain, adapter.look([escrow], signal));
  return { facts: facts[0] as EscrowFacts, clock: heads.clock };
}

function secretOf(
  { deps, job, about: { state } }: On,
  { secret: seen }: EscrowFacts,
): { isPublic: boolean; known: Secret | null } {
  const { secret, hashlock } = state;
  const shown = secret ?? (seen !== null && opens(seen, hashlock) ? seen : null);
  // The initiator is not paid by the long leg: a claim that is relayed there has read the secret.
  const isPublic = shown !== null || job.verb !== 'claim' || state.legs[job.leg].long;
  return { isPublic, known: shown ?? openSecret(deps, job) };
}

type Known = {
  readonly secret: Secret | null;
  readonly isPublic: boolean;
  readonly isWaitedFor: boolean;
};

async function carryOut(on: On, decision: Decision, known: Known): Promise<void> {
  const { deps, job, about } = on;
  const isUnknown = about.state.secret === null;
  if (job.secret !== null && !isUnknown) await forgetSecret(deps.db, job.id);
  switch (decision.do) {
    case 'end': {
      // The pass that takes up public secrets locks the swap before its jobs, too: either it finds
      // the job dropped, or this finds the secret.
      const mustLock = decision.as === 'dropped' && job.verb === 'claim' && isUnknown;
      const may = mustLock ? (tx: Tx) => deps.market.lockWithoutSecret(tx, job.swapId) : undefined;
      if (!(await endJob(deps.db, job.id, decision.as, may)) && mustLock) return putOff(on, 0);
      return tell(on, `a job of the keeper is ${decision.as}`);
    }
    case 'wait':
      return putOff(on, decision.seconds);
    case 'give up':
      if (await giveUpUnsent(deps.db, decision.attempt.id)) {
        tell(on, 'a signed transaction never left, and is given up');
      }
      return putOff(on, 0);
    case 'send': {
      const { attempt, reveals } = decision;
      if (reveals) await passGates(on);
      try {
        await send(on, attempt);
      } catch (error) {
        if (!isForItsFee(attempt, error)) throw error;
        if (!(await isOutbid(on, attempt, replaced(on, attempt, true)))) throw error;
        return carryOut(on, { do: 'sign', instead: attempt, reveals }, known);
      }
      return putOff(on, lookAgainSeconds);
    }
    case 'void': {
      const { attempt } = decision;
      // A claim that is withdrawn must not show what nobody else knows.
      const kept = attempt.verb === 'void' || known.isPublic ? { attempt, reveals: false } : null;
      await send(on, await orAgain(on, kept, signVoid(on, attempt)));
      return putOff(on, lookAgainSeconds);
    }
    case 'sign': {
      const { instead, reveals } = decision;
      const { isWaitedFor } = known;
      if (reveals) await passGates(on);
      const work = workOf(on, known.secret, reveals);
      const kept = instead && { attempt: instead, reveals };
      const signing = signOrYield(on, work, { instead, isWaitedFor });
      await send(on, await orAgain(on, kept, signing));
      return putOff(on, lookAgainSeconds);
    }
  }
}

/** No pool has it: it is made to pay more at once, not after the time that others are left. */
function isForItsFee({ nonce, verb, shownAt }: Attempt, error: unknown): boolean {
  if (nonce === null || verb === 'void' || shownAt !== null || !(error instanceof ParleyError))
    return false;
  return error.code === 'refused_by_node' && saysFeeTooLow(error.message);
}

function workOf({ job, escrow, about }: On, secret: Secret | null, reveals: boolean): GasWork {
  const { terms } = escrow;
  if (job.verb === 'refund') return { verb: 'refund', terms };
  if (job.verb === 'fund') return fundingWork(escrow, job.signature ?? '');
  if (secret === null) {
    const sentence = `the secret of ${about.state.hashlock} cannot be opened any more`;
    throw new ParleyError('wrong_secret', sentence, {});
  }
  return { verb: 'claim', terms, secret, isPublic: !reveals };
}

function passGates({ deps, gas, about, signal }: On): Promise<void> {
  return deps.market.mustMayClaim(about, gas.account.address, signal);
}

/**
 * A transaction that may not be made to pay more is sent as it is, in case that nodes have
 * forgotten it. A claim that shows the secret asks the gates again: signing may have waited.
 */
async function orAgain(
  on: On,
  kept: { readonly attempt: Attempt; readonly reveals: boolean } | null,
  signing: Promise<Attempt>,
): Promise<Attempt> {
  try {
    return await signing;
  } catch (error) {
    const isHeldUp =
      error instanceof TooShort || (error instanceof ParleyError && heldUp.includes(error.code));
    if (isHeldUp && kept !== null) await sendAgain(on, kept);
    throw error;
  }
}

/** Does not throw: why it could not be made to pay more is what its job is put off for. */
async function sendAgain(
  on: On,
  { attempt, reveals }: { readonly attempt: Attempt; readonly reveals: boolean },
): Promise<void> {
  const { deps, job } = on;
  try {
    if (reveals) await passGates(on);
    await send(on, attempt);
  } catch (error) {
    // A refusal of a chain may quote what was sent.
    const failure = error instanceof ParleyError ? error.code : (error as Error).name;
    const { txid } = attempt;
    deps.log.warn(
      { chain: job.chain, txid, failure },
      'a waiting transaction could not be sent again',
    );
  }
}

async function send(on: On, attempt: Attempt): Promise<void> {
  const { deps, job, signal } = on;
  await sendKept(deps, on.gas, attempt, signal);
  if (attempt.verb === 'void') return;
  const { chain } = job;
  // It is sent: the follower sees later what is not seen now.
  await deps.market
    .reconcile(job.swapId, chain, signal)
    .catch((error: unknown) =>
      deps.log.warn({ swapId: job.swapId, err: error }, 'a sent transaction is not looked at yet'),
    );
}

/** Hands kept bytes to the chain. Sent twice, they are the same transaction. */
export async function sendKept(
  deps: Parts,
  { account: { chain } }: Gas,
  attempt: Attempt,
  signal: AbortSignal,
): Promise<void> {
  const transaction = openTransaction(deps, attempt);
  if (transaction === null) {
    deps.log.error({ chain, txid: attempt.txid }, 'a signed transaction cannot be opened any more');
    return;
  }
  const at = new Date(deps.now());
  if (!(await markSent(deps.db, attempt.id, at))) return;
  const isFirst = attempt.shownAt === null;
  const adapter = deps.adapters.get(chain) as ChainAdapter;
  try {
    await within(signal, chain, adapter.broadcast(transaction, signal));
  } catch (error) {
    // Only these say that no node has it: one that ends in silence may have arrived.
    const isAbsent = error instanceof ParleyError && absent.includes(error.code);
    if (isFirst && isAbsent) await storeShown(deps.db, attempt.id, at, false);
    throw error;
  }
  // Anew each time: a process that was refused meanwhile takes back only what it wrote itself.
  await storeShown(deps.db, attempt.id, at, true);
  deps.log.info({ chain, txid: attempt.txid, verb: attempt.verb }, 'the keeper has sent');
}

async function putOff({ deps, job }: On, seconds: number): Promise<void> {
  const dueAt = new Date(deps.now() + seconds * 1_000);
  await putOffJobs(deps.db, [job.id], { dueAt, failure: null });
}

function tell({ deps, job }: On, message: string): void {
  const { chain, swapId, leg, verb, purpose } = job;
  deps.log.info({ chain, swapId, leg, verb, purpose }, message);
}

// Before a claim of a known secret is given up: on the word of one node of several it is not, as a
// party that has the secret takes the other leg. Asked as long as a claim may land by our own
// clock, so that nodes that never agree keep nothing for ever.

/** The decision; or, where the chain's nodes disagree, to keep what there is and look again. */
async function unlessDisputed(on: On, next: Decision, look: Look): Promise<Decision> {
  const { deps, job, escrow, adapter, signal } = on;
  const { policy } = adapter;
  const mayLandUntil = escrow.terms.timelock + lateClaim({ policy, depth: policy.high });
  if (look.wall >= mayLandUntil || !givesUp(next, look)) return next;
  if (!look.isPublic && !(await claimWasShown(deps.db, job.id))) return next;
  const asking = adapter.mustAgree?.(escrow, signal);
  try {
    if (asking !== undefined) await within(signal, job.chain, asking);
    return next;
  } catch (error) {
    if (!(error instanceof ParleyError) || error.code !== 'sources_disagree') throw error;
    const { chain, swapId, leg } = job;
    deps.log.warn({ chain, swapId, leg }, 'nodes disagree: a claim of the keeper is not given up');
    // Nodes may forget it meanwhile.
    if (next.do === 'void') return { do: 'send', attempt: next.attempt, reveals: false };
    // A node that is right takes it. One attempt is made: a claim that fails costs gas.
    if (look.isPublic && look.attempts.length === 0) {
      return { do: 'sign', instead: null, reveals: false };
    }
    return { do: 'wait', seconds: lookAgainSeconds };
  }
}

/** A transaction that gives way to a relay behind it was not promised, and is signed anew. */
function givesUp(next: Decision, look: Look): boolean {
  if (look.verb !== 'claim' || look.yields) return false;
  if (next.do === 'void') return next.attempt.verb === 'claim';
  if (next.do !== 'end') return false;
  // More than half of the nodes have said so of it.
  return !look.attempts.some(({ verb, outcome }) => verb === 'claim' && outcome === 'deep');
}
