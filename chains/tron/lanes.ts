// What the lanes of a funder hold. What waits for a block may show: then a lane counts as used.

import { laneIn, lanesData } from '../escrows/lanes.ts';
import type { Lanes } from '../interface/lanes.ts';
import { bareAddress } from './plan.ts';
import { wordsOf } from './views.ts';
import type { Watch } from './watch.ts';

const ahead = 2;

export function lanesOf({ http }: Watch): Lanes['read'] {
  return async ({ contract, funder }, numbers, signal) => {
    const data = lanesData(bareAddress(funder), numbers).slice(2);
    const end = ahead + numbers.length;
    const words = await wordsOf(http, 'head', contract, data, end, signal);
    return words.slice(ahead, end).map(laneIn);
  };
}
