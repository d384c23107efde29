// The doubts about the nodes of a chain, as the polls of open swaps and the readings of balances
// meet them: a gauge for each chain and code, and a line of the log when it has lasted and when it
// is over. No text names an address.

import type { ChainKey } from '@parley/core/families.ts';
import type { Millis } from '@parley/core/nominal.ts';
import { codeOf, messageOf } from '@parley/sdk/errors.ts';
import type { DoubtCode } from '@parley/sdk/evidence/judge.ts';
import { doubtsAfter, type ToldDoubt } from '@parley/sdk/settle/told.ts';
import type { Shown } from '@parley/sdk/settle.ts';
import type { Log } from './log.ts';
import type { Metrics } from './metrics.ts';

/** A doubt that is over sooner is in the gauge alone: two nodes may differ while a block
 * spreads. */
const leastLoggedMs = 5_000;

type Met = { readonly chain: ChainKey; readonly code: DoubtCode; readonly why: string };

export type Doubts = ReturnType<typeof createDoubts>;

export function createDoubts(given: {
  readonly log: Log;
  readonly metrics: Pick<Metrics, 'doubted'>;
  readonly now: () => Millis;
}) {
  const { log, metrics, now } = given;
  /** By swap, as its looks told it. */
  const told = new Map<string, readonly ToldDoubt[]>();
  /** By swap, and by holding that is read. */
  const met = new Map<string, readonly Met[]>();
  const known = new Map<string, { readonly sinceMs: Millis; isLogged: boolean }>();

  const change = (who: string, found: readonly Met[]) => {
    const before = met.get(who) ?? [];
    met.set(who, found);
    if (found.length === 0) met.delete(who);
    for (const { chain, code, why } of [...before, ...found]) {
      const labels = { chain, code };
      const key = `${chain} ${code}`;
      const isSame = (each: Met) => each.chain === chain && each.code === code;
      const count = [...met.values()].filter((all) => all.some(isSame)).length;
      metrics.doubted.set(labels, count);
      const of = known.get(key) ?? { sinceMs: now(), isLogged: false };
      if (count > 0) known.set(key, of);
      else if (known.delete(key) && of.isLogged) log.info('doubt_over', labels);
      if (count === 0 || of.isLogged || now() - of.sinceMs < leastLoggedMs) continue;
      of.isLogged = true;
      log.warn('doubted', { ...labels, why });
    }
  };

  return {
    /** A doubt about a node that falls silent is not over before that one has answered. */
    shown: (swapId: string, shown: Pick<Shown, 'swap' | 'legs' | 'failures'>) => {
      const { legs } = shown.swap;
      const all = doubtsAfter(told.get(swapId) ?? [], shown);
      told.set(swapId, all);
      const found = all.flatMap(({ leg, code, sentence: why }) => {
        const chains = leg === null ? [legs.a.chain, legs.b.chain] : [legs[leg].chain];
        return chains.map((chain) => ({ chain, code, why }));
      });
      change(swapId, found);
    },
    /** The result of a reading: null, or what it failed with. Quotes rest on it. */
    read: (holding: string, chain: ChainKey, error: unknown) => {
      const isMet = codeOf(error) === 'sources_disagree';
      const doubt = { chain, code: 'nodes_disagree', why: messageOf(error) } as const;
      // Another failure says nothing of whether they agree.
      if (isMet || error === null) change(holding, isMet ? [doubt] : []);
    },
    /** The swap is not polled any more. */
    ended: (swapId: string) => {
      told.delete(swapId);
      change(swapId, []);
    },
  };
}
