// A relay whose claims fail: what it has cost stays with the bounds of relays, whatever its job
// becomes, and asking for it again evades none of them.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { keeperSums } from '../db/keeper-attempts.ts';
import { relaySums } from '../db/keeper-relays.ts';
import type { Gas } from '../ports/gas.ts';
import { evm2, must } from '../settle/testing/world.ts';
import { mostFailed, unknownSeconds } from './bounds.ts';
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
  return { cap: await keeperSums(desk.deps.db, of), relays: await relaySums(desk.deps.db, of) };
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

test(
  'what one node says of the next nonce puts no claim behind many that nothing has',
  limits,
  async () => {
    const gas = desk.deps.gas.get(evm2) as { -readonly [Name in keyof Gas]: Gas[Name] };
    const given = gas.account;
    const other = await agree(desk);
    await fundBoth(desk, other);
    const count = await desk.rpc(evm2)('eth_getTransactionCount', [desk.gasAddress, 'latest']);
    const mined = Number(count);
    let alone = 0n;
    const says = (pending: number) => {
      const reserve: typeof given.reserve = async (work, signal) => {
        const wanted = await given.reserve(work, signal);
        if (work.verb === 'claim') alone = wanted;
        return wanted;
      };
      gas.account = { ...given, reserve, pendingNonce: async () => pending };
    };
    says(mined + 3_000);
    const refused = await relay(other);
    assert.deepEqual(
      [refused.status, refused.code],
      [503, 'chain_unavailable'],
      refused.body.error,
    );
    assert.deepEqual(await jobsOf(desk, other), []);
    says(mined + 3);
    must(await relay(other));
    gas.account = given;
    const nonces = async () => (await attemptsOn(desk, other)).map(({ nonce }) => nonce);
    assert.deepEqual(await nonces(), [mined + 3]);
    const work = { verb: 'void' } as const;
    const usual = await given.reserve(work, AbortSignal.timeout(10_000));
    const [job] = await jobsOf(desk, other);
    assert.equal(BigInt(job?.reserve ?? 0), alone + 3n * usual, 'to free what is missing');
    // Its cap is for what nobody was promised.
    const { dailyCap } = gas;
    gas.dailyCap = 0n;
    await turn();
    await deepen(desk);
    await turn();
    gas.dailyCap = dailyCap;
    const [claim] = await attemptsOn(desk, other);
    assert.equal(claim?.fate, 'deep');
  },
);

test(
  'a node that counts what nobody has signed hides missing nonces for a while only',
  limits,
  async () => {
    const gas = desk.deps.gas.get(evm2) as { -readonly [Name in keyof Gas]: Gas[Name] };
    const given = gas.account;
    const other = await agree(desk);
    await fundBoth(desk, other);
    const count = await desk.rpc(evm2)('eth_getTransactionCount', [desk.gasAddress, 'latest']);
    const mined = Number(count);
    // As where it is the only node, or all others are down.
    gas.account = { ...given, pendingNonce: async () => mined + 3 };
    try {
      must(await relay(other));
      const freed = async () => {
        const rows = await desk.deps.db.rows<{ above: number }>({
          name: '',
          text: `select distinct nonce - $2 as above from keeper_attempts
            where chain = $1 and nonce >= $2 and verb = 'void' order by above`,
          values: [evm2, mined],
        });
        return rows.map(({ above }) => Number(above));
      };
      // What it counts may be of before a backup was restored, and has to land.
      await turn();
      assert.deepEqual(await freed(), []);
      desk.deps.advance((unknownSeconds + 1) * 1_000);
      await turn();
      assert.deepEqual(await freed(), [0, 1, 2]);
      await deepen(desk);
      await turn();
      const [claim] = await attemptsOn(desk, other);
      assert.equal(claim?.nonce, mined + 3);
      assert.ok((await attemptsOn(desk, other)).some(({ fate }) => fate === 'deep'));
    } finally {
      gas.account = given;
    }
  },
);
