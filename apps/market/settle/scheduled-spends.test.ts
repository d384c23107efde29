// Claims and refunds that a party signed beforehand, on a real bitcoind: the parties that may give
// them, and their outcome with that party gone, full blocks, reorganisations, two servers.

import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import type { ChainAdapter } from '@parley/chains/adapter.ts';
import { bumpSeconds } from '@parley/chains/bitcoin/signed-spends.ts';
import type { ScheduledSpends } from '@parley/chains/interface/scheduled.ts';
import { buildApp } from '../edge/app.ts';
import { scheduleLimit } from '../edge/budgets.ts';
import type { Deps } from '../ports/deps.ts';
import { togetherSeconds } from './reconcile.ts';
import { createScheduledSpends, scheduledLimits } from './scheduled-spends.ts';
import { claimAt, ladderOf, raws } from './testing/ladders.ts';
import { emptyBlocks, legPath, refused, sharedWorld } from './testing/shared.ts';
import {
  agree,
  agreeTaproot,
  bitcoin,
  claimShort,
  type Deal,
  deepen,
  freshAdapters,
  fundBoth,
  fundLong,
  fundShort,
  give,
  look,
  moveTo,
  must,
  refund,
  requestsTo,
  swapOf,
  type World,
} from './testing/world.ts';

/** Anybody's: OP_TRUE. */
const nobody = 'raw(51)#8lvh9jxk';
const world = sharedWorld();

beforeEach(async () => {
  for (const table of ['jobs', 'scheduled_spends']) {
    await world.deps.db.rows({ name: '', text: `delete from ${table}`, values: [] });
  }
  await world.dev.mine(bitcoin, 1);
});
afterEach(() => {
  world.deps.advance(-ahead * 1_000);
  ahead = 0;
});

/** Seconds by which the server's clock is ahead of the node's. */
let ahead = 0;

const path = (deal: Deal, leg: 'long' | 'short' = 'long') => legPath(deal, leg, 'refund/scheduled');
const legOf = async (deal: Deal) => (await swapOf(deal)).legs[deal.long];
const scheduledOf = async (deal: Deal) => (await legOf(deal)).scheduledRefunds;
const post = (deal: Deal, ladder: readonly { raw: string }[]) =>
  deal.initiator.post(path(deal), { transactions: raws(ladder) });

const pool = () => world.bitcoinRpc<string[]>('getrawmempool');
const blockOf = (transactions: readonly string[]) =>
  world.bitcoinRpc('generateblock', [nobody, transactions]);
const median = async () =>
  (await world.bitcoinRpc<{ mediantime: number }>('getblockchaininfo')).mediantime;

/** A swap whose long leg is funded and final, and signed refunds of it at these rates. */
async function laddered(
  rates: readonly number[],
  fund: (world: World, deal: Deal) => Promise<unknown> = fundLong,
) {
  const deal = await agree(world);
  await fund(world, deal);
  await deepen(world);
  const { fundTx, timelock } = await legOf(deal);
  const ladder = await ladderOf(world, deal, [fundTx as string], rates);
  must(await post(deal, ladder));
  return { deal, ladder, timelock: timelock as number };
}

/** Every clock well beyond an instant. The waiting transactions are mined, but for `out`. */
async function comesTo(instant: number, out: string | null = null): Promise<void> {
  const weigh = (sats: number) => world.bitcoinRpc('prioritisetransaction', [out, 0, sats]);
  if (out !== null) await weigh(-1_000_000);
  await moveTo(world, instant + 7_200);
  if (out !== null) await weigh(1_000_000);
  assert.ok((await median()) > instant);
  await look(world);
}

/** One pass of a server with adapters of its own, after what it waits for between two polls. */
async function pass(by = createScheduledSpends(world.deps), seconds = 61): Promise<number> {
  world.deps.advance(seconds * 1_000);
  ahead += seconds;
  return by.pass();
}

/** The leg is refunded by what is in the mempool, which is this one. */
async function endsBy(deal: Deal, txid: string | undefined): Promise<void> {
  assert.deepEqual(await pool(), [txid]);
  await deepen(world);
  const { status, refundTx } = await legOf(deal);
  assert.deepEqual([status, refundTx], ['refunded', txid]);
}

/** Another server, some of whose parts are altered: its adapters, and its statements by name. */
function serverWith(
  alter: (adapter: ChainAdapter) => Partial<ChainAdapter>,
  statement: (name: string, run: () => Promise<never>) => Promise<never> = (_, run) => run(),
): Deps {
  const { db } = world.deps;
  const fresh = freshAdapters(world.infos, world.deps.now);
  const adapters = new Map([...fresh].map(([key, each]) => [key, { ...each, ...alter(each) }]));
  const rows = ((of) => statement(of.name, () => db.rows<never>(of) as never)) as typeof db.rows;
  return { ...world.deps, adapters, db: { ...db, rows } };
}

/** Adapters that answer otherwise of refunds signed beforehand. */
const refundsBy =
  (alter: (refunds: ScheduledSpends) => Partial<ScheduledSpends>) =>
  ({ scheduledSpends: own }: ChainAdapter): Partial<ChainAdapter> =>
    own === undefined ? {} : { scheduledSpends: { ...own, ...alter(own) } };

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
  refused(await counterparty.post(path(deal, 'short'), body), 400, 'bad_chain');
  const [low = '', high = ''] = body.transactions;
  const escrow = 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080';
  for (const [wrong, code] of [
    [{}, 'bad_field'],
    [{ transactions: [] }, 'bad_field'],
    [{ transactions: Array(13).fill(low) }, 'bad_field'],
    [{ ...body, escrow }, 'unknown_escrow'],
    [{ transactions: [low] }, 'bad_fee_rate'],
  ] as const) {
    refused(await initiator.post(path(deal), wrong), 400, code);
  }
  const flat = await initiator.post(path(deal), { transactions: [high, high] });
  refused(flat, 400, 'bad_fee_rate');
  assert.match(flat.body.error, /to replace the one before it takes \d+ sats/);
  assert.equal(await scheduledOf(deal), null);

  const kept = must(await initiator.post(path(deal), body)).scheduledRefunds;
  const view = { count: 2, lowestFeeRate: 1, highestFeeRate: 10, sentTxid: null };
  const txids = early.map(({ txid }) => txid);
  const leg = await legOf(deal);
  assert.deepEqual(kept, { escrow: leg.escrow, txids, ...view });
  assert.deepEqual(leg.scheduledRefunds, view);
  assert.deepEqual(must(await initiator.post(path(deal), body)).scheduledRefunds, kept, 'again');
  const theirs = must(await counterparty.get(`/v1/swaps/${deal.id}`));
  assert.equal(theirs.legs[deal.long].scheduledRefunds, null, 'its own business');
  must(await post(deal, await ladderOf(world, deal, [funding], [2, 4, 8])));
  assert.equal((await scheduledOf(deal)).count, 3, 'replaced');
});

test('an account has one check of its refunds at a time, and few in a minute', async () => {
  const { deal, ladder } = await laddered([1, 5, 20]);
  const reached = Promise.withResolvers<void>();
  const open = Promise.withResolvers<void>();
  const holding = refundsBy(({ check }) => ({
    check: async (...asked) => {
      reached.resolve();
      await open.promise;
      return check(...asked);
    },
  }));
  const app = await buildApp(serverWith(holding));
  try {
    const { post: ask } = requestsTo(app, deal.initiator.key);
    const body = { transactions: raws(ladder) };
    const first = ask(path(deal), body);
    await reached.promise;
    refused(await ask(path(deal), body), 429, 'schedule_rate_limited');
    open.resolve();
    must(await first);
    // By as many requests that were less in haste than this machine may be.
    const spend = () => app.edge.budgets.spend('schedules', deal.initiator.accountId);
    assert.equal((await spend()).remaining, scheduleLimit - 2, 'the refused one cost nothing');
    while ((await spend()).allowed);
    refused(await ask(path(deal), body), 429, 'schedule_rate_limited');
  } finally {
    await app.close();
  }
});

test('with its funder gone the right one is sent when due, raised when it sticks, sent again after a reorganisation', async () => {
  const deal = await agree(world);
  const funding = await fundLong(world, deal);
  await deepen(world);
  const { escrow, timelock } = await legOf(deal);
  const extra = await world.faucetRpc<string>('sendtoaddress', [escrow, '0.0002']);
  await deepen(world);
  const ladder = await ladderOf(world, deal, [funding, extra], [1, 5, 20, 60]);
  must(await post(deal, ladder));
  const txidOf = (at: number) => ladder[at]?.txid ?? '';
  assert.equal(await pass(), 0, 'not read before the timelock');

  await world.deps.db.rows({
    name: '',
    text: `update jobs set due_at = '-infinity'`,
    values: [],
  });
  assert.equal(await pass(), 0, 'nor sent when it is');
  assert.deepEqual(await pool(), []);
  const before = await world.bitcoinRpc<number>('getblockcount');
  await comesTo(timelock);
  const firstLate = await world.bitcoinRpc<string>('getblockhash', [before + 1]);

  // Two servers at once.
  const servers = [world.deps, serverWith(() => ({}))].map((deps) => createScheduledSpends(deps));
  const sent = await Promise.all([pass(servers[0]), servers[1]?.pass()]);
  assert.deepEqual(sent.sort(), [0, 1], 'one of them');
  assert.deepEqual(await pool(), [txidOf(1)], 'the lowest that is sensible');
  assert.equal((await scheduledOf(deal)).sentTxid, txidOf(1));

  assert.equal(await pass(servers[0], bumpSeconds + 1), 0, 'no block went by');
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
  await emptyBlocks(world, 12);
  await look(world);
  assert.ok((await median()) > timelock);
  assert.equal(await pass(), 1);
  assert.deepEqual(await pool(), [txidOf(2)], 'never less than was sent before');
  await endsBy(deal, txidOf(2));
  assert.equal((await legOf(deal)).balance, '0');
  assert.equal(await pass(), 0);
  assert.deepEqual(await jobs(), [], 'it has ended');
});

const jobs = () => world.deps.db.rows({ name: '', text: 'select id from jobs', values: [] });

const sendFirst = { kind: 'send', from: 0, height: 1, over: null } as const;

test('a claim that comes after the poll is not outbid: not by the first refund, not by one above a refused', async () => {
  const { deal, ladder, timelock } = await laddered([5, 300, 400], fundBoth);
  await claimShort(world, deal);
  await deepen(world);
  await comesTo(timelock);
  const claim = await claimAt(deal, 40);
  await world.bitcoinRpc('sendrawtransaction', [claim.raw]);
  const asked: string[] = [];
  const publicly = new Set<boolean>();
  for (const late of [['next'], ['next', 'rival']]) {
    asked.push('pass');
    const before = new Set(late);
    // The first answers are those of a moment at which no claim was there.
    const asBefore = refundsBy(({ next, rival }) => ({
      next: async (...about) => {
        publicly.add(about[1].secret !== null);
        return before.delete('next') ? sendFirst : next(...about);
      },
      rival: async (...about) => (before.delete('rival') ? null : rival(...about)),
    }));
    const server = serverWith((adapter) => ({
      ...asBefore(adapter),
      broadcast: (transaction, signal) =>
        adapter.broadcast(transaction, signal).catch((error: unknown) => {
          asked.push(`refused ${transaction.txid}`);
          throw error;
        }),
    }));
    assert.equal(await pass(createScheduledSpends(server)), 0);
    assert.deepEqual(await pool(), [claim.txid]);
    assert.equal((await scheduledOf(deal)).sentTxid, null);
  }
  assert.deepEqual(asked, ['pass', 'pass', `refused ${ladder[0]?.txid}`]);
  // The claim may come at any moment, so that a refund is not cheap.
  assert.deepEqual([...publicly], [true]);
  const rival = () => Promise.reject(new Error('nobody knows'));
  const unsure = serverWith(refundsBy(() => ({ next: async () => sendFirst, rival })));
  assert.equal(await pass(createScheduledSpends(unsure)), 0);
  assert.equal((await scheduledOf(deal)).sentTxid, null, 'what was not sent is not said to be');
  await deepen(world);
});

test('a server that is killed between noting a refund and sending it leaves it to another', async () => {
  const { deal, ladder, timelock } = await laddered([2, 30]);
  await comesTo(timelock);
  const broadcast = () => Promise.reject(new Error('killed here'));
  const killed = serverWith(
    () => ({ broadcast }),
    (name, run) => (name === 'jobs_retry' ? broadcast() : run()),
  );
  await assert.rejects(pass(createScheduledSpends(killed)), /killed here/);
  assert.deepEqual(await pool(), []);
  assert.equal(await pass(undefined, scheduledLimits.leaseSeconds - 5), 0, 'not yet given up');
  assert.equal(await pass(undefined, 6), 1);
  await endsBy(deal, ladder[0]?.txid);
});

test('a pass over a chain that hangs ends while its schedules are still its own', async () => {
  const { deal, ladder, timelock } = await laddered([2, 30]);
  await comesTo(timelock);
  const settings = { ...world.deps.settings, chainTimeoutMs: 2 ** 30 };
  const hanging = { ...serverWith(() => ({ heads: () => new Promise(() => {}) })), settings };
  const leaseSeconds = scheduledLimits.leaseMarginSeconds + 1;
  const limits = { ...scheduledLimits, leaseSeconds };
  assert.equal(await pass(createScheduledSpends(hanging, limits)), 0);
  assert.equal(await pass(undefined, 16), 1, 'it was given back at once');
  await endsBy(deal, ladder[0]?.txid);
});

const claimsPath = (deal: Deal, leg: 'long' | 'short' = 'long') =>
  legPath(deal, leg, 'claim/scheduled');
const theirLeg = async ({ id, long, counterparty }: Deal) =>
  must(await counterparty.get(`/v1/swaps/${id}`)).legs[long];
const noSecret = async ({ id }: Deal) => {
  const rows = await world.deps.db.rows<{ secret: string | null }>({
    name: '',
    text: 'select secret from swaps where id = $1',
    values: [id],
  });
  return rows[0]?.secret === null;
};

/** Both legs are funded, and the counterparty has left its claims before it went away. */
async function deposited(rates: readonly number[], agreeing = agree) {
  const deal = await agreeing(world);
  await give(world, deal);
  const funding = await fundLong(world, deal);
  await deepen(world);
  const ladder = await ladderOf(world, deal, [funding], rates, 'claim');
  must(await deal.counterparty.post(claimsPath(deal), { transactions: raws(ladder) }));
  await fundShort(world, deal);
  await deepen(world);
  return { deal, funding, ladder, txidOf: (at: number) => ladder[at]?.txid ?? '' };
}

test('only the payee gives claims, of the final funding of its Bitcoin leg, and each is checked', async () => {
  const deal = await agree(world);
  const funding = await fundLong(world, deal);
  const ladder = await ladderOf(world, deal, [funding], [1, 10], 'claim');
  const { initiator, counterparty } = deal;
  const body = { transactions: raws(ladder) };
  await deepen(world, 1);
  refused(await counterparty.post(claimsPath(deal), body), 409, 'nothing_there');
  await deepen(world, 1);
  refused(await initiator.post(claimsPath(deal), body), 403, 'not_your_leg');
  refused(await initiator.post(claimsPath(deal, 'short'), body), 400, 'bad_chain');
  refused(await counterparty.post(claimsPath(deal), { transactions: [] }), 400, 'bad_field');
  const refunds = await ladderOf(world, deal, [funding], [2, 20]);
  const wrong = { transactions: raws(refunds) };
  refused(await counterparty.post(claimsPath(deal), wrong), 400, 'bad_transaction');

  const kept = must(await counterparty.post(claimsPath(deal), body)).scheduledClaims;
  const view = { count: 2, lowestFeeRate: 1, highestFeeRate: 10, sentTxid: null };
  const leg = await theirLeg(deal);
  const txids = ladder.map(({ txid }) => txid);
  assert.deepEqual(kept, { escrow: leg.escrow, txids, ...view });
  assert.deepEqual(leg.scheduledClaims, view);
  assert.equal((await legOf(deal)).scheduledClaims, null, 'its own business');
  const { next } = must(await counterparty.get(`/v1/swaps/${deal.id}`));
  const [last] = next.slice(-1);
  assert.match(last.why, /keeps 2 signed claims of leg \w, up to 10 sat per vbyte/);
  const theirs = must(await initiator.get(`/v1/swaps/${deal.id}`)).next;
  assert.ok(!JSON.stringify(theirs).includes('signed claims'));
  // One beside the other, by the verb.
  must(await post(deal, refunds));
  assert.equal((await theirLeg(deal)).scheduledClaims.count, 2);
  assert.equal((await scheduledOf(deal)).count, 2);
});

test('a payee that went away after its funding is paid: its claim is sent once the secret is public, raised, and mined', async () => {
  const { deal, txidOf } = await deposited([1, 5, 20, 60]);
  await world.deps.db.rows({
    name: '',
    text: `update jobs set due_at = '-infinity'`,
    values: [],
  });
  assert.equal(await pass(), 0, 'none before');
  assert.deepEqual(await pool(), []);
  assert.ok(await noSecret(deal), 'which the market does not need');

  await claimShort(world, deal);
  await look(world);
  // Two servers at once, as soon as a mempool shows it.
  const servers = [world.deps, serverWith(() => ({}))].map((deps) => createScheduledSpends(deps));
  const sent = await Promise.all(servers.map((server) => server.pass()));
  assert.deepEqual(sent.sort(), [0, 1], 'one of them, without any wait');
  assert.deepEqual(await pool(), [txidOf(1)], 'the lowest that is sensible');
  assert.equal((await theirLeg(deal)).scheduledClaims.sentTxid, txidOf(1));
  assert.equal(await pass(servers[0], bumpSeconds + 1), 0, 'no block went by');
  await blockOf([]);
  assert.equal(await pass(servers[1]), 1, 'a full block went by without it');
  assert.deepEqual(await pool(), [txidOf(2)]);
  await deepen(world);
  const { status, claimTx, claimedBy } = await theirLeg(deal);
  assert.deepEqual([status, claimTx, claimedBy], ['claimed', txidOf(2), 'party']);
  assert.equal(await pass(), 0);
});

test('claims of a Taproot leg give both sides time to sign one, and then are sent', async () => {
  const { deal, txidOf } = await deposited([5, 20], agreeTaproot);
  await claimShort(world, deal);
  await look(world);
  assert.equal(await pass(undefined, togetherSeconds - 5), 0);
  assert.equal(await pass(undefined, 6), 1);
  assert.deepEqual(await pool(), [txidOf(0)]);
  await deepen(world);
});

test('claims that come after the secret are sent at once', async () => {
  const deal = await agree(world);
  await fundBoth(world, deal);
  await claimShort(world, deal);
  await look(world);
  const { fundTx } = await legOf(deal);
  const ladder = await ladderOf(world, deal, [fundTx], [5, 20], 'claim');
  must(await deal.counterparty.post(claimsPath(deal), { transactions: raws(ladder) }));
  assert.equal(await createScheduledSpends(world.deps).pass(), 1);
  assert.deepEqual(await pool(), [ladder[0]?.txid]);
  await deepen(world);
});

test('a refund that waits is replaced by the claims', async () => {
  const deal = await agree(world);
  await fundBoth(world, deal);
  await claimShort(world, deal);
  await deepen(world);
  const { fundTx, timelock } = await legOf(deal);
  await comesTo(timelock);
  const [waiting] = await ladderOf(world, deal, [fundTx], [10]);
  await world.bitcoinRpc('sendrawtransaction', [waiting?.raw]);
  const ladder = await ladderOf(world, deal, [fundTx], [1, 5, 20, 60], 'claim');
  must(await deal.counterparty.post(claimsPath(deal), { transactions: raws(ladder) }));
  assert.equal(await createScheduledSpends(world.deps).pass(), 1);
  assert.deepEqual(await pool(), [ladder[2]?.txid], 'the first that pays more than the refund');
  await deepen(world);
  assert.equal((await theirLeg(deal)).status, 'claimed');
});

test('claims of a leg that was refunded are over, with no secret ever', async () => {
  const { deal } = await deposited([5, 20]);
  const { timelock } = await legOf(deal);
  await comesTo(timelock);
  assert.equal(await pass(), 0);
  assert.equal((await jobs()).length, 1);
  for (const leg of [deal.long, deal.short]) await refund(world, deal, leg);
  await deepen(world, 12);
  await look(world);
  assert.equal((await legOf(deal)).status, 'refunded');
  assert.equal(await pass(), 0);
  assert.deepEqual(await jobs(), []);
});

test('a poll that began before the secret was public keeps no claim waiting', async () => {
  const { deal, txidOf } = await deposited([5, 20]);
  await world.deps.db.rows({
    name: '',
    text: `update jobs set due_at = '-infinity'`,
    values: [],
  });
  const during = serverWith(
    () => ({}),
    async (name, run) => {
      if (name === 'jobs_retry') {
        await claimShort(world, deal);
        await look(world);
      }
      return run();
    },
  );
  assert.equal(await createScheduledSpends(during).pass(), 0);
  assert.equal(await createScheduledSpends(world.deps).pass(), 1);
  assert.deepEqual(await pool(), [txidOf(0)]);
  await deepen(world);
});
