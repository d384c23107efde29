// The part of one webhook's deliveries that stays.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { webhookTopics } from '@parley/core/events.ts';
import { trimDeliveries } from '../db/delivery-log.ts';
import { handOut } from './hand-out.ts';
import { mostLogged } from './log-length.ts';
import { webhookMarket } from './testing/market.ts';

const { at, rows, owner, agreed } = webhookMarket();

/** So many of a webhook that ended one second after the other, from the past on. */
const ended = (webhookId: string, times: number, event = 'quote.created') =>
  rows(
    `insert into deliveries
      (id, webhook_id, event, position, body, state, next_at, created_at, done_at)
      select gen_random_uuid(), $1, $3, n, '{}', 'delivered', now(),
        to_timestamp($4::bigint / 1000 - 100000 + n), now() from generate_series(1, $2::int) n`,
    webhookId,
    times,
    event,
    at.deps.now(),
  );
const positions = async (webhookId: string) => {
  const all = await rows<{ position: number }>(
    'select position from deliveries where webhook_id = $1 order by created_at, id',
    webhookId,
  );
  return all.map(({ position }) => Number(position));
};

test('a waiting delivery stays, and so does one of a swap', async () => {
  const { id } = await owner();
  await ended(id, 3);
  await rows(`update deliveries set state = 'waiting' where position = 2`);
  for (const topic of webhookTopics) await ended(id, 1, topic);
  await trimDeliveries(at.deps.db, id, 0, 100);
  const left = await rows<{ event: string }>('select distinct event from deliveries');
  const ofSwaps = webhookTopics.filter((topic) => /^(swap|secret)\./.test(topic));
  assert.deepEqual(left.map(({ event }) => event).sort(), ['quote.created', ...ofSwaps].sort());
  assert.deepEqual(await rows(`select state from deliveries where event = 'quote.created'`), [
    { state: 'waiting' },
  ]);
});

test('one event in 128 pays for looking, by the id of its delivery', async () => {
  const { id, accountId } = await owner();
  await ended(id, mostLogged + 3);
  const count = async () => (await positions(id)).length;
  const hearsOf = async (last: number) => {
    await agreed(accountId);
    const randomBytes = (length: number) => new Uint8Array(length).fill(last, length - 1);
    await handOut({ ...at.deps, randomBytes });
    return count();
  };
  assert.equal(await hearsOf(1), mostLogged + 4);
  assert.equal(await hearsOf(128), mostLogged, 'the newest are there with it');
});
