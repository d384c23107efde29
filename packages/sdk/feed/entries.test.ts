// The book against a plain model, and the races of a page of REST with frames.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runs } from '@parley/verify/test/support/runs.ts';
import fc from 'fast-check';
import type { Rfq } from '../types.ts';
import { createEntries } from './entries.ts';
import { parseFrame } from './link.ts';

const rfq = (id: string) => ({ id }) as Rfq;
const ids = (book: { rfqs: ReadonlyMap<string, Rfq> }) => [...book.rfqs.keys()].sort();
const now = () => 0;

test('an order that a snapshot and its pages do not show has left, and only that', () => {
  const book = createEntries(now);
  book.take({ type: 'snapshot', rfqs: [rfq('a'), rfq('b'), rfq('c')], seq: 1 });
  const shown = book.take({ type: 'snapshot', rfqs: [rfq('c'), rfq('d')], seq: 5 });
  assert.deepEqual(shown, [{ kind: 'created', rfq: rfq('d') }]);
  assert.deepEqual(ids(book), ['a', 'b', 'c', 'd']);
  book.fill([rfq('b')]);
  assert.deepEqual(book.settle(), [{ kind: 'cancelled', rfq: rfq('a') }]);
  assert.deepEqual(ids(book), ['b', 'c', 'd']);
  assert.deepEqual(book.settle(), []);
});

test('a book of some pairs has theirs, either way round, and a full one says what it leaves out', () => {
  const of = (id: string, baseAssetId: string, quoteAssetId: string) =>
    ({ id, baseAssetId, quoteAssetId }) as Rfq;
  const book = createEntries(now, [['btc', 'usd']], 2);
  const all = [of('a', 'btc', 'usd'), of('b', 'btc', 'eth'), of('c', 'usd', 'btc')];
  book.take({ type: 'snapshot', rfqs: all, seq: 1 });
  assert.deepEqual(ids(book), ['a', 'c']);
  assert.equal(book.leftOut(), 0);
  assert.deepEqual(book.fill([of('d', 'btc', 'usd'), of('a', 'btc', 'usd')]), []);
  assert.equal(book.leftOut(), 1);
  book.take({ type: 'gone', rfqId: 'c', reason: 'agreed', seq: 2 });
  book.fill([of('d', 'btc', 'usd')]);
  assert.deepEqual(ids(book), ['a', 'd']);
  book.take({ type: 'snapshot', rfqs: [], seq: 3 });
  assert.equal(book.leftOut(), 0);
});

test('the emitted orders are the book; one that left comes back by its own frame, not by a page', () => {
  const id = fc.constantFrom('a', 'b', 'c', 'd', 'e');
  const step = fc.oneof(
    fc.record({ do: fc.constant('created' as const), id }),
    fc.record({ do: fc.constant('cancelled' as const), id }),
    fc.record({ do: fc.constant('gone' as const), id }),
    fc.record({ do: fc.constant('snapshot' as const), all: fc.uniqueArray(id) }),
    fc.record({ do: fc.constant('fill' as const), all: fc.uniqueArray(id) }),
    fc.record({ do: fc.constant('settle' as const) }),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const book = createEntries(now);
      const emitted = new Set<string>();
      const left = new Set<string>();
      for (const each of steps) {
        const has = new Set(book.rfqs.keys());
        const changes =
          each.do === 'settle'
            ? book.settle()
            : each.do === 'fill'
              ? book.fill(each.all.map(rfq))
              : each.do === 'snapshot'
                ? book.take({ type: 'snapshot', rfqs: each.all.map(rfq), seq: 1 })
                : each.do === 'gone'
                  ? book.take({ type: 'gone', rfqId: each.id, reason: 'expired', seq: 1 })
                  : book.take({ type: 'rfq', kind: each.do, rfq: rfq(each.id), seq: 1 });
        for (const change of changes) {
          const isNew = change.kind === 'created';
          assert.equal(emitted.has(change.rfq.id), !isNew);
          if (isNew) emitted.add(change.rfq.id);
          else emitted.delete(change.rfq.id);
        }
        if (each.do === 'created') {
          left.delete(each.id);
          assert.ok(book.rfqs.has(each.id));
        } else if (each.do === 'cancelled' || each.do === 'gone') {
          left.add(each.id);
          assert.ok(!book.rfqs.has(each.id));
        } else if (each.do === 'fill' || each.do === 'snapshot') {
          for (const one of each.all) {
            assert.equal(
              book.rfqs.has(one),
              each.do === 'snapshot' || has.has(one) || !left.has(one),
            );
          }
        } else for (const one of has) if (!book.rfqs.has(one)) left.add(one);
      }
      assert.deepEqual([...emitted].sort(), ids(book));
    }),
    { numRuns: runs(300) },
  );
});

test('a text that is no frame is passed over', () => {
  const bad = [
    7,
    '{',
    'null',
    '[]',
    '{}',
    '{"type":"other"}',
    '{"type":"rfq"}',
    '{"type":"rfq","rfq":null}',
    '{"type":"snapshot"}',
    '{"type":"snapshot","rfqs":[null]}',
    '{"type":"snapshot","rfqs":[],"addressed":{}}',
    '{"type":"snapshot","rfqs":[],"addressed":[null]}',
    '{"type":"quoted","rfqId":5,"threadId":"t"}',
    '{"type":"quoted","rfqId":"r"}',
    '{"type":"error","error":"no","rfqId":null}',
    '{"type":"gone","rfqId":{}}',
    '{"type":"gone","rfqId":"r","reason":"other"}',
  ];
  for (const each of bad) assert.equal(parseFrame(each), null, String(each));
  assert.deepEqual(parseFrame('{"type":"ready","seq":1}'), { type: 'ready', seq: 1 });
});
