// What the builders of a leg have in common: what is asked of them, relays, and replies that are
// given again.

import type { FastifyInstance } from 'fastify';
import { mustBeRate } from '../../../chains/bitcoin/spending.ts';
import { ParleyError } from '../../../core/errors.ts';
import type { Asking, Desk, Relayed } from '../../../watchtower/port.ts';
import type { Deps } from '../../ports/deps.ts';
import { type BuildRequest, type Built, mustLive } from '../../settle/builders.ts';
import { type Spent, windowSeconds } from '../budgets.ts';
import { HttpError } from '../errors.ts';

/** Each has chains read, and may hold up those of others. */
function mayAskRelay({ allowed, limit, resetSeconds }: Spent): void {
  if (allowed) return;
  const sentence =
    `${limit} relays that this account asked for within ${windowSeconds} s were refused or are not ` +
    `answered yet; try again in ${resetSeconds} s, or send it yourself`;
  throw new HttpError('relay_rate_limited', sentence, { 'retry-after': String(resetSeconds) });
}

/** What every relay is asked by. What is not taken on counts against the account. */
export async function relayedBy<Own>(
  { watchtower }: Deps,
  budgets: Pick<FastifyInstance['edge']['budgets'], 'spendRelay' | 'giveBackRelay'>,
  request: Omit<Asking, 'admit'> & Own,
  send: (desk: Desk, asking: Asking & Own) => Promise<Relayed>,
): Promise<Relayed> {
  if (watchtower === undefined) {
    throw new ParleyError('relay_unavailable', 'this market has no gas key: send it yourself', {});
  }
  const { accountId } = request;
  let wasAdmitted = false as boolean;
  const admit = async () => {
    mayAskRelay(await budgets.spendRelay(accountId));
    wasAdmitted = true;
  };
  const relayed = await send(watchtower, { ...request, admit });
  if (wasAdmitted) await budgets.giveBackRelay(accountId);
  return relayed;
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
