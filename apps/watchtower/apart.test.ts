// Requests of a server without gas keys: sealed for as long as somebody waits, heard of at once,
// and answered chain by chain. The desk that answers is a test's own; the database is real.

import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { ParleyError } from '@parley/core/errors.ts';
import type { Secret } from '@parley/core/hashlock.ts';
import { resealKept } from '@parley/market/start/watchtower.ts';
import { waitUntil } from '@parley/verify/test/support/waiting.ts';
import { apartDesk, createAnswering, tellPosts } from './apart.ts';
import { apartPatienceMs, lanes, lanesOfAccount, postSeconds, tellEveryMs } from './bounds.ts';
import { isAnswered, posts, waitingRows } from './db/asked.ts';
import type { ClaimAsking, Desk, FundAsking, Parts } from './port.ts';
import { realTime } from './step.ts';
import { type Deal, long, onMarket, quickTime, short } from './testing/market.ts';

const m = onMarket({ signingTime: realTime });
let parts: Parts;
let deal: Deal;
let server: Desk;
beforeEach(async () => {
  parts = m.parts();
  server = apartDesk(parts);
  deal = await m.funded();
});

const rowsLeft = () => m.run('select id, sealed from keeper_asked');
const refusal = (code: string) => (error: unknown) =>
  error instanceof ParleyError && error.code === code;

/** The short leg by the taker, or the long one by the maker. */
function claim(
  leg: 'a' | 'b',
  { of = deal, by = server, seconds = 30 }: { of?: Deal; by?: Desk; seconds?: number } = {},
): Promise<{ txid: string }> {
  const asking: ClaimAsking = {
    accountId: (leg === 'a' ? of.taker : of.maker).accountId,
    swapId: of.id,
    leg,
    secret: of.secret as Secret,
    signal: AbortSignal.timeout(seconds * 1_000),
    admit: async () => {},
  };
  return by.claim(asking);
}

/** Looks for requests when it is rung, and not before. */
function answering(desk: Pick<Desk, 'claim'>, signingTime = realTime) {
  const loop: Parts['loop'] = (of) => parts.loop({ ...of, everyMs: 3_600_000 });
  return createAnswering({ ...parts, loop, signingTime }, { ...m.keeper.desk, ...desk });
}

test('without a key of the chain nothing is asked for', async () => {
  await m.run('delete from keeper_posts');
  await assert.rejects(claim('a'), refusal('relay_unavailable'));
  const asking: FundAsking = {
    accountId: deal.maker.accountId,
    swapId: deal.id,
    leg: 'a',
    signature: `0x${'11'.repeat(65)}`,
    escrow: (await m.escrowOn(deal)).address,
    signal: AbortSignal.timeout(60_000),
    admit: async () => assert.fail('it is refused before'),
  };
  await assert.rejects(server.fund(asking), refusal('relay_unavailable'));
  assert.deepEqual(await rowsLeft(), []);
});

test('a request is heard at once, and one chain that hangs holds up no other', async () => {
  await tellPosts(parts);
  // However slow the machine is, nobody loses patience before the test does.
  let elapsedMs = 0;
  const { signal: never } = new AbortController();
  const patient = { ...realTime, elapsedMs: () => elapsedMs, limit: () => never };
  const by = apartDesk({ ...parts, signingTime: patient });
  const hanging: string[] = [];
  const hang: Desk['claim'] = ({ leg, signal, accountId }) => {
    if (leg === 'b') return Promise.resolve({ relayed: true, txid: 'of b' });
    hanging.push(accountId);
    return new Promise((_, reject) => {
      signal.addEventListener('abort', () => reject(new Error('it was ended')));
    });
  };
  const loop = answering({ claim: hang }, patient);
  loop.start();
  const deals = [deal, await m.funded(), await m.funded()];
  // More than a pass reads, beside those in hand.
  const each = lanes + lanesOfAccount;
  const askAll = (of: Deal) =>
    Array.from({ length: each }, () => claim('a', { of, by }).catch((error) => error));
  const asked: Promise<unknown>[] = [];
  for (const [at, of] of deals.entries()) {
    asked.push(...askAll(of));
    await waitUntil(async () => (await rowsLeft()).length === (at + 1) * each);
  }
  await waitUntil(async () => hanging.length === lanes);
  assert.equal((await claim('b', { by })).txid, 'of b');
  const served = deals.slice(0, 2).map(({ taker }) => Array(lanesOfAccount).fill(taker.accountId));
  assert.deepEqual(hanging, served.flat(), 'so many of a chain at once, of an account fewer');
  // A process that stops leaves them to another, or to the patience of the server that asked.
  await loop.stop();
  elapsedMs = apartPatienceMs;
  for (const each of (await Promise.all(asked)) as Error[]) {
    assert.ok(refusal('overloaded')(each), `${each}`);
    assert.match(
      each.message,
      /^no watchtower of "evm-dev-2" answered in time; the market took its request back$/,
    );
  }
  assert.deepEqual(await rowsLeft(), [], 'nothing sealed outlives who waited for it');
  // A refusal that is kept under its key would outlive a restart.
  const hasty = apartDesk({ ...parts, signingTime: quickTime });
  const again = claim('a', { by: hasty });
  await assert.rejects(again, refusal('overloaded'), 'it may be back in a moment');
});

test('a sealed secret outlives no wait that fails, and no refusal is in the clear', async () => {
  const deaf = {
    ...parts.db,
    rows: ((statement) =>
      statement.name === 'keeper_is_answered'
        ? Promise.reject(new Error('of a test'))
        : parts.db.rows(statement)) as Parts['db']['rows'],
  };
  const unheard = claim('a', { by: apartDesk({ ...parts, db: deaf }), seconds: 0.5 });
  await assert.rejects(unheard, refusal('overloaded'));
  assert.deepEqual(await rowsLeft(), []);
  const lost: Parts['db'] = {
    ...parts.db,
    transaction: async (work) => {
      await parts.db.transaction(work);
      throw new Error('its answer is lost');
    },
  };
  await assert.rejects(claim('a', { by: apartDesk({ ...parts, db: lost }) }), /is lost/);
  assert.deepEqual(await rowsLeft(), []);
  // A refusal of a chain may quote what was sent.
  const sentence = `refused 0x${deal.secret}`;
  const loop = answering({
    claim: () => Promise.reject(new ParleyError('payout_would_fail', sentence, { lack: 1n })),
  });
  const { promise: isRead, resolve: read } = Promise.withResolvers<void>();
  const { promise: waits, resolve: wait } = Promise.withResolvers<void>();
  const pause = () => {
    wait();
    return isRead;
  };
  const asking = claim('a', { by: apartDesk({ ...parts, signingTime: { ...realTime, pause } }) });
  const refused = assert.rejects(asking, { code: 'payout_would_fail', message: sentence });
  // An answer that is there before would be taken back at once.
  await waits;
  loop.start();
  const text = 'select answer::text from keeper_asked';
  const answers = () => parts.db.rows<{ answer: string | null }>({ name: '', text, values: [] });
  await waitUntil(async () => {
    // However slow the machine is.
    const fresh = 'update keeper_asked set asked_at = clock_timestamp()';
    await parts.db.rows({ name: '', text: fresh, values: [] });
    loop.ring();
    return ((await answers())[0]?.answer ?? null) !== null;
  });
  const [kept] = await answers();
  read();
  await refused;
  await loop.stop();
  await tellPosts(parts);
  const { sealed = '' } = JSON.parse(kept?.answer ?? '') as { sealed?: string };
  const bytes = Buffer.from(sealed, 'base64');
  assert.ok(bytes.length > 0 && !bytes.includes(deal.secret) && !bytes.includes('payout'));
});

test('a server asks its watchtower for as long as that is at work', async () => {
  let elapsedMs = 0;
  let pass: Parameters<Parts['loop']>[0]['pass'] = async () => undefined;
  const signingTime = { ...realTime, elapsedMs: () => elapsedMs };
  const loop: Parts['loop'] = (of) => {
    ({ pass } = of);
    return parts.loop(of);
  };
  createAnswering({ ...parts, signingTime, loop }, m.keeper.desk);
  const { signal } = new AbortController();
  const isKnown = async () => (await posts(m.deps.db, postSeconds)).length > 0;
  await pass(signal);
  await m.run(`update keeper_posts set seen_at = 'epoch'`);
  assert.equal(await isKnown(), false);
  for (; elapsedMs <= tellEveryMs; elapsedMs += 1_000) await pass(signal);
  assert.equal(await isKnown(), true, 'it says so every so often');
});

test('rows that an ended server has left are answered no more, and deleted at a start', async () => {
  const { db } = m.deps;
  const asking = claim('a').catch((error) => error);
  await waitUntil(async () => (await rowsLeft()).length === 1);
  const [row] = await rowsLeft();
  const set = async (age: string) => {
    await m.run(`update keeper_asked set asked_at = clock_timestamp() - interval '${age}'`);
  };
  const waiting = () =>
    waitingRows(db, {
      chains: [long, short],
      patienceMs: 4_000,
      each: lanes,
      ofAccount: lanesOfAccount,
      except: [],
    });
  await set('0 seconds');
  assert.deepEqual(
    (await waiting()).map(({ id }) => id),
    [row?.id],
  );
  await set('5 seconds');
  assert.deepEqual(await waiting(), []);
  await resealKept(m.deps);
  assert.equal((await rowsLeft()).length, 1);
  await set('16 seconds');
  await resealKept(m.deps);
  assert.deepEqual(await rowsLeft(), []);
  assert.equal(await isAnswered(db, `${row?.id}`), false);
  assert.ok(refusal('overloaded')(await asking));
});
