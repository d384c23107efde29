// Processor time of requests that take more of it than others: made in steps, one in a turn of the
// event loop for all of them, and charged to the account and to the client's address. The first
// milliseconds of a request always pass, so that no claim waits for what others have done. Of one
// process: it is its own core that is shared out. Instants and durations in milliseconds.

import { setImmediate as turn } from 'node:timers/promises';
import type { InTurns } from '../../chains/turns.ts';
import type { Settings } from '../config.ts';
import { clientNetwork } from './budgets.ts';
import { HttpError } from './errors.ts';

/** Of one request: dearest claims take a tenth of it, and 300 such requests a tenth of a minute. */
export const freeMs = 20;
/** Beyond that: ten ladders of signed refunds, or a hundred of the largest refunds. */
export const burstMs = 2_000;
/** What comes back of it: with the free part an account has at most a fifth of a core. */
export const refillShare = 0.1;
/**
 * An address (an IPv6 /64 is one) has a fifth of the times as much that a network has of requests:
 * twice, unless configured. Several customers may share it, and with dev chains all of them do.
 */
const sharers = 5;
/** What is forgotten first was charged longest ago. */
const mostPayers = 10_000;

export type ProcessorTime = {
  /** For one request: throws 429 between two steps once the time of a payer is used up. */
  meter(payers: { readonly accountId: string; readonly client: string }): InTurns;
};

type Payer = { readonly name: string; readonly whose: string; readonly times: number };
type Level = { readonly ms: number; readonly at: number };

export function createProcessorTime(
  { rateLimit, rateLimitPerNetwork }: Pick<Settings, 'rateLimit' | 'rateLimitPerNetwork'>,
  clock: () => number = () => performance.now(),
  nextTurn: () => Promise<void> = () => turn(),
): ProcessorTime {
  const ofAnAddress = Math.max(1, Math.floor(rateLimitPerNetwork / rateLimit / sharers));
  const levels = new Map<string, Level>();
  let last = Promise.resolve();
  const rest = () => {
    last = last.then(nextTurn);
    return last;
  };
  const levelOf = ({ name, times }: Payer, at: number): number => {
    const level = levels.get(name);
    return level === undefined ? 0 : Math.max(0, level.ms - (at - level.at) * refillShare * times);
  };
  const charge = (payer: Payer, ms: number, at: number) => {
    const next = { ms: levelOf(payer, at) + ms, at };
    levels.delete(payer.name);
    levels.set(payer.name, next);
    const [oldest = ''] = levels.keys();
    if (levels.size > mostPayers) levels.delete(oldest);
  };
  const mustHaveTime = (payer: Payer, at: number) => {
    const over = levelOf(payer, at) - burstMs * payer.times;
    if (over >= 0) throw usedUp(payer, over);
  };
  return {
    meter: ({ accountId, client }) => {
      const payers: readonly Payer[] = [
        { name: `account ${accountId}`, whose: 'account', times: 1 },
        { name: `address ${clientNetwork(client)}`, whose: 'address', times: ofAnAddress },
      ];
      let used = 0;
      return async (steps, signal) => {
        for (;;) {
          const began = clock();
          if (used >= freeMs) for (const payer of payers) mustHaveTime(payer, began);
          let step: ReturnType<typeof steps.next>;
          try {
            step = steps.next();
          } finally {
            const at = clock();
            used += at - began;
            for (const payer of payers) charge(payer, at - began, at);
          }
          if (step.done) return step.value;
          await rest();
          signal.throwIfAborted();
        }
      };
    },
  };
}

function usedUp({ whose, times }: Payer, over: number): HttpError {
  const backMs = refillShare * 1_000 * times;
  const seconds = Math.max(1, Math.ceil(over / backMs));
  const sentence =
    `the dear requests of this ${whose} have taken ${(burstMs * times) / 1_000} s of processor` +
    ` time, and ${backMs} ms come back a second; try again in ${seconds} s`;
  return new HttpError('processor_time_limited', sentence, { 'retry-after': String(seconds) });
}
