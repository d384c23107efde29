// The doubts about the nodes of a chain, as the polls of open swaps and the readings of balances
// meet them: a gauge for each chain and code, and a line of the log when it has lasted and when it
// is over. No text names an address.

import type { ChainKey } from '@parley/core/families.ts';
import type { Millis } from '@parley/core/nominal.ts';
import { codeOf, messageOf } from '@parley/sdk/errors.ts';
import type { DoubtCode } from '@parley/sdk/evidence/judge.ts';
import { doubtsIn, isUnheard } from '@parley/sdk/settle/told.ts';
import type { Shown } from '@parley/sdk/settle.ts';
import type { Log } from './log.ts';
import type { Metrics } from './metrics.ts';

/** A doubt that is over sooner is in the gauge alone: two nodes may differ while a block
 * spreads. */
const leastLoggedMs = 5_000;

type Doubted = {
  readonly labels: { readonly chain: ChainKey; readonly code: DoubtCode };
  readonly sinceMs: Millis;
  isLogged: boolean;
  /** Swaps, or holdings that are read, whose last look met it. */
  readonly met: Set<string>;
  /** Those that met it before a node fell silent: not over until that one has answered. */
  readonly unheard: Set<string>;
};

type Met = { readonly chain: ChainKey; readonly code: DoubtCode; readonly why: string };

export type Doubts = ReturnType<typeof createDoubts>;

export function createDoubts(given: {
  readonly log: Log;
  readonly metrics: Pick<Metrics, 'doubted'>;
  readonly now: () => Millis;
}) {
  const { log, metrics, now } = given;
  const all = new Map<string, Doubted>();
  const keyOf = ({ chain, code }: Met) => `${chain} ${code}`;
  const doubtedBy = (key: string, { chain, code }: Met): Doubted => {
    const known = all.get(key);
    if (known !== undefined) return known;
    const labels = { chain, code };
    const sets = { met: new Set<string>(), unheard: new Set<string>() };
    const begun = { labels, sinceMs: now(), isLogged: false, ...sets };
    all.set(key, begun);
    return begun;
  };
  const change = (who: string, found: readonly Met[], silent: ReadonlySet<ChainKey>) => {
    const why = new Map(found.map((each) => [keyOf(each), each.why]));
    for (const each of found) doubtedBy(keyOf(each), each);
    for (const [key, doubted] of all) {
      const { labels, met, unheard } = doubted;
      const isKept = !why.has(key) && (met.has(who) || unheard.has(who));
      met[why.has(key) ? 'add' : 'delete'](who);
      unheard[isKept && silent.has(labels.chain) ? 'add' : 'delete'](who);
      metrics.doubted.set(labels, met.size);
      if (met.size + unheard.size === 0) {
        all.delete(key);
        if (doubted.isLogged) log.info('doubt_over', labels);
      } else if (why.has(key) && !doubted.isLogged && now() - doubted.sinceMs >= leastLoggedMs) {
        doubted.isLogged = true;
        log.warn('doubted', { ...labels, why: why.get(key) });
      }
    }
  };
  return {
    shown: (swapId: string, shown: Pick<Shown, 'swap' | 'legs' | 'failures'>) => {
      const { swap, legs } = shown;
      const both = [swap.legs.a.chain, swap.legs.b.chain];
      const unheard = (['a', 'b'] as const).filter((name) => isUnheard(legs.get(name)));
      const found = doubtsIn(shown).flatMap(({ leg, code, sentence: why }) => {
        const chains = leg === null ? both : [swap.legs[leg].chain];
        return chains.map((chain) => ({ chain, code, why }));
      });
      change(swapId, found, new Set(unheard.map((name) => swap.legs[name].chain)));
    },
    /** The result of a reading: null, or what it failed with. Quotes rest on it. */
    read: (holding: string, chain: ChainKey, error: unknown) => {
      const isMet = codeOf(error) === 'sources_disagree';
      const met = { chain, code: 'nodes_disagree', why: messageOf(error) } as const;
      // Another failure says nothing of whether they agree.
      change(holding, isMet ? [met] : [], new Set(error === null ? [] : [chain]));
    },
    /** The swap is not polled any more. */
    ended: (swapId: string) => change(swapId, [], new Set()),
  };
}
