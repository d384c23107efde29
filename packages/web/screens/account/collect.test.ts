// All of an account in one file, up to a limit.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { collected } from './collect.ts';

type Query = { readonly cursor?: string; readonly status?: string };

test('every list is read page by page to its limit, and those that had more are named', async () => {
  const asked: string[] = [];
  /** So many rows, one a page. */
  const list =
    (field: string, count: number) =>
    async ({ cursor, status = '' }: Query) => {
      asked.push(field);
      const at = Number(cursor ?? 0);
      const nextCursor = at + 1 < count ? `${at + 1}` : null;
      return { [field]: count === 0 ? [] : [{ id: `${field}${status}${at}` }], nextCursor };
    };
  const threads = list('threads', 2);
  const deliveries = list('deliveries', 1);
  const of = {
    market: {
      me: async () => ({ wallets: 'wallets' }),
      rfqs: list('rfqs', 201),
      swaps: list('swaps', 3),
      quotes: list('threads', 1),
      webhooks: list('webhooks', 1),
      threadsOfRfq: (_: string, query: Query) => threads(query),
    },
    account: {
      sessions: async () => ({ sessions: ['here'] }),
      keys: async () => ({ keys: [] }),
      payouts: async () => ({ payouts: [] }),
      deliveries: (_: string, query: Query) => deliveries(query),
    },
  };
  const told: string[] = [];
  const { signal } = new AbortController();
  const found = await collected(of as unknown as Parameters<typeof collected>[0], signal, (part) =>
    told.push(part),
  );
  assert.deepEqual(found.cut, ['orders', 'quotes']);
  assert.equal(found.orders.length, 100);
  assert.equal(found.quotes.length, 100);
  assert.deepEqual(
    found.ownQuotes.map(({ id }) => id),
    ['threadsopen0', 'threadsagreed0', 'threadsclosed0'],
  );
  assert.equal(found.swaps.length, 3);
  assert.deepEqual([found.sessions, found.wallets], [['here'], 'wallets']);
  assert.deepEqual(found.deliveries, [{ webhookId: 'webhooks0', id: 'deliveries0' }]);
  assert.deepEqual(
    [...new Set(told)],
    ['orders', 'quotes', 'ownQuotes', 'swaps', 'webhooks', 'deliveries'],
  );
});
