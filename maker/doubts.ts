// What is wrong with the nodes of a chain, as the looks of open swaps meet it: a gauge for each
// chain and code, and a line of the log when it begins and when it is over. No text names an
// address.

import type { ChainKey } from '../core/families.ts';
import type { DoubtCode } from '../sdk/evidence/judge.ts';
import type { Shown } from '../sdk/settle.ts';
import type { Log } from './log.ts';
import type { Metrics } from './metrics.ts';

type Doubted = {
  readonly labels: { readonly chain: ChainKey; readonly code: DoubtCode };
  /** Swaps whose last look met it. */
  readonly swaps: Set<string>;
};

export function createDoubts(given: {
  readonly log: Log;
  readonly metrics: Pick<Metrics, 'doubted'>;
}) {
  const { log, metrics } = given;
  const all = new Map<string, Doubted>();
  const begin = (labels: Doubted['labels'], why: string): Doubted => {
    log.warn('doubted', { ...labels, why });
    return { labels, swaps: new Set() };
  };
  const change = (swapId: string, met: ReadonlySet<string>) => {
    for (const [key, { labels, swaps }] of all) {
      if (met.has(key)) swaps.add(swapId);
      else swaps.delete(swapId);
      metrics.doubted.set(labels, swaps.size);
      if (swaps.size > 0) continue;
      all.delete(key);
      log.info('doubt_over', labels);
    }
  };
  return {
    shown: (swapId: string, { swap, legs }: Pick<Shown, 'swap' | 'legs'>) => {
      const met = new Set<string>();
      for (const [name, { evidence }] of legs) {
        const { chain } = swap.legs[name];
        for (const { code, sentence } of evidence?.doubts ?? []) {
          const key = `${chain} ${code}`;
          met.add(key);
          if (!all.has(key)) all.set(key, begin({ chain, code }, sentence));
        }
      }
      change(swapId, met);
    },
    /** Nobody looks for it any more. */
    ended: (swapId: string) => change(swapId, new Set()),
  };
}
