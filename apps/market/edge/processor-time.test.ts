// The clients that are asked to come back later, and those that never are. Time is what steps are
// given.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HttpError } from './errors.ts';
import { createProcessorTime } from './processor-time.ts';

const chains = { rateLimit: 300, rateLimitPerNetwork: 3_000 };
const prefixes = { clientPrefixes: { ipv4: 32, ipv6: 56 } };

function market(settings: Parameters<typeof createProcessorTime>[0] = { ...chains, ...prefixes }) {
  let ms = 0;
  const { meter } = createProcessorTime(
    settings,
    () => ms,
    async () => {},
  );
  let asked = 0;
  /** Whether it passed: so many steps, each so long. */
  const request = async (
    accountId: string,
    client: string,
    { steps = 13, each = 1.5, party = false } = {},
  ) => {
    const work = (function* () {
      for (let at = 0; at < steps; at += 1) {
        ms += each;
        if (at < steps - 1) yield;
      }
    })();
    const isParty = async () => {
      asked += 1;
      return party;
    };
    try {
      await meter({ accountId, client, isParty })(work, AbortSignal.timeout(60_000));
      return true;
    } catch (error) {
      assert.ok(error instanceof HttpError, String(error));
      assert.equal(error.code, 'processor_time_limited');
      return false;
    }
  };
  return {
    request,
    asked: () => asked,
    clock: () => ms,
    waitUntil: (at: number) => {
      ms = Math.max(ms, at);
    },
  };
}

test('ten accounts of one network have half a core for what passes for free', async () => {
  const { request, clock, waitUntil } = market();
  let taken = 0;
  const minutes = 1;
  for (let at = 0; at < minutes * 3_000; at += 1) {
    waitUntil(at * 20);
    const from = clock();
    await request(`${at % 10}`, `2001:db8:0:${(at % 10).toString(16)}::1`);
    taken += clock() - from;
  }
  const most = minutes * 30_000 + 10_000;
  assert.ok(taken > most * 0.9 && taken < most + 100, `${taken} ms`);
  assert.equal(await request('0', '2001:db8:0:ff::1'), false, 'the same /56');
  assert.equal(await request('0', '2001:db8:0:100::1'), true, 'the next');
});

test('a party of an open swap has its free part all the same, and is looked up once', async () => {
  const { request, asked } = market();
  for (let at = 0; at < 1_500; at += 1) await request('many', '192.0.2.1');
  const before = asked();
  assert.ok(before > 0);
  assert.equal(await request('party', '192.0.2.1', { party: true }), true);
  assert.equal(asked(), before + 1);
  // Beyond the free part it pays as all do.
  const dear = { party: true, steps: 1_000, each: 10 };
  assert.equal(await request('party', '192.0.2.1', dear), false);
});

test('steps of all requests are one in a turn of the event loop', async () => {
  const { meter } = createProcessorTime({ ...chains, ...prefixes }, () => 0);
  let turn = 0;
  let isOver = false;
  const tick = () => {
    turn += 1;
    if (!isOver) setImmediate(tick);
  };
  tick();
  const seen: number[] = [];
  const request = (accountId: string) => {
    const work = (function* () {
      for (let at = 0; at < 4; at += 1) {
        seen.push(turn);
        yield;
      }
    })();
    const who = { accountId, client: '192.0.2.1', isParty: async () => false };
    return meter(who)(work, AbortSignal.timeout(60_000));
  };
  await Promise.all([request('one'), request('other')]);
  isOver = true;
  const [, ...rested] = seen;
  assert.deepEqual([rested.length, new Set(rested).size], [7, 7]);
});
