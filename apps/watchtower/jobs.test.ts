// Jobs of the watchtower from what is due to their end: acts of parties cost it nothing, a failed
// job holds nothing, and a day's cap ends its day.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { partsOf } from '@parley/market/start/watchtower.ts';
import { idlePauseMs, inHandSeconds, missedEverySeconds, mostFailed, pauseMs } from './bounds.ts';
import { takeDueJobs } from './db/jobs.ts';
import { keySums } from './db/sums.ts';
import type { Parts } from './port.ts';
import { dayOf } from './spending.ts';
import { type Deal, long, onMarket, short } from './testing/market.ts';
import { ether } from './testing/memory.ts';
import { createWatchtower } from './watchtower.ts';

const m = onMarket();
const onLong = (deal: Deal) => m.attempts(deal, long);
const jobOf = (deal: Deal) => m.job(deal, long);

/** Both legs funded, and the secret public. */
async function revealed(): Promise<Deal> {
  const deal = await m.funded();
  await m.reveal(deal);
  return deal;
}

test('who could act is waited for', async () => {
  m.key(long).graces = { claimSeconds: 600, refundSeconds: 0 };
  const deal = await revealed();
  await m.keep();
  m.deps.advance(599_000);
  await m.keepAll();
  assert.deepEqual(await onLong(deal), [], 'not yet');
  m.deps.advance(1_000);
  await m.keep();
  assert.equal((await onLong(deal)).length, 1);
});

test('a job that fails and is then refused for ever holds nothing of the key', async () => {
  const deal = await revealed();
  const held = async () => {
    const since = dayOf(m.deps.now());
    const of = { chain: long, since, except: null };
    return (await keySums(m.deps.db, of)).reserved;
  };
  await m.keep();
  const reserve = BigInt((await jobOf(deal))?.reserve ?? 0);
  assert.ok(reserve > 0n);
  assert.equal(await held(), reserve, 'as long as it is under way');
  // Its receiver takes what is tried and refuses what is mined, and all that is tried from then on.
  m.long.state.refusing.add(deal.maker.address);
  await m.deepen();
  for (let pass = 0; pass < 3; pass += 1) {
    m.deps.advance(40_000);
    await m.keepAll();
    assert.equal(await held(), 0n);
  }
  const outcomes = (await onLong(deal)).map(({ outcome }) => outcome);
  assert.deepEqual(outcomes, ['failed']);
  const job = await jobOf(deal);
  assert.deepEqual([job?.state, job?.last_failure], ['open', 'payout_would_fail']);
  // Signed again it holds what that may take, and no more because it once held more.
  await m.run('update keeper_jobs set reserve = $1 where chain = $2', [`${100n * ether}`, long]);
  m.long.state.refusing.clear();
  await m.keepAll();
  const now = await held();
  assert.ok(now > 0n && now <= 2n * reserve, `${now} after ${reserve}`);
  await m.deepen();
  assert.equal((await m.swap(deal)).legs.b.claimedBy, 'keeper');
});

test('a claim that was dropped is taken up again while it may land', async (t) => {
  const ended: unknown[] = [];
  t.mock.method(m.deps.log, 'info', (facts: object, message: string) => {
    if (message.includes('is dropped')) ended.push(facts);
  });
  m.key(long).graces = { claimSeconds: 600, refundSeconds: 0 };
  const deal = await revealed();
  const failing = await revealed();
  await m.keep();
  const drop = () => m.run(`update keeper_jobs set state = 'dropped' where chain = $1`, [long]);
  await drop();
  m.key(long).graces = { claimSeconds: 0, refundSeconds: 0 };
  await m.run(
    `insert into keeper_attempts (chain, address, job_id, purpose, verb, txid, offer, most_cost,
        charged, signed_at, fate)
      select chain, $3, id, purpose, verb, 'failed ' || n, 1, 1, 0, $4, 'failed'
      from keeper_jobs, generate_series(1, $5::int) n where swap_id = $1 and chain = $2`,
    [failing.id, long, m.key().account.address, new Date(m.deps.now()), mostFailed],
  );
  const states = async () => {
    m.deps.advance((missedEverySeconds + 1) * 1_000);
    await m.keepAll();
    return [(await jobOf(deal))?.state, (await jobOf(failing))?.state];
  };
  assert.deepEqual(await states(), ['open', 'dropped']);
  // By now its chain's clock may have ended it, and would again.
  await drop();
  const was = m.deps.now();
  const { timelock } = (await m.swap(deal)).legs.b;
  const { driftSeconds = 0 } = m.deps.adapters.get(long)?.policy ?? {};
  m.deps.freeze((timelock - driftSeconds) * 1_000);
  assert.deepEqual(await states(), ['dropped', 'dropped']);
  m.deps.freeze(was);
  assert.deepEqual(await states(), ['open', 'dropped']);
  assert.deepEqual(ended, [], 'none is reopened to be dropped again');
  await m.deepen();
  assert.equal((await m.swap(deal)).legs.b.claimedBy, 'keeper');
});

test('a day’s cap stops it, which it says once; the next day it goes on', async (t) => {
  const said: string[] = [];
  t.mock.method(m.deps.log, 'warn', (facts: { failure?: string }, message: string) => {
    if (facts.failure === 'cap') said.push(message);
  });
  await revealed();
  await m.passes(2);
  await m.run(`update keeper_attempts set charged = $1`, [`${ether}`]);
  const deal = await revealed();
  for (let pass = 0; pass < 2; pass += 1) await m.keepAll();
  assert.deepEqual(await onLong(deal), []);
  assert.equal((await jobOf(deal))?.last_failure, 'cap');
  const ofLong = said.length;
  assert.equal(ofLong, 2, 'once a chain');
  assert.match(said[0] ?? '', /may spend no more for now/);
  m.deps.advance(86_400_000 - (m.deps.now() % 86_400_000));
  await m.keepAll();
  assert.equal((await onLong(deal)).length, 1);
  assert.equal(said.length, ofLong);
});

test('a job that a process had in hand as it died is done a minute later', async () => {
  const deal = await m.public();
  await m.hurry();
  const now = new Date(m.deps.now());
  const again = new Date(m.deps.now() + inHandSeconds * 1_000);
  const of = { chain: short, what: 'others', isBusy: false, now, again } as const;
  assert.equal((await takeDueJobs(m.deps.db, of, 20)).length, 1);
  await m.keep();
  assert.deepEqual(await m.attempts(deal), [], 'it is the other’s');
  m.deps.advance(60_000);
  await m.keep();
  assert.equal((await m.attempts(deal)).length, 1);
});

test('it searches often only while an escrow is followed or a job is open', async () => {
  const passes = new Map<string, Parameters<Parts['loop']>[0]['pass']>();
  const parts = partsOf(m.deps, m.deps);
  const loop: Parts['loop'] = (of) => {
    passes.set(of.name, of.pass);
    return parts.loop(of);
  };
  createWatchtower({ ...parts, loop });
  const { signal } = new AbortController();
  const waits = async () => {
    const search = await passes.get('watchtower search')?.(signal);
    return [search, await passes.get('watchtower')?.(signal)];
  };
  assert.deepEqual(await waits(), [undefined, undefined], 'the usual poll');
  await m.funded();
  assert.deepEqual(await waits(), [idlePauseMs, idlePauseMs]);
  await revealed();
  assert.deepEqual(await waits(), [idlePauseMs, pauseMs]);
});
