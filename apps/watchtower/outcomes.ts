// Outcomes of transactions that gas keys have signed. A block takes at most one of those with one
// nonce: once that is final the others are over, whatever nodes say of them.

import type { Paid } from '@parley/chains/gas/account.ts';
import { within } from '@parley/chains/nodes/time-limit.ts';
import { ParleyError } from '@parley/core/errors.ts';
import { inParallel } from '@parley/host/in-parallel.ts';
import { askedAtOnce, mostReplacements, oldestMs } from './bounds.ts';
import { type Attempt, isLive, noncesKnown, storeOutcome } from './db/attempts.ts';
import type { Gas, Parts } from './port.ts';
import { openTransaction } from './sealing.ts';
import { chargeOf } from './spending.ts';
import { realTime } from './step.ts';

export type Asking = {
  readonly deps: Pick<Parts, 'db' | 'now' | 'seal' | 'signingTime'>;
  readonly gas: Gas;
  readonly signal: AbortSignal;
};

const mayHaveLeft = ({ outcome, sentAt }: Attempt) => isLive(outcome) && sentAt !== null;

/**
 * `each`: every one of them has to be told, as long as it matters whether any node has shown any of
 * them. Else silence about those that were replaced holds up nothing.
 */
export async function withOutcomes(
  on: Asking,
  attempts: readonly Attempt[],
  { each = false }: { readonly each?: boolean } = {},
): Promise<Attempt[]> {
  if (!attempts.some(mayHaveLeft)) return [...attempts];
  const { chain, address } = on.gas.account;
  const { aboveDeep } = await noncesKnown(on.deps.db, chain, address);
  const byNonce = Map.groupBy(attempts, ({ id, nonce }) => (nonce === null ? `id ${id}` : nonce));
  const groups = [...byNonce.values()].filter((group) => group.some(mayHaveLeft));
  const found = await inParallel(groups, askedAtOnce, (group) =>
    outcomesOf(on, group, { past: aboveDeep ?? 0, each }),
  );
  const fresh = new Map(found.flat().map((one) => [one.id, one]));
  return attempts.map((one) => fresh.get(one.id) ?? one);
}

type How = { readonly past: number; readonly each: boolean };

/** All of one nonce, or one transaction without, oldest first. `past`: nonces below are used up. */
async function outcomesOf(on: Asking, group: readonly Attempt[], how: How): Promise<Attempt[]> {
  const { limit } = on.deps.signingTime ?? realTime;
  const left = group.filter(mayHaveLeft);
  const told = await withOutcome(on, left.at(-1) as Attempt, how.past);
  // Once it is final the others are over, unasked.
  const older = told.outcome === 'deep' ? [] : left.slice(0, -1).toReversed();
  const by = how.each ? on : { ...on, signal: AbortSignal.any([on.signal, limit(oldestMs)]) };
  const rest = await inParallel(older, askedAtOnce, (one) =>
    withOutcome(by, one, how.past).catch((error: unknown) => {
      if (how.each || on.signal.aborted || !(error instanceof ParleyError)) throw error;
      return one;
    }),
  );
  const fresh = new Map([...rest, told].map((one) => [one.id, one]));
  const all = group.map((one) => fresh.get(one.id) ?? one);
  const at = new Date(on.deps.now());
  const isFinal = all.some(({ outcome }) => outcome === 'deep');
  const isUsed = isFinal || all.some(({ outcome }) => outcome === 'failed');
  for (const { id, outcome, charged } of all) {
    // The one that took the nonce is charged in the place of these.
    const isOver = (isFinal && isLive(outcome)) || (isUsed && outcome === 'gone' && charged > 0n);
    if (isOver) await storeOutcome(on.deps.db, id, 'gone', { paid: 0n, at });
  }
  if (!isUsed && !all.some(({ outcome }) => outcome === 'mined')) return all;
  // A block has another one, so they do not count while it does.
  const waits = ({ outcome }: Attempt) => outcome === 'unknown' || outcome === 'pending';
  return all.map((one) => {
    if (!mayHaveLeft(one)) return one;
    return waits(one) || (isFinal && isLive(one.outcome)) ? { ...one, outcome: 'gone' } : one;
  });
}

/** `past`: nonces below it are used up for good. */
async function withOutcome(
  { deps, gas: { account }, signal }: Asking,
  each: Attempt,
  past: number,
): Promise<Attempt> {
  const { chain } = account;
  const isPast = each.nonce !== null && each.nonce < past;
  const outcome = await within(signal, chain, account.outcome({ ...each, isPast }, signal));
  if (outcome === each.outcome) return each;
  const settled = outcome === 'deep' || outcome === 'failed';
  const asked = settled ? account.paid?.(each.txid, signal) : undefined;
  const said: Paid | null = asked === undefined ? null : await within(signal, chain, asked);
  // A nonce that is used was paid for: the transaction that took it is not known yet.
  const free = outcome === 'gone' && each.nonce === null ? 0n : null;
  const paid = settled ? chargeOf(each.mostCost, said) : free;
  await storeOutcome(deps.db, each.id, outcome, { paid, at: new Date(deps.now()) });
  return { ...each, outcome };
}

/**
 * Whether what waits should be made to pay more: where it should not, it is sent again as it is.
 * `replacements`: with its nonce. One that cannot be opened any more is replaced by one that can.
 */
export async function isOutbid(
  { deps, gas: { account }, signal }: Asking,
  attempt: Attempt,
  of: { readonly replacements: number; readonly refused: boolean },
): Promise<boolean> {
  const sent = openTransaction(deps, attempt);
  if (sent === null) return true;
  const { raw, height = null } = sent;
  const asking = account.outbid?.({ raw, height, refused: of.refused }, signal);
  const why = asking === undefined ? null : await within(signal, account.chain, asking);
  return why === 'price' || (why === 'passed over' && of.replacements < mostReplacements);
}
