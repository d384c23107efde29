// What became of what gas keys have signed. Of all versions of one nonce a block takes one at most:
// the newest is looked at, and the others once it is used, so that however many there are the next
// step is not held up by them.

import type { Paid } from '../../chains/gas/account.ts';
import { ParleyError } from '../../core/errors.ts';
import { inParallel } from '../../host/in-parallel.ts';
import {
  type Attempt,
  isLive,
  liveAttempts,
  noncesKnown,
  storeFate,
} from '../db/keeper-attempts.ts';
import type { Deps } from '../ports/deps.ts';
import type { Gas } from '../ports/gas.ts';
import { realTime } from '../ports/signing-time.ts';
import { within } from '../ports/time-limit.ts';
import { fatesAtOnce, mostVersions, restMs } from './bounds.ts';
import { openTransaction } from './sealing.ts';
import { chargeOf } from './spending.ts';

export type Asking = {
  readonly deps: Pick<Deps, 'db' | 'now' | 'settings' | 'signingTime'>;
  readonly gas: Gas;
  readonly signal: AbortSignal;
};

/** `each`: looks at every one, as long as it matters whether any node has shown any of them. */
export async function withFates(
  on: Asking,
  attempts: readonly Attempt[],
  { each: eachOne = false }: { readonly each?: boolean } = {},
): Promise<Attempt[]> {
  const { chain, address } = on.gas.account;
  const asked = attempts.filter(mayHaveLeft);
  const hasNonce = asked.some(({ nonce }) => nonce !== null);
  const past = hasNonce ? (await noncesKnown(on.deps.db, chain, address)).aboveDeep : 0;
  const seen = new Map<number, Attempt>();
  const look = async (groups: readonly Attempt[][], below: number) => {
    const found = await inParallel(groups, fatesAtOnce, (group) =>
      fatesOf(on, group, { past: below, eachOne }),
    );
    for (const fresh of found.flat()) seen.set(fresh.id, fresh);
  };
  const groups = versionsOf(attempts).filter((group) => group.some(mayHaveLeft));
  await look(groups, past);
  // What has just become deep tells of those before it.
  const deep = [...seen.values()].filter(({ fate }) => fate === 'deep');
  const nowPast = Math.max(past, ...deep.map(({ nonce }) => (nonce ?? -1) + 1));
  const late = groups.map((group) => group.map((one) => seen.get(one.id) ?? one));
  await look(
    late.filter((group) => {
      const nonce = group[0]?.nonce ?? null;
      return nonce !== null && nonce >= past && nonce < nowPast && group.some(mayHaveLeft);
    }),
    nowPast,
  );
  return attempts.map((one) => seen.get(one.id) ?? one);
}

const mayHaveLeft = ({ fate, sentAt }: Attempt) => isLive(fate) && sentAt !== null;

/** By nonce, the oldest first; what has none stands alone. */
function versionsOf(attempts: readonly Attempt[]): Attempt[][] {
  const byNonce = Map.groupBy(attempts, ({ id, nonce }) => (nonce === null ? `id ${id}` : nonce));
  return [...byNonce.values()];
}

type How = { readonly past: number; readonly eachOne: boolean };

/** All versions of one nonce, or one transaction without. `past`: nonces below it are used up. */
async function fatesOf(on: Asking, group: readonly Attempt[], how: How): Promise<Attempt[]> {
  const { past, eachOne } = how;
  const fresh = new Map(group.map((each) => [each.id, each]));
  const looked = new Set<number>();
  const lookAt = (some: readonly Attempt[], by: Asking) =>
    inParallel(some, fatesAtOnce, async (each) => {
      fresh.set(each.id, await withFate(by, each, past));
      looked.add(each.id);
    });
  const now = () => [...fresh.values()];
  const left = now().filter(mayHaveLeft);
  const newest = left.at(-1);
  const isFirst = (each: Attempt) => each === newest || each.fate === 'mined' || eachOne;
  await lookAt(left.filter(isFirst), on);
  // What a block had without effect may have been taken back since: only what was seen now counts.
  const isInBlock = ({ id, fate }: Attempt) =>
    fate === 'deep' || (looked.has(id) && (fate === 'mined' || fate === 'failed'));
  const isGone = ({ id, fate }: Attempt) => looked.has(id) && fate === 'gone';
  const isUsed = (newest?.nonce ?? past) < past || now().some(isGone);
  if (isUsed && !now().some(isInBlock)) {
    // Which of them has taken it, the newest first.
    await lookAt(left.filter((each) => !isFirst(each)).toReversed(), on);
  }
  if (now().some(({ fate }) => fate === 'deep' || fate === 'failed')) {
    // What took the nonce is charged in the place of these.
    await storeGone(
      on,
      now().filter(({ fate, charged }) => fate === 'gone' && charged > 0n),
    );
  }
  if (!now().some(isInBlock)) return now();
  const rest = now().filter((each) => mayHaveLeft(each) && each.fate !== 'mined');
  if (now().some(({ fate }) => fate === 'deep')) await storeGone(on, rest);
  else
    await settle(
      on,
      rest.filter(({ id }) => !looked.has(id)),
      lookAt,
    );
  // A block has another one: none of them counts while it does.
  return now().map((each) => {
    const waits = each.fate === 'unknown' || each.fate === 'pending';
    return waits && mayHaveLeft(each) ? { ...each, fate: 'gone' } : each;
  });
}

async function storeGone({ deps }: Asking, rest: readonly Attempt[]): Promise<void> {
  const at = new Date(deps.now());
  for (const { id } of rest) await storeFate(deps.db, id, 'gone', { paid: 0n, at });
}

/** In so much time: no step waits for it, and what is not told now is at the next look. */
async function settle(
  on: Asking,
  rest: readonly Attempt[],
  lookAt: (some: readonly Attempt[], by: Asking) => Promise<unknown>,
): Promise<void> {
  const { limit } = on.deps.signingTime ?? realTime;
  const by = { ...on, signal: AbortSignal.any([on.signal, limit(restMs)]) };
  await lookAt(rest, by).catch((error: unknown) => {
    if (!(error instanceof ParleyError) || on.signal.aborted) throw error;
  });
}

/** `past`: nonces below it are used up for good. */
async function withFate(
  { deps, gas: { account }, signal }: Asking,
  each: Attempt,
  past: number,
): Promise<Attempt> {
  const { chain } = account;
  const isPast = each.nonce !== null && each.nonce < past;
  const fate = await within(signal, chain, account.fate({ ...each, isPast }, signal));
  if (fate === each.fate) return each;
  const settled = fate === 'deep' || fate === 'failed';
  const asked = settled ? account.paid?.(each.txid, signal) : undefined;
  const said: Paid | null = asked === undefined ? null : await within(signal, chain, asked);
  // A nonce that is used was paid for: what took it is not known yet.
  const free = fate === 'gone' && each.nonce === null ? 0n : null;
  const paid = settled ? chargeOf(each.mostCost, said) : free;
  await storeFate(deps.db, each.id, fate, { paid, at: new Date(deps.now()) });
  return { ...each, fate };
}

/**
 * Whether what waits should be made to pay more: where it should not, it is sent again as it is.
 * `versions`: of its nonce. What cannot be opened any more is replaced by what can.
 */
export async function isOutbid(
  { deps, gas: { account }, signal }: Asking,
  attempt: Attempt,
  of: { readonly versions: number; readonly refused: boolean },
): Promise<boolean> {
  const sent = openTransaction(deps, attempt);
  if (sent === null) return true;
  const { raw, height = null } = sent;
  const asking = account.outbid?.({ raw, height, refused: of.refused }, signal);
  const why = asking === undefined ? null : await within(signal, account.chain, asking);
  if (why !== 'passed over' || of.versions >= mostVersions) return why === 'price';
  return of.refused || !(await waitsBehind(deps, account, attempt));
}

/** No fee takes it past a lower nonce of ours that no block has. */
async function waitsBehind(
  { db }: Asking['deps'],
  { chain, address }: Gas['account'],
  { nonce }: Attempt,
): Promise<boolean> {
  const live = await liveAttempts(db, chain, address);
  const { aboveDeep } = await noncesKnown(db, chain, address);
  const mined = new Set(live.filter(({ fate }) => fate === 'mined').map((each) => each.nonce));
  return live.some((each) => {
    if (each.nonce === null || nonce === null || each.nonce >= nonce) return false;
    // What is below one that is deep is over, whatever its row still says.
    return each.nonce >= aboveDeep && !mined.has(each.nonce);
  });
}
