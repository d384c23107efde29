// The rows of the outbox match the published webhook events, for every topic.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Ajv } from 'ajv';
import { changeBetween, type Known, nothingTold } from '../settle/events.ts';
import { outcome } from '../settle/outcome.ts';
import { escrowsOf, type Show, shows, stateOf } from '../settle/testing/states.ts';
import { webhookEvents } from './schemas/webhook.ts';
import { negotiating, secretLock } from './testing/negotiating.ts';

const ajv = new Ajv({ strict: false, formats: { uuid: true, 'date-time': true } });
const id = '0193b5a0-0000-7000-8000-000000000000';

const checks = new Map(
  Object.entries(webhookEvents).map(([topic, { body }]) => [
    topic,
    ajv.compile({ ...body, additionalProperties: false }),
  ]),
);

/** Throws unless the delivery of this payload is exactly what its topic's schema says. */
function conforms(topic: string, payload: object): void {
  const check = checks.get(topic);
  assert.ok(check !== undefined, `${topic} is no webhook event`);
  const delivery = { type: topic, deliveryId: id, createdAt: '2026-01-01T00:00:00.000Z' };
  const valid = check({ ...delivery, ...payload });
  assert.ok(valid, `${topic} ${JSON.stringify(payload)}: ${ajv.errorsText(check.errors)}`);
}

test('every event of every step between any two reads of a swap fits its schema', () => {
  const names = Object.keys(shows) as Show[];
  const reads = names.flatMap((long) =>
    names.flatMap((short) => [50, 5_000].map((wall) => ({ long, short, wall }))),
  );
  const seen = new Set<string>();
  const begin: Known = { state: stateOf('nothing', 'nothing'), status: 'agreed' };
  const next = (known: Known, { long, short, wall }: (typeof reads)[number]): Known =>
    outcome(known.state, { escrows: escrowsOf(long, short), full: true, wall });
  for (const first of reads.map((read) => next(begin, read))) {
    for (const second of reads.map((read) => next(first, read))) {
      for (const { topic, status } of changeBetween({ ...first, told: nothingTold }, second)
        .events) {
        seen.add(topic);
        conforms(topic, { swapId: id, status });
      }
    }
  }
  const elsewhere = /^(ping|quote\.created|swap\.agreed|swap\.(release|cosign)|thread\..+)$/;
  const wanted = Object.keys(webhookEvents).filter((topic) => !elsewhere.test(topic));
  assert.deepEqual([...seen].sort(), wanted.sort());
});

const market = await negotiating();

test('the rows of a negotiation up to its agreement fit as well', async () => {
  const { taker, maker, propose, accept } = market;
  const events = ['thread.accepted', 'thread.proposed', 'thread.closed'];
  const other = await market.trader();
  for (const each of [taker, maker, other]) {
    const asked = await each.post('/v1/webhooks', { url: 'https://example.com/hooks', events });
    assert.equal(asked.status, 201, JSON.stringify(asked.body));
  }
  const { rfqId, threadId } = await market.negotiation();
  await market.quote(other, rfqId);
  await propose(taker, threadId, '65500000');
  await propose(maker, threadId, '66000000');
  const price = { quoteAmount: '66000000' };
  await accept(taker, threadId, { ...price, hashlock: secretLock() });
  const agreed = await accept(maker, threadId, price);
  assert.equal(agreed.status, 200, JSON.stringify(agreed.body));
  const rows = await market.sql(
    `select topic, payload from outbox where topic not like 'feed.%' order by id`,
  );
  for (const { topic, payload } of rows) conforms(topic, payload);
  assert.deepEqual(
    rows.map(({ topic }) => topic),
    [
      'quote.created',
      'quote.created',
      'thread.proposed',
      'quote.created',
      'thread.accepted',
      'thread.closed',
      'swap.agreed',
      'swap.agreed',
      'thread.accepted',
    ],
  );
});
