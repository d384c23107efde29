// Tests only: the promises of every store, once. `Tried` is what may be done to one kind of store
// from outside.

import assert from 'node:assert/strict';
import { hashlockOf } from '@parley/core/hashlock.ts';
import { newHashlock, type Store, type SwapRecord, writeKept } from '../stores/store.ts';
import { keptRecord, swapId, tradeOf } from './honest.ts';

export type Folder = 'secrets' | 'trades' | 'swaps';

export type Tried = {
  /** Opens the same store once more. */
  again(): Promise<Store>;
  /** Puts or reads what lies there as text, whoever wrote it. */
  plant(folder: Folder, id: string, text: string): Promise<void>;
  lying(folder: Folder, id: string): Promise<string>;
  /** Moves the moment at which this swap was kept last. */
  backdate(swapId: string, toMs: number): Promise<void>;
};

type Needs = 'another' | 'texts' | 'times' | 'locks';
type StorePromise = {
  readonly name: string;
  /** Conditions without which the promise means nothing. */
  readonly needs?: readonly Needs[];
  readonly keeps: (store: Store, tried: Tried) => Promise<void>;
};

const never = () => new AbortController().signal;
const record = keptRecord('taker', { funding: { txid: 'ab'.repeat(32), raw: '00' } });
const trade = tradeOf('taker');
const otherId = '0193f0a0-0000-7000-8000-000000000002';
const other: SwapRecord = { ...record, swap: { ...record.swap, id: otherId } };
const huge = 2n ** 255n + 1n;

const storePromises: readonly StorePromise[] = [
  {
    name: 'what was kept is given back, what was not is null',
    keeps: async (store) => {
      const hashlock = await newHashlock(store);
      const secret = await store.getSecret(hashlock);
      assert.ok(secret !== null && hashlockOf(secret) === hashlock);
      assert.equal(await store.getSecret('00'.repeat(32)), null);
      assert.deepEqual(
        [await store.getSwap(swapId), await store.getTrade(trade.threadId)],
        [null, null],
      );
      assert.deepEqual(await store.swapIds(), []);
      await store.putSwap(record);
      await store.putTrade(trade);
      assert.deepEqual(await store.getSwap(swapId), record);
      assert.deepEqual(await store.getTrade(trade.threadId), trade);
      assert.deepEqual(await store.swapIds(), [swapId]);
    },
  },
  {
    name: 'amounts of any size come back to the unit, as bigint',
    keeps: async (store) => {
      for (const amount of [0n, 1n, 2n ** 53n + 1n, huge]) {
        await store.putTrade({ ...trade, quoteAmount: amount });
        await store.putSwap({ ...record, left: { refund: { about: '', sats: amount, upTo: 1 } } });
        assert.equal((await store.getTrade(trade.threadId))?.quoteAmount, amount);
        assert.equal((await store.getSwap(swapId))?.left?.refund?.sats, amount);
      }
    },
  },
  {
    name: 'of many writes at once each is whole, and the last begun stands when all are answered',
    keeps: async (store) => {
      const of = (at: number) => ({ txid: `${at}`, raw: `${at}`.repeat(2_000) });
      const writes = Array.from({ length: 20 }, (_, at) =>
        store.putSwap({ ...record, claim: of(at) }),
      );
      await Promise.all([...writes, store.putSwap(other)]);
      const { claim } = (await store.getSwap(swapId)) ?? {};
      assert.equal(claim?.raw, claim?.txid.repeat(2_000));
      await store.putSwap({ ...record, claim: of(20) });
      assert.deepEqual((await store.getSwap(swapId))?.claim, of(20));
      assert.deepEqual((await store.swapIds()).sort(), [swapId, otherId]);
      assert.deepEqual(await store.getSwap(otherId), other);
    },
  },
  {
    name: 'what is given or given back can be altered, and the store is as it was',
    keeps: async (store) => {
      const mine = structuredClone(record);
      await store.putSwap(mine);
      Object.assign(mine, { publicSecret: '00' });
      Object.assign((await store.getSwap(swapId)) ?? {}, { funding: null });
      assert.deepEqual(await store.getSwap(swapId), record);
    },
  },
  {
    name: 'a secret is never overwritten, one that does not open its hashlock is refused',
    keeps: async (store) => {
      const hashlock = await newHashlock(store);
      const secret = (await store.getSecret(hashlock)) ?? '';
      const taken = { code: 'bad_record', message: `${hashlock} already has a secret` };
      await assert.rejects(store.putSecret(hashlock, '00'.repeat(32)), taken);
      await store.putSecret(hashlock, secret);
      assert.equal(await store.getSecret(hashlock), secret);
      for (const wrong of ['00'.repeat(32), '', 'zz']) {
        const closed = { code: 'bad_record', message: /does not open 1111/ };
        await assert.rejects(store.putSecret('11'.repeat(32), wrong), closed);
      }
      assert.equal(await store.getSecret('11'.repeat(32)), null);
    },
  },
  {
    name: 'an id that could name something else is refused, wherever one is taken',
    keeps: async (store) => {
      for (const id of ['../secrets/x', '', '.', 'a'.repeat(65), 'a/b', 'a\u0000']) {
        const badly = { code: 'bad_record', message: /cannot be the name of a record/ };
        await assert.rejects(store.getSwap(id), badly);
        await assert.rejects(store.getTrade(id), badly);
        await assert.rejects(store.getSecret(id), badly);
        await assert.rejects(store.putSecret(id, '00'.repeat(32)), badly);
        await assert.rejects(store.putTrade({ ...trade, threadId: id }), badly);
        await assert.rejects(store.putSwap({ ...record, swap: { ...record.swap, id } }), badly);
      }
      await store.putSwap({ ...record, swap: { ...record.swap, id: 'a'.repeat(64) } });
      assert.deepEqual(await store.swapIds(), ['a'.repeat(64)]);
    },
  },
  {
    name: 'whoever opens the same store has what was answered before',
    needs: ['another'],
    keeps: async (store, tried) => {
      const hashlock = await newHashlock(store);
      await store.putSwap(record);
      await store.putTrade(trade);
      const second = await tried.again();
      assert.deepEqual(await second.getSwap(swapId), record);
      assert.deepEqual(await second.getTrade(trade.threadId), trade);
      assert.equal(await second.getSecret(hashlock), await store.getSecret(hashlock));
      await assert.rejects(second.putSecret(hashlock, '00'.repeat(32)), { code: 'bad_record' });
      await second.putSwap({ ...record, publicSecret: '5e'.repeat(32) });
      assert.equal((await store.getSwap(swapId))?.publicSecret, '5e'.repeat(32));
    },
  },
  {
    name: 'a damaged record is named and stays as it is, and the others are read',
    needs: ['texts'],
    keeps: async (store, { plant, lying }) => {
      await store.putSwap(other);
      const bad = ['{"half', '', 'null', '{}', writeKept(other), writeKept(record).slice(0, -9)];
      for (const text of bad) {
        await plant('swaps', swapId, text);
        const named = { code: 'bad_record', message: new RegExp(`^the record ${swapId} is not`) };
        await assert.rejects(store.getSwap(swapId), named, text.slice(0, 40));
        assert.equal(await lying('swaps', swapId), text);
      }
      assert.deepEqual((await store.swapIds()).sort(), [swapId, otherId]);
      assert.deepEqual(await store.getSwap(otherId), other);
      await plant('trades', trade.threadId, '{"half');
      await assert.rejects(store.getTrade(trade.threadId), { code: 'bad_record' });
      // One damaged secret is not told: it may be most of a good one.
      const hashlock = await newHashlock(store);
      const secret = (await store.getSecret(hashlock)) ?? '';
      const cut = secret.slice(0, 60);
      await plant('secrets', hashlock, cut);
      const isNamed = (error: Error) =>
        error.message.includes(hashlock) && !error.message.includes(cut);
      await assert.rejects(store.getSecret(hashlock), isNamed);
      await assert.rejects(store.putSecret(hashlock, secret), /already has a secret/);
      assert.equal(await lying('secrets', hashlock), cut);
    },
  },
  {
    name: 'nonces are given once, the last of a swap alone, and to one of many that take them',
    keeps: async (store) => {
      const { putNonces, takeNonces } = store;
      assert.ok(putNonces && takeNonces);
      const of = (at: number) => ({ id: `${at}`, secrets: ['5e'.repeat(97), `${at}`] });
      assert.equal(await takeNonces(swapId), null);
      await putNonces(swapId, of(1));
      await putNonces(otherId, of(2));
      await putNonces(swapId, of(3));
      const taken = await Promise.all(Array.from({ length: 9 }, () => takeNonces(swapId)));
      assert.deepEqual(
        taken.filter((each) => each !== null),
        [of(3)],
      );
      assert.equal(await takeNonces(swapId), null);
      await putNonces(swapId, of(4));
      assert.deepEqual(await takeNonces(swapId), of(4));
      assert.deepEqual(await takeNonces(otherId), of(2));
    },
  },
  {
    name: 'whoever opens the same store takes nonces that nobody else has then',
    needs: ['another'],
    keeps: async (store, tried) => {
      await store.putNonces?.(swapId, { id: '1', secrets: ['5e'] });
      const second = await tried.again();
      const taken = await Promise.all([second, store].map((each) => each.takeNonces?.(swapId)));
      assert.deepEqual(taken.filter((each) => each !== null).length, 1);
      const third = await tried.again();
      assert.equal(await third.takeNonces?.(swapId), null);
    },
  },
  {
    name: 'swaps kept last before a moment may be left out, and others never',
    needs: ['times'],
    keeps: async (store, { backdate }) => {
      await store.putSwap(record);
      const nowMs = Date.now();
      assert.deepEqual(await store.swapIds(nowMs), [swapId]);
      const hourMs = 3_600_000;
      await backdate(swapId, nowMs - hourMs);
      assert.deepEqual(await store.swapIds(nowMs - hourMs), [swapId]);
      assert.deepEqual(await store.swapIds(nowMs - hourMs + 59_000), [swapId]);
      assert.deepEqual(await store.swapIds(nowMs), []);
      assert.deepEqual(await store.swapIds(), [swapId]);
      await store.putSwap(record);
      assert.deepEqual(await store.swapIds(nowMs), [swapId]);
    },
  },
  {
    name: 'one at a time has a lock, other names are free, and whoever waits gets it',
    needs: ['another', 'locks'],
    keeps: async (one, tried) => {
      const second = await tried.again();
      const first = await one.lock?.('nonces of 1', never());
      assert.ok(first);
      for (const each of [one, second]) {
        assert.equal(await each.lock?.('nonces of 1', AbortSignal.abort()), null);
        assert.equal(await each.lock?.('nonces of 1', AbortSignal.timeout(60)), null);
      }
      const beside = await second.lock?.('nonces of 2', AbortSignal.abort());
      assert.ok(beside);
      const order: string[] = [];
      const waiting = second.lock?.('nonces of 1', never()).then((lock) => {
        order.push('had');
        return lock;
      });
      await one.putSwap(record);
      order.push('freed');
      await first.release();
      const had = await waiting;
      assert.ok(had);
      assert.deepEqual(order, ['freed', 'had']);
      // A lock that is freed twice frees no other holder's.
      await first.release();
      assert.equal(await one.lock?.('nonces of 1', AbortSignal.abort()), null);
      await Promise.all([had.release(), beside.release()]);
      const free = await one.lock?.('nonces of 1', AbortSignal.abort());
      assert.ok(free);
      await free.release();
    },
  },
];

/** Those that mean anything for a store that has these. */
export const promisesFor = (has: readonly Needs[]) =>
  storePromises.filter(({ needs = [] }) => needs.every((each) => has.includes(each)));
