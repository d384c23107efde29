// The bar of the exchanges that a funding takes, held by each test run: the bench is run seldom.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { exchanges } from '@parley/chains/nodes/transport-node.ts';
import { bars } from './bars.ts';
import { stopShared } from './miniature.ts';
import { isMarket, startFamilies } from './requests-families.ts';

test('a funding between TRON and Solana takes no more exchanges with nodes than its bar', async () => {
  const families = await startFamilies([['tron', 'solana']]);
  let count = 0;
  const hear = () => {
    if (isMarket()) count += 1;
  };
  exchanges.subscribe(hear);
  try {
    const taken = new Map<string, number>();
    await families.ask(async (name, work) => {
      count = 0;
      const answer = await work();
      taken.set(name, count);
      return answer;
    });
    const fundings = [...taken].filter(([name]) => name.startsWith('buildFund: '));
    assert.equal(fundings.length, 3);
    const most = bars.requests.fundExchanges;
    assert.deepEqual(
      fundings.filter(([, each]) => each > most),
      [],
    );
  } finally {
    exchanges.unsubscribe(hear);
    await stopShared();
  }
});
