// A nonce below what is in flight that nothing has: a reorganisation took back what failed there,
// or a node has lied. All that comes behind waits for it, so that nothing is sent with it.

import { within } from '@parley/chains/nodes/time-limit.ts';
import { ParleyError } from '@parley/core/errors.ts';
import { bumpSeconds, jobPatienceMs, mostGaps, unknownSeconds, vouchedSeconds } from './bounds.ts';
import { type Attempt, failedNonces, liveAttempts, noncesKnown } from './db/attempts.ts';
import { reservedBehind } from './db/sums.ts';
import { isOutbid, withOutcomes } from './outcomes.ts';
import type { Gas, Parts } from './port.ts';
import { fundsOf, keepSigned, leased, mostOfVoid, mustHold, signWith, usedNonces } from './sign.ts';
import { freeOf, gapsIn, least } from './spending.ts';
import { sendKept } from './tend.ts';

/** Each ends by itself: one that cannot be freed holds up no other. */
export async function fillGaps(deps: Parts, gas: Gas, signal: AbortSignal): Promise<void> {
  const { chain, address } = gas.account;
  const live = await liveAttempts(deps.db, chain, address);
  if (live.every(({ nonce }) => nonce === null)) return;
  const fillers = await withOutcomes(
    { deps, gas, signal },
    live.filter(({ jobId }) => jobId === null),
  );
  const waiting = fillers.filter(({ outcome }) => outcome === 'unknown' || outcome === 'pending');
  for (const each of new Map(waiting.map((one) => [one.nonce, one])).values()) {
    const { length: replacements } = waiting.filter(({ nonce }) => nonce === each.nonce);
    await attempted(deps, each.nonce, gas, () => push(deps, gas, each, replacements, signal));
  }
  for (const nonce of await missingIn(deps, gas, live, signal)) {
    await attempted(deps, nonce, gas, () => fill(deps, gas, { nonce, instead: null }, signal));
  }
}

async function attempted(
  deps: Parts,
  nonce: number | null,
  { account: { chain } }: Gas,
  work: () => Promise<void>,
): Promise<void> {
  try {
    await work();
  } catch (error) {
    const failure = error instanceof ParleyError ? error.code : (error as Error).name;
    deps.log.warn({ chain, nonce, failure }, 'a nonce is not freed yet');
  }
}

async function push(
  deps: Parts,
  gas: Gas,
  each: Attempt,
  replacements: number,
  signal: AbortSignal,
): Promise<void> {
  const isDue = deps.now() - each.signedAt.getTime() > bumpSeconds.least * 1_000;
  const of = { replacements, refused: false };
  if (isDue && each.sentAt !== null && (await isOutbid({ deps, gas, signal }, each, of))) {
    return fill(deps, gas, { nonce: each.nonce as number, instead: each }, signal);
  }
  // The one node that has it may be cut off from all others.
  if (each.outcome === 'unknown' || isDue) await sendKept(deps, gas, each, signal);
}

/**
 * At once where no node counts anything above it, and nothing of it has failed in a block. Else
 * below what has waited for long: a node that lies about mempools hides none of them for ever.
 */
async function missingIn(
  deps: Parts,
  { account, ...gas }: Gas,
  live: readonly Attempt[],
  signal: AbortSignal,
): Promise<number[]> {
  const lastLate = (seconds: number) => {
    const late = live.filter(({ outcome, signedAt }) => {
      return outcome !== 'mined' && deps.now() - signedAt.getTime() > seconds * 1_000;
    });
    return Math.max(-1, ...late.map(({ nonce }) => nonce ?? -1));
  };
  const waits = lastLate(0);
  const taken = live.map(({ nonce }) => nonce).filter((nonce) => nonce !== null && nonce <= waits);
  const { aboveDeep } = await noncesKnown(deps.db, account.chain, account.address);
  const isWhole = aboveDeep !== null && gapsIn(aboveDeep, taken, 1).length === 0;
  if (waits < 0 || isWhole) return [];
  const mined = await within(signal, account.chain, account.minedNonce(signal));
  if (mined === null) return [];
  const used = await usedNonces(
    deps,
    { gas: { account, ...gas }, signal },
    { mined, surely: true },
  );
  const missing = gapsIn(used, taken, mostGaps);
  if (missing.length === 0) return [];
  const said = (await account.pendingNonces?.(signal)) ?? [];
  const late = lastLate(unknownSeconds);
  const longBefore = lastLate(vouchedSeconds);
  const { chain, address } = account;
  // A node that is behind does not count what a block has had.
  const failed = await failedNonces(deps.db, { chain, address, from: used });
  return missing.filter((nonce) => {
    const counting = said.filter((pending) => pending > nonce).length;
    if (counting > 1) return nonce < longBefore;
    const isSure = counting === 0 && said.length > 0 && !failed.includes(nonce);
    return isSure || nonce < late;
  });
}

async function fill(
  deps: Parts,
  gas: Gas,
  { nonce, instead }: { readonly nonce: number; readonly instead: Attempt | null },
  signal: AbortSignal,
): Promise<void> {
  const { chain, address } = gas.account;
  const signing = leased(deps, gas, { patienceMs: jobPatienceMs, signal }, async (lease) => {
    const live = await liveAttempts(deps.db, chain, address);
    // Somebody has taken it meanwhile, or made it pay more.
    const newest = live.findLast((each) => each.nonce === nonce)?.id ?? null;
    if (newest !== (instead?.id ?? null)) return null;
    const funds = await fundsOf(deps, lease, null);
    const { sum: behind } = await reservedBehind(deps.db, { chain, address, nonce });
    // An unpromised one waits for the next day, as all else beyond the cap does.
    if (instead === null && behind === 0n && funds.sums.spent >= funds.dailyCap) {
      deps.log.warn({ chain, nonce }, 'the day’s cap leaves nothing to free a nonce');
      return null;
    }
    const most = least(freeOf(funds, behind), await mostOfVoid(lease, instead));
    const signed = await signWith(deps, lease, { verb: 'void' }, { nonce, instead, most });
    return deps.db.transaction(async (tx) => {
      await mustHold(tx, deps, lease);
      return keepSigned(tx, deps, lease, signed, { jobId: null, verb: 'void' });
    });
  });
  const signed = await signing.catch((error: unknown) => {
    const isCostly = error instanceof ParleyError && error.code === 'fee_above_limit';
    // Nodes may have forgotten it while it may not be made to pay more.
    if (isCostly && instead !== null) return instead;
    throw error;
  });
  if (signed !== null) await sendKept(deps, gas, signed, signal);
}
