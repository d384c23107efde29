// The store of a browser in a real Chromium: the promises of every store, and what tabs, versions,
// crashes and the browser itself do to one.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual } from 'node:util';
import { type BundledPage, serveBundled } from '@parley/verify/test/support/bundled-page.ts';
import { pageLimitMs, sharedBrowser } from '@parley/verify/test/support/chromium.ts';
import { waitUntil } from '@parley/verify/test/support/waiting.ts';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { keptRecord, swapId, tradeOf } from '../testing/honest.ts';
import { remoteStore } from '../testing/remote-store.ts';
import { promisesFor, type Tried } from '../testing/store-promises.ts';
import { newHashlock } from './store.ts';

const record = keptRecord('taker');
const name = 'swaps';
const never = () => new AbortController().signal;
const launched = sharedBrowser();
let served: BundledPage;
let browser: Browser;
before(async () => {
  const entry = fileURLToPath(new URL('../testing/store-page.ts', import.meta.url));
  [served, browser] = await Promise.all([serveBundled(entry), launched()]);
});
after(() => served.stop());

/** A browser of its own, with nothing in it. `script` runs before the page's own. */
async function inBrowser(
  work: (page: Page, another: () => Promise<Page>, context: BrowserContext) => Promise<void>,
  script = '',
): Promise<void> {
  const context = await browser.newContext();
  try {
    await context.addInitScript(script);
    const another = async () => {
      const page = await context.newPage();
      page.setDefaultTimeout(pageLimitMs);
      await page.goto(served.url);
      return page;
    };
    await work(await another(), another, context);
  } finally {
    await context.close();
  }
}

/** Does `work`, the text of a function, with one folder of the database, past the store. */
function raw<T>(page: Page, folder: string, work: string, args: unknown[] = []): Promise<T> {
  return page.evaluate(`new Promise((resolve, reject) => {
    const opening = indexedDB.open('${name}');
    opening.onerror = reject;
    opening.onsuccess = () => {
      const db = opening.result;
      const asked = (${work})(db.transaction('${folder}', 'readwrite').objectStore('${folder}'),
        ...${JSON.stringify(args)});
      asked.onsuccess = () => { db.close(); resolve(asked.result ?? null); };
      asked.onerror = reject;
    };
  })`);
}

function triedIn(page: Page, another: () => Promise<Page>): Tried {
  return {
    again: async () => remoteStore(await another(), name),
    plant: (folder, id, text) =>
      raw(page, folder, '(all, id, text) => all.put({ text, keptAtMs: 1 }, id)', [id, text]),
    lying: async (folder, id) =>
      (await raw<{ text: string }>(page, folder, '(all, id) => all.get(id)', [id])).text,
    backdate: async (id, keptAtMs) => {
      const { text } = await raw<{ text: string }>(page, 'swaps', '(all, id) => all.get(id)', [id]);
      await raw(page, 'swaps', '(all, id, entry) => all.put(entry, id)', [id, { text, keptAtMs }]);
    },
  };
}

for (const { name: promised, keeps } of promisesFor(['another', 'texts', 'times', 'locks'])) {
  test(promised, () =>
    inBrowser(async (page, another) =>
      keeps(await remoteStore(page, name), triedIn(page, another)),
    ),
  );
}

test('a write is asked to be on disk, and refused when its transaction fails after its request', () =>
  inBrowser(
    async (page) => {
      const store = await remoteStore(page, name);
      await store.putSwap(record);
      await newHashlock(store);
      const asked = await page.evaluate('globalThis.asked');
      assert.deepEqual(new Set(asked as string[]), new Set(['readwrite strict']));
      await page.evaluate('globalThis.isFailing = true');
      const changed = { ...record, publicSecret: '5e'.repeat(32) };
      await assert.rejects(store.putSwap(changed), {
        code: 'failed',
        message: /store swaps failed/,
      });
      assert.deepEqual(await store.getSwap(swapId), record);
    },
    `globalThis.asked = [];
    const { transaction } = IDBDatabase.prototype;
    IDBDatabase.prototype.transaction = function (names, mode, options) {
      const made = transaction.call(this, names, mode, options);
      if (mode === 'readwrite') asked.push(mode + ' ' + made.durability);
      return made;
    };
    const { put } = IDBObjectStore.prototype;
    IDBObjectStore.prototype.put = function (...args) {
      const request = put.apply(this, args);
      if (globalThis.isFailing) request.addEventListener('success', () => this.transaction.abort());
      return request;
    };`,
  ));

test('a browser without Web Locks gets no store', () =>
  inBrowser(
    (page) => assert.rejects(remoteStore(page, name), { code: 'unsupported', message: /https/ }),
    `Object.defineProperty(Navigator.prototype, 'locks', { value: undefined })`,
  ));

test('a tab that dies while it writes leaves what was answered, and the rest whole or not at all', () =>
  inBrowser(async (first, another, context) => {
    let answered = -1;
    await context.exposeFunction('answered', (at: number) => {
      answered = at;
    });
    let page = await another();
    for (const how of ['crash', 'close', 'crash', 'close'] as const) {
      await remoteStore(page, name);
      const last = answered;
      const most = answered + 3 + Math.floor(Math.random() * 9);
      await page.evaluate(`(async () => {
        const store = await indexedDbStore('${name}');
        const record = ${JSON.stringify(record, hex)};
        const trade = ${JSON.stringify(tradeOf('taker'), hex)};
        for (let at = ${last + 1}; ; at += 1) {
          const claim = { txid: String(at), raw: (at + '.').repeat(60_000) };
          store.putSwap({ ...record, trade, claim }).then(() => answered(at));
          if (at % 3 === 0) await store.getSwap('${swapId}');
        }
      })(), null`);
      await waitUntil(() => answered >= most);
      if (how === 'close') await page.close();
      else {
        const crashed = page.waitForEvent('crash');
        const session = await context.newCDPSession(page);
        session.send('Page.crash').catch(() => {});
        await crashed;
        await page.close();
      }
      const { claim } = (await (await remoteStore(first, name)).getSwap(swapId)) ?? {};
      assert.ok(
        Number(claim?.txid) >= answered,
        `${claim?.txid} after ${how}, ${answered} answered`,
      );
      assert.equal(claim?.raw, `${claim?.txid}.`.repeat(60_000));
      page = await another();
    }
  }));

/** Amounts do not matter there. */
function hex(_: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value;
}

test('one of two tabs that want a lock has it, the other waits and gets it when that one dies', () =>
  inBrowser(async (page, another, context) => {
    const first = await another();
    const second = await remoteStore(page, name);
    for (const how of ['crash', 'close'] as const) {
      const dying = how === 'crash' ? first : await another();
      assert.ok(await (await remoteStore(dying, name)).lock('nonces', never()));
      let isHad = false;
      const waiting = second.lock('nonces', never()).then((lock) => {
        isHad = true;
        return lock;
      });
      assert.equal(await second.lock('nonces', AbortSignal.timeout(100)), null);
      assert.equal(isHad, false);
      if (how === 'close') await dying.close();
      else {
        const session = await context.newCDPSession(dying);
        session.send('Page.crash').catch(() => {});
      }
      await (await waiting)?.release();
      assert.ok(isHad);
    }
    // Another store of the same origin has locks of its own.
    const other = await remoteStore(page, 'others');
    const mine = await second.lock('x', never());
    const theirs = await other.lock('x', AbortSignal.abort());
    assert.ok(mine && theirs);
  }));

const newerApp = `(isBusy = false) => openDatabase(globalThis, { name: '${name}',
  upgrades: [() => {}, (db) => db.createObjectStore('more')], isBusy: () => isBusy })`;

test('a newer version in another tab takes over once this one holds no lock, and this one says so', () =>
  inBrowser(async (page, another) => {
    const store = await remoteStore(page, name);
    await store.putSwap(record);
    const lock = await store.lock('nonces', never());
    const other = await another();
    await other.waitForFunction(() => 'openDatabase' in globalThis);
    const opening = other.evaluate(`(${newerApp})().then(() => 'open')`);
    await page.waitForTimeout(200);
    // A begun swap goes on.
    await store.putSwap({ ...record, publicSecret: '5e'.repeat(32) });
    await lock?.release();
    assert.equal(await opening, 'open');
    const newer = { code: 'newer', message: /newer version of this app has the store swaps/ };
    await assert.rejects(store.putSwap(record), newer);
    await assert.rejects(store.getSwap(swapId), newer);
    await assert.rejects(remoteStore(page, name), newer);
    const text = await triedIn(page, another).lying('swaps', swapId);
    assert.match(text, /5e5e/);
  }));

test('a store that other tabs keep from opening is told within the limit, and hung on by nobody', () =>
  inBrowser(async (page, another) => {
    await page.clock.install();
    const holder = await another();
    const store = await remoteStore(holder, name);
    await store.putSwap(record);
    const other = await another();
    // It is not deleted while a tab has it.
    await other.evaluate(`void indexedDB.deleteDatabase('${name}')`);
    let isOver = false;
    const opening = remoteStore(page, name).finally(() => {
      isOver = true;
    });
    const refused = assert.rejects(opening, {
      code: 'blocked',
      message: /store swaps could not be opened within 5000 ms.*Close the other tabs/,
    });
    // The page does not tell when it has begun to wait.
    await waitUntil(async () => {
      await page.clock.fastForward(5_000);
      return isOver;
    });
    await refused;
    assert.deepEqual(await store.getSwap(swapId), record);
    // A connection that opens too late is closed again, so it holds up no other.
    await holder.close();
    const deleted = `new Promise((resolve, reject) => {
      const asked = indexedDB.deleteDatabase('${name}');
      asked.onsuccess = () => resolve('deleted');
      setTimeout(reject, ${pageLimitMs}, new Error('it is still open'));
    })`;
    assert.equal(await other.evaluate(deleted), 'deleted');
  }));

test('data that the browser deletes under an open store are told, not replaced by nothing', () =>
  inBrowser(async (page, _, context) => {
    const store = await remoteStore(page, name);
    await store.putSwap(record);
    const session = await context.newCDPSession(page);
    const origin = new URL(served.url).origin;
    const storageTypes = 'indexeddb';
    await session.send('Storage.clearDataForOrigin', { origin, storageTypes });
    const gone = { code: 'gone', message: /closed or deleted the store swaps/ };
    // The browser tells it when it comes to it.
    const isTold = () =>
      store.getSwap(swapId).then(
        (found) => !isDeepStrictEqual(found, record) && assert.fail('replaced by something else'),
        () => true,
      );
    await waitUntil(isTold);
    await assert.rejects(store.getSwap(swapId), gone);
    await assert.rejects(store.putSwap(record), gone);
    await assert.rejects(store.swapIds(), gone);
  }));

test('a full browser refuses with the size, and the former record is there', () =>
  inBrowser(async (page, _, context) => {
    const session = await context.newCDPSession(page);
    const { origin } = new URL(served.url);
    await session.send('Storage.overrideQuotaForOrigin', { origin, quotaSize: 500_000 });
    const store = await remoteStore(page, name);
    await store.putSwap(record);
    const { usedBytes, leftBytes } = await store.health();
    assert.ok(usedBytes !== null && usedBytes > 0 && leftBytes !== null && leftBytes > 0);
    const large = { ...record, claim: { txid: '1', raw: 'ab'.repeat(1_000_000) } };
    const full = {
      code: 'full',
      message: /no room for \d{7} characters more in the store swaps/,
    };
    await assert.rejects(store.putSwap(large), full);
    assert.deepEqual(await store.getSwap(swapId), record);
  }));

test('health: nothing promised, persisted once the browser grants what the first write asks', () =>
  inBrowser(
    async (page) => {
      const store = await remoteStore(page, name);
      assert.equal((await store.health()).kept, 'unpromised');
      await newHashlock(store);
      assert.equal((await store.health()).kept, 'persisted');
    },
    `let isGranted = false;
    StorageManager.prototype.persist = async () => isGranted = true;
    StorageManager.prototype.persisted = async () => isGranted;`,
  ));
