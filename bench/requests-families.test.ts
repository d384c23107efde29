// The bar of the exchanges that a funding takes, held by each test run: the bench is run seldom.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { exchanges } from '@parley/chains/nodes/transport-node.ts';
import { bars } from './bars.ts';
import { isMarket, openFamilies, type Pair } from './requests-families.ts';

/** The dearest ones: a leg on Bitcoin asks least. */
const pairs: readonly Pair[] = [
  ['tron', 'solana'],
  ['tron', 'evm'],
  ['evm', 'solana'],
];

test('no funding between EVM, TRON and Solana takes more exchanges with nodes than its bar', async () => {
  const families = await openFamilies(pairs);
  let count = 0;
  const hear = () => {
    if (isMarket()) count += 1;
  };
  try {
    // A token's funding methods are found once, by the first funding in it.
    await families.ask((_, work) => work());
    exchanges.subscribe(hear);
    const taken = new Map<string, number>();
    await families.ask(async (name, work) => {
      count = 0;
      const answer = await work();
      taken.set(name, count);
      return answer;
    });
    const fundings = [...taken].filter(([name]) => name.startsWith('buildFund: '));
    assert.equal(fundings.length, 23, [...taken.keys()].join('\n'));
    const most = bars.requests.fundExchanges;
    assert.deepEqual(
      fundings.filter(([, each]) => each > most),
      [],
    );
  } finally {
    exchanges.unsubscribe(hear);
    await families.stop();
  }
});
