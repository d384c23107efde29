// What the builders of a leg have in common: what is asked of them, relays, and replies that are
// given again.

import { mustBeRate } from '../../../chains/bitcoin/spending.ts';
import { swapById } from '../../db/swaps.ts';
import type { Deps } from '../../ports/deps.ts';
import { type BuildRequest, type Built, mustLive } from '../../settle/builders.ts';
import { type Spent, windowSeconds } from '../budgets.ts';
import { HttpError } from '../errors.ts';

/** Each has chains read, and may hold up those of others; what is taken on is given back. */
export function mayAskRelay({ allowed, limit, resetSeconds }: Spent): void {
  if (allowed) return;
  const sentence =
    `${limit} relays that this account asked for within ${windowSeconds} s were refused or are not ` +
    `answered yet; try again in ${resetSeconds} s, or send it yourself`;
  throw new HttpError('relay_rate_limited', sentence, { 'retry-after': String(resetSeconds) });
}

/** What was kept is sent at once; the keeper would find it by itself. */
export async function wakeKeeper(
  deps: Deps,
  { id, leg }: { id: string; leg: string },
): Promise<void> {
  const swap = deps.keeper === undefined ? null : await swapById(deps.db, id);
  if (swap === null || (leg !== 'a' && leg !== 'b')) return;
  deps.keeper?.wake(swap.state.legs[leg].chain);
}

export function replayOf(deps: Deps, reply: { readonly body: unknown }): void {
  mustLive(reply.body as Built, Math.floor(deps.now() / 1_000));
}

export function buildRequest(input: {
  caller: { accountId: string };
  params: { id: string; leg: string };
  query: { feeRate?: number };
  signal: AbortSignal;
}): BuildRequest {
  const { feeRate } = input.query;
  if (feeRate !== undefined) mustBeRate(feeRate);
  return {
    accountId: input.caller.accountId,
    swapId: input.params.id,
    leg: input.params.leg,
    feeRateSatPerVbyte: feeRate ?? null,
    signal: input.signal,
  };
}
