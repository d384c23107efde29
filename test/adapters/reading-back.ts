// What every adapter promises to whoever has lost some hours: the hashlocks of then, from the chain
// alone.

import assert from 'node:assert/strict';
import type { ChainAdapter } from '../../chains/adapter.ts';
import type { HashlockReader } from '../../chains/interface/history.ts';
import type { AdapterPromise, Driver } from './driver.ts';
import { claim, deepLeg, signal } from './leg.ts';

const mostPages = 500;

function readerOf(adapter: ChainAdapter): HashlockReader {
  assert.ok(adapter.hashlocks, 'it reads nothing back');
  return adapter.hashlocks;
}

/** All pages from a cursor to the head, each by an adapter that knows nothing else. */
async function readAll(driver: Driver, from: string) {
  const hashlocks = new Set<string>();
  let cursor = from;
  for (let pages = 0; pages < mostPages; pages += 1) {
    const page = await readerOf(driver.adapter()).next(cursor, signal());
    for (const each of page.hashlocks) hashlocks.add(each);
    cursor = page.cursor;
    if (page.isWhole) return { hashlocks, cursor, shownUntil: page.shownUntil };
  }
  throw new Error(`${mostPages} pages are not enough`);
}

export const readingBack: readonly AdapterPromise[] = [
  {
    name: 'every hashlock since a moment is read from the chain alone, and then what is new',
    run: async (driver) => {
      const adapter = driver.adapter();
      const since = driver.now();
      const start = await readerOf(adapter).begin(since, signal());
      const first = await deepLeg(driver, adapter);
      const second = await deepLeg(driver, adapter);
      // A Bitcoin output says nothing of its hashlock before it is spent.
      for (const leg of [first, second]) await claim(driver, adapter, leg);
      await driver.show();
      const read = await readAll(driver, start);
      for (const { escrow } of [first, second]) {
        assert.ok(read.hashlocks.has(escrow.terms.hashlock), 'a hashlock was missed');
      }
      for (const each of read.hashlocks) assert.match(each, /^[0-9a-f]{64}$/);
      const third = await deepLeg(driver, adapter);
      if (driver.family === 'bitcoin') await claim(driver, adapter, third);
      await driver.show();
      const later = await readAll(driver, read.cursor);
      assert.ok(later.hashlocks.has(third.escrow.terms.hashlock), 'a later one was missed');
    },
  },
  {
    name: 'what is long before a moment need not be read for it, and what is just before is',
    run: async (driver) => {
      const adapter = driver.adapter();
      const old = await deepLeg(driver, adapter);
      await claim(driver, adapter, old);
      await driver.show();
      const then = await readAll(driver, await readerOf(adapter).begin(driver.now(), signal()));
      // Bitcoin: the median of eleven blocks says what is before a moment.
      await driver.dev.mine(15);
      await driver.pass(30 * 3_600);
      await driver.deepen();
      await driver.dev.mine(30);
      const before = driver.now();
      const leg = await deepLeg(driver, adapter);
      await claim(driver, adapter, leg);
      await driver.show();
      const start = await readerOf(driver.adapter()).begin(before + 300, signal());
      const { hashlocks, shownUntil } = await readAll(driver, start);
      // By the times of its blocks: nothing else tells a node that is behind.
      assert.ok(then.shownUntil < before - 29 * 3_600, 'blocks of then had the time of now');
      assert.ok(shownUntil >= before - 60 && shownUntil <= driver.now() + 7_200, 'or of no time');
      assert.ok(hashlocks.has(leg.escrow.terms.hashlock), 'clocks differ by minutes');
      assert.ok(!hashlocks.has(old.escrow.terms.hashlock), 'all of the chain was read');
    },
  },
];
