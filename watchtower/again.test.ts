// A relay whose claims fail: what it has cost stays with the bounds of relays, whatever its job
// becomes, and asking for it again evades none of them.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { evm2, must } from '../server/settle/testing/world.ts';
import { mostFailed } from './bounds.ts';
import { keySums, relaySums } from './db/sums.ts';
import type { Gas } from './port.ts';
import { dayOf } from './spending.ts';
import {
  agree,
  attemptsOn,
  type Deal,
  type Desk,
  deepen,
  fundBoth,
  hurry,
  jobsOf,
  relay,
  startDesk,
} from './testing/desk.ts';

const limits = { timeout: 120_000 };
const dayMs = 86_400_000;
/** By which these tests move the clock, and a slow machine's time for them. */
const longestMs = 1_200_000;
let desk: Desk;
let deal: Deal;
before(async () => {
  desk = await startDesk();
  // What is counted by day is counted within one.
  const left = dayMs - (desk.deps.now() % dayMs);
  if (left < longestMs) desk.deps.advance(left);
  deal = await agree(desk);
  await fundBoth(desk, deal);
}, limits);
after(() => desk?.close());

async function turn(): Promise<void> {
  await hurry(desk);
  await desk.keeper.pass(evm2);
}

/** Its receiver takes what is tried and refuses what is mined. */
async function failOnce(): Promise<void> {
  await turn();
  const rpc = desk.rpc(evm2);
  const { address } = deal.taker.evmAccount;
  await rpc('anvil_setCode', [address, '0xfe']);
  await deepen(desk);
  await rpc('anvil_setCode', [address, '0x']);
  await turn();
}

const jobOf = async () => (await jobsOf(desk, deal)).find(({ chain }) => chain === evm2);
const failed = async () =>
  (await attemptsOn(desk, deal)).filter((each) => each.chain === evm2 && each.fate === 'failed');

async function sums() {
  const text = 'select taker_id as id from swaps where id = $1';
  const [row] = await desk.deps.db.rows<{ id: string }>({ name: '', text, values: [deal.id] });
  const of = { chain: evm2, since: dayOf(desk.deps.now()), accountId: row?.id ?? '', except: null };
  return { cap: await keySums(desk.deps.db, of), relays: await relaySums(desk.deps.db, of) };
}

test(
  'what a relay has cost is never the cap’s, though the keeper claims it later',
  limits,
  async () => {
    must(await relay(deal));
    for (let time = 1; time <= mostFailed; time += 1) {
      await failOnce();
      assert.equal((await failed()).length, time);
      desk.deps.advance(10_000 * 2 ** time);
    }
    await turn();
    assert.equal((await jobOf())?.state, 'dropped');
    const before = await sums();
    assert.ok(before.relays.ownTaken > 0n, 'what it has cost');
    assert.equal(before.cap.spent, 0n);
    // As after a restart: its secret is public, so that it is one of the keeper's own.
    await desk.keeper.begin();
    await desk.keeper.pass(evm2);
    assert.deepEqual([(await jobOf())?.purpose, (await failed()).length], ['secret', mostFailed]);
    assert.deepEqual(await sums(), before);
  },
);

test(
  'a relay whose claims have failed is not sent again, and counts each time',
  limits,
  async () => {
    const refused = await relay(deal);
    assert.deepEqual([refused.status, refused.code], [409, 'relay_unavailable']);
    assert.match(refused.body.error, /took 5 claims of this leg and refused each/);
    // As if it had been given up before its last failure.
    await desk.deps.db.rows({
      name: '',
      text: `update keeper_attempts set fate = 'gone' where id = (
      select max(id) from keeper_attempts where fate = 'failed')`,
      values: [],
    });
    const { relays: past } = await sums();
    assert.equal(past.own, 1);
    must(await relay(deal));
    const { relays: now } = await sums();
    const reserve = BigInt((await jobOf())?.reserve ?? 0);
    assert.ok(reserve > 0n);
    assert.deepEqual([now.own, now.ownTaken], [2, past.ownTaken + reserve]);
    // Given up once more, there is no room for it a third time, nor beside what it has cost.
    await desk.deps.db.rows({
      name: '',
      text: `with own as (update keeper_jobs set state = 'dropped', reserve = 0
        where chain = $1 returning id)
      update keeper_attempts set fate = 'gone', charged = 0
      where fate in ('unknown', 'pending') and job_id in (select id from own)`,
      values: [evm2],
    });
    const gas = desk.deps.gas.get(evm2) as { -readonly [Name in keyof Gas]: Gas[Name] };
    const given = gas.relays;
    gas.relays = { ...given, perAccount: 2 };
    assert.match((await relay(deal)).body.error, /has had 2 relays .* and 2 is the most/);
    gas.relays = { ...given, cap: 4n * (reserve + past.ownTaken - 1n) };
    assert.match((await relay(deal)).body.error, /of this account .* and landing this may take/);
    gas.relays = given;
  },
);
