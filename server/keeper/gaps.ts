// Nonces that were given out and are used by nothing any more: what was signed never left. All that
// comes behind waits for them, so each is taken by a transaction of nothing.

import { ParleyError } from '../../core/errors.ts';
import { type Attempt, liveAttempts } from '../db/keeper-attempts.ts';
import { reservedBehind } from '../db/keeper-blocking.ts';
import type { Deps } from '../ports/deps.ts';
import type { Gas } from '../ports/gas.ts';
import { within } from '../ports/time-limit.ts';
import {
  bumpSeconds,
  jobPatienceMs,
  mostUnderWay,
  unknownSeconds,
  vouchedSeconds,
} from './bounds.ts';
import { isOutbid, withFates } from './fates.ts';
import {
  giveTurnBack,
  keepSigned,
  mostOfVoid,
  mustBeTurn,
  type Nonces,
  noncesOf,
  purseOf,
  signWith,
  turnOn,
} from './sign.ts';
import { freeOf, gapsIn, least } from './spending.ts';
import { sendKept } from './tend.ts';

/** Returns how many were sent or sent again. */
export async function fillGaps(deps: Deps, gas: Gas, signal: AbortSignal): Promise<number> {
  const { account } = gas;
  const { chain, address } = account;
  const live = await liveAttempts(deps.db, chain, address);
  if (live.every(({ nonce }) => nonce === null)) return 0;
  const surely = lastLate(live, deps.now(), unknownSeconds) >= 0;
  const nonces = await noncesOf(deps, { gas, signal }, { surely });
  if (nonces === null) return 0;
  let sent = await tendFillers(deps, gas, live, signal);
  for (const nonce of await missingIn({ deps, gas, signal }, live, nonces)) {
    const work = fill(deps, gas, { nonce, instead: null }, signal).then(() => true);
    if (await attempted(deps, nonce, gas, work)) sent += 1;
  }
  return sent;
}

/** Whatever ends one is its own trouble: the others go on, and it has its turn at the next look. */
async function attempted(
  deps: Deps,
  nonce: number | null,
  { account: { chain } }: Gas,
  work: Promise<boolean>,
): Promise<boolean> {
  try {
    return await work;
  } catch (error) {
    const failure = error instanceof ParleyError ? error.code : (error as Error).name;
    deps.log.warn({ chain, nonce, failure }, 'a nonce is not freed yet');
    return false;
  }
}

/** The highest nonce of ours that has waited for so long; -1: none has. */
function lastLate(live: readonly Attempt[], now: number, seconds: number): number {
  const late = live.filter(({ fate, signedAt }) => {
    const waits = fate === 'unknown' || fate === 'pending';
    return waits && now - signedAt.getTime() > seconds * 1_000;
  });
  return Math.max(-1, ...late.map(({ nonce }) => nonce ?? -1));
}

/** What nodes say of mempools hides none of them for ever, nor what has failed in a block. */
async function missingIn(
  { deps, gas: { account }, signal }: { deps: Deps; gas: Gas; signal: AbortSignal },
  live: readonly Attempt[],
  { used, first, ...nonces }: Nonces,
): Promise<number[]> {
  const failed = new Set(nonces.failed);
  const taken = live.map(({ nonce }) => nonce);
  const open = gapsIn(first, taken, mostUnderWay).filter((nonce) => !failed.has(nonce));
  const before = lastLate(live, deps.now(), unknownSeconds);
  const below = taken.filter((nonce) => nonce !== null && nonce <= before);
  const hidden = gapsIn(used, below, mostUnderWay).filter((nonce) => {
    return nonce < first || failed.has(nonce);
  });
  const asked = hidden.length === 0 ? undefined : account.pendingNonces?.(signal);
  const said = asked === undefined ? [] : await within(signal, account.chain, asked);
  const longBefore = lastLate(live, deps.now(), vouchedSeconds);
  const freed = hidden.filter((nonce) => {
    const vouchers = said.filter((pending) => pending > nonce).length;
    return vouchers < 2 || nonce < longBefore;
  });
  return [...freed, ...open].slice(0, mostUnderWay);
}

/** Those that belong to no job are looked after here. */
async function tendFillers(
  deps: Deps,
  gas: Gas,
  live: readonly Attempt[],
  signal: AbortSignal,
): Promise<number> {
  const own = live.filter(({ jobId }) => jobId === null);
  const fresh = await withFates({ deps, gas, signal }, own);
  const newest = new Map(fresh.map((each) => [each.nonce, each]));
  let sent = 0;
  for (const each of newest.values()) {
    if (each.fate !== 'unknown' && each.fate !== 'pending') continue;
    const ageMs = deps.now() - each.signedAt.getTime();
    const isDue = ageMs > bumpSeconds.least * 1_000 && each.sentAt !== null;
    const { length: versions } = own.filter(({ nonce }) => nonce === each.nonce);
    const work = async () => {
      if (isDue && (await isOutbid({ deps, gas, signal }, each, { versions, refused: false }))) {
        await fill(deps, gas, { nonce: each.nonce as number, instead: each }, signal);
      } else if (each.fate === 'unknown' || isDue) {
        // The one node that has it may be cut off from all others.
        await sendKept(deps, gas, each, signal);
      } else return false;
      return true;
    };
    if (await attempted(deps, each.nonce, gas, work())) sent += 1;
  }
  return sent;
}

async function fill(
  deps: Deps,
  gas: Gas,
  { nonce, instead }: { readonly nonce: number; readonly instead: Attempt | null },
  signal: AbortSignal,
): Promise<void> {
  const turn = await turnOn(deps, gas, { kind: 'own', patienceMs: jobPatienceMs, signal });
  if (turn === null) return;
  let attempt: Attempt;
  try {
    const { chain, address } = gas.account;
    const live = await liveAttempts(deps.db, chain, address);
    // Somebody has taken it meanwhile, or made it pay more.
    const newest = live.findLast((each) => each.nonce === nonce)?.id ?? null;
    if (newest !== (instead?.id ?? null)) {
      return await giveTurnBack(deps, turn);
    }
    const purse = await purseOf(deps, turn, { accountId: null, jobId: null });
    const besides = await reservedBehind(deps.db, { chain, address, nonce }, null);
    const most = least(freeOf(purse, besides), await mostOfVoid(turn, instead));
    // What nobody was promised waits for the next day, as all else beyond the cap does.
    if (instead === null && besides === 0n && purse.sums.spent >= purse.dailyCap) {
      deps.log.warn({ chain, nonce }, 'the day’s cap leaves nothing to free a nonce');
      return await giveTurnBack(deps, turn);
    }
    const slot = { nonce, instead, most };
    const signed = await signWith(deps, turn, { verb: 'void' }, slot);
    attempt = await deps.db.transaction(async (tx) => {
      await mustBeTurn(tx, deps, turn);
      return keepSigned(tx, deps, turn, signed, { jobId: null, verb: 'void' });
    });
  } catch (error) {
    await giveTurnBack(deps, turn);
    const isCostly = error instanceof ParleyError && error.code === 'fee_above_limit';
    // Nodes may have forgotten it while it may not be made to pay more.
    if (isCostly && instead !== null) return sendKept(deps, gas, instead, signal);
    throw error;
  }
  await sendKept(deps, gas, attempt, signal);
}
