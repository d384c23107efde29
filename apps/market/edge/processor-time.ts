// Processor time of requests that take more of it than others: made in steps, one in a turn of the
// event loop for all of them, and charged to the account and to the client network. The first
// milliseconds of a request pass as long as its network has some left of these, and of a party of
// an open swap always: a claim does not wait for the work of others. The times are of one process:
// it is its own core that is shared out. Instants and durations in milliseconds.

import { setImmediate as turn } from 'node:timers/promises';
import type { InTurns } from '@parley/chains/interface/turns.ts';
import type { Settings } from '../settings/config.ts';
import { clientNetwork, limited, siteOfClient, siteTimes } from './budgets.ts';
import type { HttpError } from './errors.ts';

/**
 * The free time of one request: dearest claims take a tenth of it, and 300 such requests a tenth of
 * a minute.
 */
export const freeMs = 20;
/** Beyond that: ten fee bump schedules of signed spends, or a hundred of the largest refunds. */
const burstMs = 2_000;
/** The refill of the budget: with the free part an account has at most a fifth of a core. */
const refillShare = 0.1;
/**
 * A network has a fifth of the times as much that it has of requests: twice, unless configured.
 * Several customers may share it, and with dev chains all of them do.
 */
const sharers = 5;
/** The free parts of a network's requests, that many times: half a core, unless configured. */
const free = { burstMs: 5_000, refillShare: 0.25 } as const;
/** The oldest charge is forgotten first. */
const mostPayers = 10_000;

export type ProcessorTime = {
  /** For one request: throws 429 between two steps once the time of a payer is used up. */
  meter(who: Who): InTurns;
};

type Who = {
  readonly accountId: string;
  readonly client: string;
  /** Whether it keeps requests beyond its network's: asked once, and only where that has none. */
  readonly isParty: () => Promise<boolean>;
};
type Share = { readonly burstMs: number; readonly refillShare: number };
type Payer = Share & { readonly name: string; readonly whose: string };

export function createProcessorTime(
  settings: Pick<Settings, 'rateLimit' | 'rateLimitPerNetwork' | 'clientPrefixes'>,
  clock: () => number = () => performance.now(),
  nextTurn: () => Promise<void> = () => turn(),
): ProcessorTime {
  const { rateLimit, rateLimitPerNetwork, clientPrefixes } = settings;
  const times = Math.max(1, Math.floor(rateLimitPerNetwork / rateLimit / sharers));
  const ofNetwork = (name: string, share: Share, more = 1): Payer => ({
    name,
    whose: 'client network',
    burstMs: share.burstMs * times * more,
    refillShare: share.refillShare * times * more,
  });
  const levels = new Map<string, { readonly ms: number; readonly at: number }>();
  let last = Promise.resolve();
  const rest = () => {
    last = last.then(nextTurn);
    return last;
  };
  const levelOf = ({ name, refillShare }: Payer, at: number): number => {
    const level = levels.get(name);
    return level === undefined ? 0 : Math.max(0, level.ms - (at - level.at) * refillShare);
  };
  const charge = (payer: Payer, ms: number, at: number) => {
    const next = { ms: levelOf(payer, at) + ms, at };
    levels.delete(payer.name);
    levels.set(payer.name, next);
    const [oldest = ''] = levels.keys();
    if (levels.size > mostPayers) levels.delete(oldest);
  };
  return {
    meter: ({ accountId, client, isParty }) => {
      const network = clientNetwork(client, clientPrefixes);
      const site = clientNetwork(client, siteOfClient);
      const own = { burstMs, refillShare };
      const payers: readonly Payer[] = [
        { name: `account ${accountId}`, whose: 'account', ...own },
        ofNetwork(`network ${network}`, own),
        ofNetwork(`site ${site}`, own, siteTimes.requests),
      ];
      const freely = [
        ofNetwork(`free ${network}`, free),
        ofNetwork(`free site ${site}`, free, siteTimes.requests),
      ];
      let used = 0;
      let party: boolean | null = null;
      return async (steps, signal) => {
        for (;;) {
          let began = clock();
          const isFree = used < freeMs;
          const asked = isFree ? freely : payers;
          const over = asked.find((payer) => levelOf(payer, began) >= payer.burstMs);
          if (over !== undefined) {
            if (isFree) party ??= await isParty();
            if (!isFree || party !== true) throw usedUp(over, levelOf(over, began));
            began = clock();
          }
          let step: ReturnType<typeof steps.next>;
          try {
            step = steps.next();
          } finally {
            const at = clock();
            const ms = at - began;
            used += ms;
            for (const payer of isFree ? [...payers, ...freely] : payers) charge(payer, ms, at);
          }
          if (step.done) return step.value;
          await rest();
          signal.throwIfAborted();
        }
      };
    },
  };
}

function usedUp({ whose, burstMs, refillShare }: Payer, level: number): HttpError {
  const backMs = refillShare * 1_000;
  const seconds = Math.max(1, Math.ceil((level - burstMs) / backMs));
  const sentence =
    `the dear requests of this ${whose} have taken ${burstMs / 1_000} s of processor` +
    ` time, and ${backMs} ms come back a second; try again in ${seconds} s`;
  return limited('processor_time_limited', sentence, seconds);
}
