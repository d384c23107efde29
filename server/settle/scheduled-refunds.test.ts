// Refunds that a funder signed beforehand, on a real bitcoind: who may give them, what becomes of
// them with the funder gone, full blocks, reorganisations, two servers.

import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { refundStepSeconds } from '../../chains/bitcoin/signed-refunds.ts';
import type { ScheduledRefunds } from '../../chains/interface/scheduled.ts';
import type { InTurns } from '../../chains/interface/turns.ts';
import { buildApp } from '../edge/app.ts';
import { scheduleLimit } from '../edge/budgets.ts';
import { createScheduledRefunds, scheduledLimits } from './scheduled-refunds.ts';
import { claimAt, ladderOf, noted, paymentOf, raws } from './testing/ladders.ts';
import {
  type Answer,
  agree,
  bitcoin,
  claimLong,
  claimShort,
  type Deal,
  deepen,
  freshAdapters,
  fundBoth,
  fundLong,
  look,
  moveTo,
  must,
  refund,
  requestsTo,
  startWorld,
  swapOf,
  type World,
} from './testing/world.ts';

/** Anybody's: OP_TRUE. */
const nobody = 'raw(51)#8lvh9jxk';
let world: World;
before(async () => {
  // A machine that is slow for a while is not what is tested.
  world = await startWorld({ settings: { chainTimeoutMs: 60_000 } });
});
after(async () => {
  await world?.close();
});

beforeEach(async () => {
  await world.deps.db.rows({ name: 'none', text: 'delete from scheduled_refunds', values: [] });
  world.deps.advance(-ahead * 1_000);
  ahead = 0;
});

/** Seconds by which the server's clock is ahead of the node's. */
let ahead = 0;
function advance(seconds: number): void {
  world.deps.advance(seconds * 1_000);
  ahead += seconds;
}

function refused(answer: Answer, status: number, code: string): void {
  assert.deepEqual({ status: answer.status, code: answer.code }, { status, code });
}

const path = (deal: Deal, leg = deal.long) => `/v1/swaps/${deal.id}/legs/${leg}/refund/scheduled`;

const pool = () => world.bitcoinRpc<string[]>('getrawmempool');
const blockOf = (transactions: readonly string[]) =>
  world.bitcoinRpc('generateblock', [nobody, transactions]);

const median = async () =>
  (await world.bitcoinRpc<{ mediantime: number }>('getblockchaininfo')).mediantime;

async function emptyBlocks(count: number): Promise<void> {
  // Each to somebody else: the same block as one that was taken back would be refused.
  for (let left = count; left > 0; left -= 1) {
    const miner = await world.faucetRpc<string>('getnewaddress');
    await world.bitcoinRpc('generateblock', [miner, []]);
  }
  await look(world);
}

/** Every clock well beyond an instant. What waits is mined, but for `out`. */
async function comesTo(instant: number, out: string | null = null): Promise<void> {
  const weigh = (sats: number) => world.bitcoinRpc('prioritisetransaction', [out, 0, sats]);
  if (out !== null) await weigh(-1_000_000);
  await moveTo(world, instant + 7_200);
  if (out !== null) await weigh(1_000_000);
  assert.ok((await median()) > instant);
  await look(world);
}

/** One pass of a server with adapters of its own, after what it waits for between two looks. */
async function pass(by = createScheduledRefunds(world.deps), seconds = 61): Promise<number> {
  advance(seconds);
  return by.pass();
}

const scheduledOf = async (deal: Deal) => (await swapOf(deal)).legs[deal.long].scheduledRefunds;

test('only the funder gives refunds, of its Bitcoin leg, and each is checked', async () => {
  const deal = await agree(world);
  const funding = await fundLong(world, deal);
  const early = await ladderOf(world, deal, [funding], [1, 10]);
  const { initiator, counterparty } = deal;
  const body = { transactions: raws(early) };
  refused(await initiator.post(path(deal), body), 409, 'nothing_there');
  await deepen(world, 1);
  const shallow = await initiator.post(path(deal), body);
  refused(shallow, 409, 'nothing_there');
  assert.match(shallow.body.error, /has 1 of the 2 confirmations that this escrow wants/);
  await deepen(world, 1);
  refused(await counterparty.post(path(deal), body), 403, 'not_your_leg');
  refused(await counterparty.post(path(deal, deal.short), body), 400, 'bad_chain');
  refused(await initiator.post(path(deal), {}), 400, 'bad_field');
  refused(await initiator.post(path(deal), { transactions: [] }), 400, 'bad_field');
  const many = { transactions: Array.from({ length: 13 }, () => body.transactions[0]) };
  refused(await initiator.post(path(deal), many), 400, 'bad_field');
  const escrow = 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080';
  refused(await initiator.post(path(deal), { ...body, escrow }), 400, 'unknown_escrow');
  const flat = { transactions: [early[1]?.raw, early[1]?.raw] };
  const answer = await initiator.post(path(deal), flat);
  refused(answer, 400, 'bad_fee_rate');
  assert.match(answer.body.error, /to replace the one before it takes \d+ sats/);
  const low = await initiator.post(path(deal), { transactions: [early[0]?.raw] });
  refused(low, 400, 'bad_fee_rate');
  assert.equal(await scheduledOf(deal), null);

  const kept = must(await initiator.post(path(deal), body)).scheduledRefunds;
  const view = { count: 2, lowestFeeRate: 1, highestFeeRate: 10, sentTxid: null };
  const swap = await swapOf(deal);
  const txids = early.map(({ txid }) => txid);
  assert.deepEqual(kept, { escrow: swap.legs[deal.long].escrow, txids, ...view });
  assert.deepEqual(swap.legs[deal.long].scheduledRefunds, view);
  assert.deepEqual(must(await initiator.post(path(deal), body)).scheduledRefunds, kept, 'again');
  const theirs = must(await counterparty.get(`/v1/swaps/${deal.id}`));
  assert.equal(theirs.legs[deal.long].scheduledRefunds, null, 'its own business');
  const other = await ladderOf(world, deal, [funding], [2, 4, 8]);
  must(await initiator.post(path(deal), { transactions: raws(other) }));
  assert.equal((await scheduledOf(deal)).count, 3, 'replaced');
});

test('a check gives the loop back between its steps, verifies no bytes twice, and one of an account runs at a time', async () => {
  const deal = await agree(world);
  const funding = await fundLong(world, deal);
  await deepen(world);
  const turns = { count: 0, seen: [] as number[], known: 0 };
  const note = () => turns.seen.push(turns.count);
  const gate = { reached: Promise.withResolvers<void>(), open: Promise.withResolvers<void>() };
  const adapters = adaptersWith(({ check, ...rest }) => ({
    ...rest,
    check: async (escrow, { transactions, known, inTurns }, signal) => {
      gate.reached.resolve();
      await gate.open.promise;
      turns.known = known.length;
      turns.seen = [];
      const counting: InTurns = (steps, limit) => inTurns(noted(steps, note), limit);
      return check(escrow, { transactions, known, inTurns: counting }, signal);
    },
  }));
  const app = await buildApp({ ...world.deps, adapters });
  const { post } = requestsTo(app, deal.initiator.key);
  let ticking = true;
  const tick = () => {
    turns.count += 1;
    if (ticking) setImmediate(tick);
  };
  tick();
  try {
    const body = { transactions: raws(await ladderOf(world, deal, [funding], [1, 5, 20])) };
    const first = post(path(deal), body);
    await gate.reached.promise;
    const second = await post(path(deal), body);
    refused(second, 429, 'schedule_rate_limited');
    assert.equal(second.headers['retry-after'], '1');
    assert.match(second.body.error, /1 request at a time/);
    gate.open.resolve();
    const kept = must(await first);
    assert.ok(turns.seen.length > 3 * 3, `${turns.seen.length} steps`);
    assert.ok(
      turns.seen.every((at, index) => at > (turns.seen[index - 1] ?? 0)),
      'a turn each',
    );
    assert.equal(turns.known, 0);
    assert.deepEqual(must(await post(path(deal), body)), kept);
    assert.deepEqual([turns.known, turns.seen.length], [3, 2 + 3], 'they were only read');
    // By as many requests that were less in haste than this machine may be.
    const spend = async () => app.edge.budgets.spend('schedules', deal.initiator.accountId);
    assert.equal((await spend()).remaining, scheduleLimit - 3, 'the refused one cost nothing');
    while ((await spend()).allowed);
    const over = await post(path(deal), body);
    refused(over, 429, 'schedule_rate_limited');
    assert.match(over.body.error, /\(20 in 60 s\); try again in \d+ s/);
    assert.ok(Number(over.headers['retry-after']) >= 1);
    must(await deal.initiator.get(`/v1/swaps/${deal.id}`));
  } finally {
    ticking = false;
    await app.close();
  }
});

test('a payment to the escrow that was taken back for good is left out of the next ladder', async () => {
  const deal = await agree(world);
  const funding = await fundLong(world, deal);
  await deepen(world);
  const { escrow, timelock } = (await swapOf(deal)).legs[deal.long];
  const coin = await world.faucetRpc<string>('sendtoaddress', [await ownAddress(), '0.001']);
  await deepen(world);
  // Two payments of one coin: to the escrow, and elsewhere.
  const dust = await paymentOf(world, coin, escrow);
  const elsewhere = await paymentOf(world, coin, await ownAddress());
  const held = await world.bitcoinRpc<number>('getblockcount');
  await world.bitcoinRpc('sendrawtransaction', [dust.raw]);
  await deepen(world);
  const ladder = await ladderOf(world, deal, [funding, dust.txid], [2, 30]);
  must(await deal.initiator.post(path(deal), { transactions: raws(ladder) }));
  // Deeper than the leg waits for: a longer chain has the other one.
  await world.bitcoinRpc('invalidateblock', [
    await world.bitcoinRpc<string>('getblockhash', [held + 1]),
  ]);
  await blockOf([elsewhere.raw]);
  await emptyBlocks(4);
  await comesTo(timelock);
  assert.equal(await pass(), 0, 'it can never be sent');
  const without = await ladderOf(world, deal, [funding], [2, 30]);
  must(await deal.initiator.post(path(deal), { transactions: raws(without) }));
  assert.equal(await pass(), 1);
  assert.deepEqual(await pool(), [without[0]?.txid]);
  await deepen(world);
  assert.equal((await swapOf(deal)).legs[deal.long].status, 'refunded');
});

const ownAddress = () => world.faucetRpc<string>('getnewaddress');

test('with its funder gone the right one is sent when due, raised when it sticks, sent again after a reorganisation', async () => {
  const deal = await agree(world);
  const funding = await fundLong(world, deal);
  await deepen(world);
  const extra = await world.faucetRpc<string>('sendtoaddress', [
    (await swapOf(deal)).legs[deal.long].escrow,
    '0.0002',
  ]);
  await deepen(world);
  const ladder = await ladderOf(world, deal, [funding, extra], [1, 5, 20, 60]);
  must(await deal.initiator.post(path(deal), { transactions: raws(ladder) }));
  const txidOf = (at: number) => ladder[at]?.txid ?? '';
  const { timelock } = (await swapOf(deal)).legs[deal.long];
  assert.equal(await pass(), 0, 'not looked at before the timelock');

  await world.deps.db.rows({
    name: 'test_make_due',
    text: 'update scheduled_refunds set due_at = 0',
    values: [],
  });
  assert.equal(await pass(), 0, 'nor sent when it is');
  assert.deepEqual(await pool(), []);
  const before = await world.bitcoinRpc<number>('getblockcount');
  await comesTo(timelock);
  const firstLate = await world.bitcoinRpc<string>('getblockhash', [before + 1]);

  // Two servers at once.
  const other = { ...world.deps, adapters: freshAdapters(world.infos, world.deps.now) };
  const servers = [world.deps, other].map((deps) => createScheduledRefunds(deps));
  advance(61);
  const sent = await Promise.all(servers.map((each) => each.pass()));
  assert.deepEqual(sent.sort(), [0, 1], 'one of them');
  assert.deepEqual(await pool(), [txidOf(1)], 'the lowest that is sensible');
  assert.equal((await scheduledOf(deal)).sentTxid, txidOf(1));

  assert.equal(await pass(servers[0], refundStepSeconds + 1), 0, 'no block went by');
  await blockOf([]);
  assert.equal(await pass(servers[1]), 1, 'a full block went by without it');
  assert.deepEqual(await pool(), [txidOf(2)]);
  const first = await world.bitcoinRpc<string[]>('generatetodescriptor', [1, nobody]);
  assert.deepEqual(await pool(), []);
  assert.equal(await pass(), 0);

  // Blocks are taken back until the refund is not final any more, so that nobody holds it.
  await world.bitcoinRpc('invalidateblock', [firstLate]);
  assert.ok((await median()) <= timelock);
  assert.deepEqual(await pool(), [], `${first} is gone`);
  assert.equal(await pass(), 0, 'nor may it be sent');
  await emptyBlocks(12);
  assert.ok((await median()) > timelock);
  assert.equal(await pass(), 1);
  assert.deepEqual(await pool(), [txidOf(2)], 'never less than was sent before');
  await deepen(world);
  const { refundTx, status, balance } = (await swapOf(deal)).legs[deal.long];
  assert.deepEqual([refundTx, status, balance], [txidOf(2), 'refunded', '0']);
  assert.equal(await pass(), 0);
  const rows = await world.deps.db.rows<{ due_at: number | null }>({
    name: 'test_due',
    text: 'select due_at from scheduled_refunds where swap_id = $1',
    values: [deal.id],
  });
  assert.deepEqual(rows, [{ due_at: null }], 'it has ended');
});

test('a claim that waits is never competed with; where it wins, the ladder ends', async () => {
  const deal = await agree(world);
  await fundBoth(world, deal);
  const { fundTx } = (await swapOf(deal)).legs[deal.long];
  const ladder = await ladderOf(world, deal, [fundTx], [5, 100]);
  must(await deal.initiator.post(path(deal), { transactions: raws(ladder) }));
  await claimShort(world, deal);
  await deepen(world);
  const { timelock } = (await swapOf(deal)).legs[deal.long];
  const claim = await claimLong(deal);
  await comesTo(timelock, claim);
  for (let count = 0; count < 3; count += 1) assert.equal(await pass(), 0);
  assert.deepEqual(await pool(), [claim]);
  await world.bitcoinRpc('generateblock', [nobody, [claim]]);
  await emptyBlocks(3);
  assert.equal(await pass(undefined, scheduledLimits.calmSeconds + 1), 0);
  assert.equal((await swapOf(deal)).legs[deal.long].status, 'claimed');
  const answer = await deal.initiator.post(path(deal), { transactions: raws(ladder) });
  refused(answer, 409, 'nothing_there');
});

test('a claim that comes after the look is not outbid: not by the first refund, not by one above a refused', async () => {
  const deal = await agree(world);
  await fundBoth(world, deal);
  const { fundTx } = (await swapOf(deal)).legs[deal.long];
  const ladder = await ladderOf(world, deal, [fundTx], [5, 300, 400]);
  must(await deal.initiator.post(path(deal), { transactions: raws(ladder) }));
  await claimShort(world, deal);
  await deepen(world);
  await comesTo((await swapOf(deal)).legs[deal.long].timelock);
  const claim = await claimAt(deal, 40);
  await world.bitcoinRpc('sendrawtransaction', [claim.raw]);
  const asked: string[] = [];
  for (const late of [['next'], ['next', 'rival']] as const) {
    asked.push('pass');
    const servers = adaptersThatAskedBefore(late, asked);
    assert.equal(await pass(createScheduledRefunds({ ...world.deps, adapters: servers })), 0);
    assert.deepEqual(await pool(), [claim.txid]);
    assert.equal((await scheduledOf(deal)).sentTxid, null);
  }
  const [first] = ladder;
  assert.deepEqual(asked, ['pass', 'pass', `refused ${first?.txid}`]);
  const rival = () => Promise.reject(new Error('nobody knows'));
  const unsure = adaptersWith((refunds) => ({ ...refunds, next: async () => sendFirst, rival }));
  assert.equal(await pass(createScheduledRefunds({ ...world.deps, adapters: unsure })), 0);
  assert.equal((await scheduledOf(deal)).sentTxid, null, 'what was not sent is not said to be');
});

const sendFirst = { kind: 'send', from: 0, height: 1, over: null } as const;

/** Adapters that answer otherwise of refunds signed beforehand. */
function adaptersWith(alter: (refunds: ScheduledRefunds) => ScheduledRefunds) {
  return new Map(
    [...freshAdapters(world.infos, world.deps.now)].map(([key, each]) => {
      const { scheduledRefunds } = each;
      if (scheduledRefunds === undefined) return [key, each];
      return [key, { ...each, scheduledRefunds: alter(scheduledRefunds) }];
    }),
  );
}

/** Adapters whose first answers to `late` are those of a moment at which no claim was there. */
function adaptersThatAskedBefore(late: readonly ('next' | 'rival')[], asked: string[]) {
  return new Map(
    [...freshAdapters(world.infos, world.deps.now)].map(([key, each]) => {
      const { scheduledRefunds } = each;
      if (scheduledRefunds === undefined) return [key, each];
      const before = new Set<string>(late);
      const refunds: typeof scheduledRefunds = {
        ...scheduledRefunds,
        next: async (...about) =>
          before.delete('next') ? sendFirst : scheduledRefunds.next(...about),
        rival: async (...about) =>
          before.delete('rival') ? null : scheduledRefunds.rival(...about),
      };
      const broadcast: typeof each.broadcast = (transaction, signal) =>
        each.broadcast(transaction, signal).catch((error: unknown) => {
          asked.push(`refused ${transaction.txid}`);
          throw error;
        });
      return [key, { ...each, broadcast, scheduledRefunds: refunds }];
    }),
  );
}

test('a refund of the funder’s own is left alone while it may be mined, then outbid', async () => {
  const deal = await agree(world);
  const funding = await fundLong(world, deal);
  await deepen(world);
  const ladder = await ladderOf(world, deal, [funding], [1, 2, 30]);
  must(await deal.initiator.post(path(deal), { transactions: raws(ladder) }));
  const { timelock } = (await swapOf(deal)).legs[deal.long];
  await comesTo(timelock);
  const own = await refund(world, deal, deal.long);
  assert.equal(await pass(), 0);
  await blockOf([]);
  assert.equal(await pass(), 0);
  assert.deepEqual(await pool(), [own]);
  assert.equal(await pass(undefined, refundStepSeconds), 1);
  assert.deepEqual(await pool(), [ladder[2]?.txid]);
  await deepen(world);
  assert.equal((await swapOf(deal)).legs[deal.long].status, 'refunded');
});

test('a server that is killed between noting a refund and sending it leaves it to another', async () => {
  const deal = await agree(world);
  const funding = await fundLong(world, deal);
  await deepen(world);
  const ladder = await ladderOf(world, deal, [funding], [2, 30]);
  must(await deal.initiator.post(path(deal), { transactions: raws(ladder) }));
  await comesTo((await swapOf(deal)).legs[deal.long].timelock);
  const dead = () => Promise.reject(new Error('killed here'));
  const { db, adapters } = world.deps;
  const killed = createScheduledRefunds({
    ...world.deps,
    adapters: new Map([...adapters].map(([key, each]) => [key, { ...each, broadcast: dead }])),
    db: {
      ...db,
      rows: (statement) => (statement.name === 'scheduled_give_back' ? dead() : db.rows(statement)),
    },
  });
  await assert.rejects(pass(killed), /killed here/);
  assert.deepEqual(await pool(), []);
  assert.equal(await pass(undefined, scheduledLimits.leaseSeconds - 5), 0, 'not yet given up');
  assert.equal(await pass(undefined, 6), 1);
  assert.deepEqual(await pool(), [ladder[0]?.txid]);
  await deepen(world);
  assert.equal((await swapOf(deal)).legs[deal.long].status, 'refunded');
});

test('after a failure of the database a pass ends when what is under way has, and begins nothing more', async () => {
  const asked: string[] = [];
  const rows = scheduledLimits.parallel + 3;
  const first = Promise.withResolvers<void>();
  const failing = {
    ...world.deps,
    adapters: new Map(
      [...world.deps.adapters].map(([key, each]) => [
        key,
        {
          ...each,
          heads: async () => {
            asked.push('look');
            // The others are under way while the first one fails.
            if (asked.length > 1) await first.promise;
            throw new Error('no chain today');
          },
        },
      ]),
    ),
    db: {
      ...world.deps.db,
      rows: (async (statement) => {
        if (statement.name !== 'scheduled_give_back') return world.deps.db.rows(statement);
        asked.push('give back');
        if (asked.filter((each) => each === 'give back').length === 1) {
          setImmediate(first.resolve);
          throw new Error('the database is gone');
        }
        return world.deps.db.rows(statement);
      }) as typeof world.deps.db.rows,
    },
  };
  const deal = await agree(world);
  await fundLong(world, deal);
  await world.deps.db.rows({
    name: 'test_ladders',
    text: `insert into scheduled_refunds (chain, escrow, swap_id, leg, rungs, count,
        lowest_fee_rate, highest_fee_rate, due_at, posted_at)
      select $1, e.address || case when n = 1 then '' else n::text end, $2, $3, '[]',
        0, 1, 1, 0, now()
      from escrows e, generate_series(1, $4) n where e.swap_id = $2 and e.leg = $3`,
    values: [bitcoin, deal.id, deal.long, rows],
  });
  await assert.rejects(pass(createScheduledRefunds(failing)), /the database is gone/);
  const { length } = asked;
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(asked.length, length, 'nothing goes on behind it');
  const backs = asked.filter((each) => each === 'give back').length;
  assert.equal(backs, scheduledLimits.parallel, 'those under way, and no other');
});

test('a pass over a chain that hangs ends while its ladders are still its own', async () => {
  const deal = await agree(world);
  const funding = await fundLong(world, deal);
  await deepen(world);
  const ladder = await ladderOf(world, deal, [funding], [2, 30]);
  must(await deal.initiator.post(path(deal), { transactions: raws(ladder) }));
  await comesTo((await swapOf(deal)).legs[deal.long].timelock);
  const { adapters, settings } = world.deps;
  const hangs = () => new Promise<never>(() => {});
  const hanging = {
    ...world.deps,
    settings: { ...settings, chainTimeoutMs: 2 ** 30 },
    adapters: new Map([...adapters].map(([key, each]) => [key, { ...each, heads: hangs }])),
  };
  const { leaseMarginSeconds } = scheduledLimits;
  const limits = { ...scheduledLimits, leaseSeconds: leaseMarginSeconds + 1 };
  assert.equal(await pass(createScheduledRefunds(hanging, limits)), 0);
  assert.equal(await pass(undefined, 16), 1, 'it was given back at once');
  assert.deepEqual(await pool(), [ladder[0]?.txid]);
  await deepen(world);
});
