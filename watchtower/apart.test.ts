// Requests of a server without gas keys: sealed for as long as somebody waits, heard of at once,
// and answered chain by chain. The desk that answers is a test's own; the database is real.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { ParleyError } from '../core/errors.ts';
import type { Secret } from '../core/hashlock.ts';
import { evm, evm2 } from '../server/settle/testing/world.ts';
import { partsOf, resealKept } from '../server/start/watchtower.ts';
import { apartDesk, createAnswering, tellPosts } from './apart.ts';
import { lanes, postSeconds, tellEveryMs } from './bounds.ts';
import { isAnswered, posts, waitingRows } from './db/asked.ts';
import type { ClaimAsking, Desk, FundAsking, Parts } from './port.ts';
import { realTime } from './step.ts';
import { type Deal, fundedDeal, type Desk as Market, startDesk } from './testing/desk.ts';

const limits = { timeout: 120_000 };
let market: Market;
let parts: Parts;
let deal: Deal;
let server: Desk;
before(async () => {
  market = await startDesk();
  parts = partsOf(market.deps, market.deps);
  server = apartDesk(parts);
  deal = await fundedDeal(market);
  await market.deps.db.rows({ name: '', text: 'delete from keeper_posts', values: [] });
}, limits);
after(() => market?.close());

const rowsLeft = () =>
  market.deps.db.rows<{ id: string; sealed: unknown }>({
    name: '',
    text: 'select id, sealed from keeper_asked',
    values: [],
  });
const refusal = (code: string) => (error: unknown) =>
  error instanceof ParleyError && error.code === code;

/** The short leg by the taker, or the long one by the maker. */
function claim(leg: 'a' | 'b'): Promise<{ txid: string }> {
  const asking: ClaimAsking = {
    accountId: (leg === 'a' ? deal.taker : deal.maker).accountId,
    swapId: deal.id,
    leg,
    secret: deal.secret as Secret,
    signal: AbortSignal.timeout(30_000),
    admit: async () => {},
  };
  return server.claim(asking);
}

/** Looks for requests when it is rung, and not before. */
function answering(desk: Pick<Desk, 'claim'>) {
  const loop: Parts['loop'] = (of) => parts.loop({ ...of, everyMs: 3_600_000 });
  return createAnswering({ ...parts, loop }, { ...market.keeper.desk, ...desk });
}

async function until(isSo: () => Promise<boolean>): Promise<void> {
  for (let times = 0; !(await isSo()); times += 1) {
    assert.ok(times < 500, 'it does not come about');
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

test('without a key of the chain nothing is asked for', limits, async () => {
  await assert.rejects(claim('a'), refusal('relay_unavailable'));
  const asking: FundAsking = {
    accountId: deal.maker.accountId,
    swapId: deal.id,
    leg: 'a',
    signature: `0x${'11'.repeat(65)}`,
    escrow:
      (
        await market.deps.db.rows<{ escrow: string }>({
          name: '',
          text: `select escrow from legs where swap_id = $1 and leg = 'a'`,
          values: [deal.id],
        })
      )[0]?.escrow ?? '',
    signal: AbortSignal.timeout(30_000),
    admit: async () => assert.fail('it is refused before'),
  };
  await assert.rejects(server.fund(asking), refusal('relay_unavailable'));
  assert.deepEqual(await rowsLeft(), []);
});

test('a request is heard at once, and one chain that hangs holds up no other', limits, async () => {
  await tellPosts(parts);
  const hanging: AbortSignal[] = [];
  const loop = answering({
    claim: ({ leg, signal }) => {
      if (leg === 'b') return Promise.resolve({ relayed: true, txid: 'of b' });
      hanging.push(signal);
      return new Promise((_, reject) => {
        signal.addEventListener('abort', () => reject(new Error('it was ended')));
      });
    },
  });
  loop.start();
  const asked = Array.from({ length: lanes + 2 }, () => claim('a').catch((error) => error));
  await until(async () => hanging.length === lanes);
  assert.equal((await claim('b')).txid, 'of b');
  assert.equal(hanging.length, lanes, 'so many of a chain at once');
  // Whoever stops leaves them to another, or to the patience of who asked.
  await loop.stop();
  for (const each of await Promise.all(asked)) assert.ok(refusal('overloaded')(each), `${each}`);
  assert.deepEqual(await rowsLeft(), [], 'nothing sealed outlives who waited for it');
});

test('a server asks its watchtower for as long as that is at work', limits, async () => {
  let elapsedMs = 0;
  let pass: Parameters<Parts['loop']>[0]['pass'] = async () => undefined;
  const signingTime = { ...realTime, elapsedMs: () => elapsedMs };
  const loop: Parts['loop'] = (of) => {
    ({ pass } = of);
    return parts.loop(of);
  };
  createAnswering({ ...parts, signingTime, loop }, market.keeper.desk);
  const { signal } = new AbortController();
  const isKnown = async () => (await posts(market.deps.db, postSeconds)).length > 0;
  await pass(signal);
  await market.deps.db.rows({
    name: '',
    text: `update keeper_posts set seen_at = 'epoch'`,
    values: [],
  });
  assert.equal(await isKnown(), false);
  for (; elapsedMs <= tellEveryMs; elapsedMs += 1_000) await pass(signal);
  assert.equal(await isKnown(), true, 'it says so every so often');
});

test(
  'what a server that ended has left is answered no more, and deleted at a start',
  limits,
  async () => {
    const { db } = market.deps;
    const asking = claim('a').catch((error) => error);
    await until(async () => (await rowsLeft()).length === 1);
    const [row] = await rowsLeft();
    const set = async (age: string) => {
      const text = `update keeper_asked set asked_at = clock_timestamp() - interval '${age}'`;
      await db.rows({ name: '', text, values: [] });
    };
    const waiting = () =>
      waitingRows(db, { chains: [evm, evm2], patienceMs: 4_000, each: lanes, except: [] });
    assert.deepEqual(
      (await waiting()).map(({ id }) => id),
      [row?.id],
    );
    await set('5 seconds');
    assert.deepEqual(await waiting(), []);
    await resealKept(market.deps);
    assert.equal((await rowsLeft()).length, 1);
    await set('16 seconds');
    await resealKept(market.deps);
    assert.deepEqual(await rowsLeft(), []);
    assert.equal(await isAnswered(db, row?.id ?? ''), false);
    assert.ok(refusal('overloaded')(await asking));
  },
);
