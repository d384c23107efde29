// A relay whose claims fail: what it has cost stays with the bounds of relays, whatever its job
// becomes, and asking for it again evades none of them.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { keeperSums } from '../db/keeper-attempts.ts';
import { relaySums } from '../db/keeper-relays.ts';
import { evm2, must } from '../settle/testing/world.ts';
import { mostFailed } from './bounds.ts';
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
let desk: Desk;
let deal: Deal;
before(async () => {
  desk = await startDesk();
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
