// What the lanes of a funder hold at the best block. Something that waits for a block may show
// already: then a lane counts as used, and nothing is lost by waiting for another.

import type { Lanes } from '../adapter.ts';
import { laneData } from '../escrows/calls.ts';
import { wordsOf } from './node.ts';
import { bareAddress } from './plan.ts';
import type { Watch } from './watch.ts';

/** State of a lane whose escrow holds money. Source: `laneOf` of the contract. */
const open = 1n;
/** Asked for at once. */
const batch = 8;

export function lanesOf({ http, deployment: { contract } }: Watch): Lanes['read'] {
  return async (funder, numbers, signal) => {
    const bare = bareAddress(funder);
    const states = [];
    for (let from = 0; from < numbers.length; from += batch) {
      const some = numbers.slice(from, from + batch).map(async (number) => {
        const data = laneData(bare, BigInt(`0x${number}`)).slice(2);
        const [counter = 0n, state] = await wordsOf(http, 'head', contract, data, 4, signal);
        return { counter: Number(counter), isOpen: state === open };
      });
      states.push(...(await Promise.all(some)));
    }
    return states;
  };
}
