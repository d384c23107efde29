// Reconciling when facts arrive late, twice, or not at all. The interleavings are forced: the
// adapters are the real ones but for what an escrow shows, which the test says (a script, no node).

import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import type { ChainAdapter } from '../../chains/adapter.ts';
import { lookBy } from '../../chains/testing/showing.ts';
import { ParleyError } from '../../core/errors.ts';
import type { EscrowFacts } from '../../core/facts.ts';
import { nothingSeen } from '../../core/facts.ts';
import { type TestDatabase, testDatabase } from '../../test/support/database.ts';
import { type TestDeps, testDeps } from '../../test/support/deps.ts';
import type { Asset } from '../db/assets.ts';
import { type Swap, swapById } from '../db/swaps.ts';
import { createSettlement, passLimits, type Settlement } from './follow.ts';
import { unknownRetrySeconds } from './outcome.ts';
import { reconcile } from './reconcile.ts';
import { insertAccount } from './testing/account.ts';
import { insertAgreed, insertAsset, nodelessAdapters, someWallets } from './testing/rows.ts';
import { shows } from './testing/states.ts';

let database: TestDatabase;
let deps: TestDeps;
let settlement: Settlement;
let assets: { btc: Asset; eth: Asset };
/** What each escrow shows, by address; a function may wait or throw. */
let script: Map<string, () => EscrowFacts | Promise<EscrowFacts>>;
let touched: string[];

function scripted(adapter: ChainAdapter): ChainAdapter {
  const heads = { height: 1, hash: 'h', clock: 1 };
  return {
    ...adapter,
    look: lookBy({
      heads: async () => heads,
      readEscrow: async ({ address }) => (await script.get(address)?.()) ?? nothingSeen,
    }),
    changes: async () => ({ touched: touched.splice(0), heads }),
  };
}

before(async () => {
  database = await testDatabase({ connections: 10 });
  const adapters = nodelessAdapters().map(scripted);
  deps = testDeps({
    db: database.db,
    adapters: new Map(adapters.map((each) => [each.chain, each])),
  });
  assets = {
    btc: await insertAsset(deps, 'bitcoin', null, null),
    eth: await insertAsset(deps, 'evm-dev', null, null),
  };
});
beforeEach(() => {
  script = new Map();
  touched = [];
  settlement = createSettlement(deps);
});
after(async () => {
  await settlement?.stop();
  await database?.drop();
});

type Made = { id: string; makerId: string; long: string; short: string };

async function newSwap(): Promise<Made> {
  const [maker, taker] = [someWallets(), someWallets()];
  const makerId = (await insertAccount(deps, [maker.evm, maker.bitcoin])).accountId;
  const takerId = (await insertAccount(deps, [taker.evm, taker.bitcoin])).accountId;
  const { btc: base, eth: quote } = assets;
  const amounts = { baseAmount: 5n, quoteAmount: 5n };
  const terms = { direction: 'sell_base', base, quote, ...amounts } as const;
  const id = await deps.db.transaction((tx) => insertAgreed(tx, deps, terms, { makerId, takerId }));
  const swap = await swapById(deps.db, id);
  const { a, b } = swap!.state.legs;
  return { id, makerId, long: b.escrow as string, short: a.escrow as string };
}

const all = () => ({ chains: 'all' as const, signal: AbortSignal.timeout(10_000) });

async function told({ id, makerId }: Made): Promise<string[]> {
  const rows = await deps.db.rows<{ topic: string }>({
    name: 'test_topics',
    text: `select topic from outbox where account_id = $1 and payload->>'swapId' = $2 order by id`,
    values: [makerId, id],
  });
  return rows.map((row) => row.topic);
}

const statusOf = async ({ id }: Made) => (await swapById(deps.db, id))?.status;

test('facts read before another change are never stored over it', async () => {
  const swap = await newSwap();
  const reading = Promise.withResolvers<void>();
  const gate = Promise.withResolvers<void>();
  let reads = 0;
  script.set(swap.long, async () => {
    reads += 1;
    if (reads > 1) return shows.funded;
    reading.resolve();
    await gate.promise;
    return nothingSeen;
  });
  const slow = reconcile(deps, swap.id, all());
  await reading.promise;
  await reconcile(deps, swap.id, all());
  assert.equal(await statusOf(swap), 'initiator_funded');
  gate.resolve();
  assert.deepEqual((await slow)?.events, []);
  assert.equal(await statusOf(swap), 'initiator_funded');
  assert.deepEqual(await told(swap), ['swap.funded']);
});

test('eight at once store one change and tell it once', async () => {
  const swap = await newSwap();
  script.set(swap.long, () => shows.funded);
  script.set(swap.short, () => shows.claiming);
  const looks = Array.from({ length: 8 }, () => reconcile(deps, swap.id, all()));
  const ended = await Promise.allSettled(looks);
  assert.ok(ended.some((each) => each.status === 'fulfilled'));
  // The preimage of another hashlock is no secret of this swap.
  assert.equal(await statusOf(swap), 'counterparty_funded');
  assert.deepEqual(await told(swap), ['swap.funded', 'swap.funded']);
});

test('an outcome that nobody knows is stored, moves no status, and goes when it is told', async () => {
  const swap = await newSwap();
  script.set(swap.long, () => shows.funded);
  await reconcile(deps, swap.id, all());
  const unknown = { ...shows.funded, balance: 0n, empty: true, outcome: 'unknown' } as const;
  const stored = async () => {
    const { state, dueAt } = (await swapById(deps.db, swap.id)) as Swap;
    return { outcome: state.legs.b.facts.outcome, dueAt };
  };
  script.set(swap.long, () => unknown);
  assert.equal((await reconcile(deps, swap.id, all()))?.changed, true);
  const { outcome, dueAt } = await stored();
  assert.deepEqual([outcome, await statusOf(swap)], ['unknown', 'initiator_funded']);
  assert.equal(dueAt, Math.floor(deps.now() / 1_000) + unknownRetrySeconds);
  script.set(swap.long, () => shows.refunded);
  await reconcile(deps, swap.id, all());
  assert.deepEqual([(await stored()).outcome, await statusOf(swap)], [undefined, 'refunded']);
  assert.deepEqual(await told(swap), ['swap.funded', 'swap.refunded']);
});

test('what does not change writes nothing', async () => {
  const swap = await newSwap();
  script.set(swap.long, () => shows.funded);
  assert.equal((await reconcile(deps, swap.id, all()))?.changed, true);
  const before = await swapById(deps.db, swap.id);
  assert.equal((await reconcile(deps, swap.id, all()))?.changed, false);
  assert.equal((await swapById(deps.db, swap.id))?.revision, before?.revision);
});

test('updatedAt moves with what its parties read of it, and of a swap that has ended with its status alone', async () => {
  deps.freeze();
  const swap = await newSwap();
  const look = async (long: EscrowFacts, short: EscrowFacts) => {
    script.set(swap.long, () => long).set(swap.short, () => short);
    deps.advance(1_000);
    const { changed } = (await reconcile(deps, swap.id, all())) ?? {};
    const { updatedAt, done } = (await swapById(deps.db, swap.id)) as Swap;
    return [changed, updatedAt.getTime() === deps.now(), done];
  };
  const later = (facts: EscrowFacts, by: number): EscrowFacts => {
    const { claimed } = facts;
    const more = claimed && { ...claimed, confirmations: claimed.confirmations + by };
    return { ...facts, claimed: more, empty: false };
  };
  const { seen, funded, claimed } = shows;
  const [moves, stays] = [true, false];
  assert.deepEqual(await look(seen, nothingSeen), [true, moves, false]);
  assert.deepEqual(await look(seen, { ...nothingSeen, empty: false }), [true, stays, false]);
  assert.deepEqual(await look(funded, nothingSeen), [true, moves, false]);
  assert.deepEqual(await look(funded, { ...nothingSeen, balance: 1n }), [true, moves, false]);
  assert.deepEqual(await look(later(claimed, 0), later(claimed, 0)), [true, moves, false]);
  // Followed on for some blocks, and then done.
  assert.deepEqual(await look(later(claimed, 1), later(claimed, 0)), [true, stays, false]);
  assert.deepEqual(await look(later(claimed, 2), later(claimed, 9)), [true, stays, false]);
  assert.deepEqual(await look(claimed, claimed), [true, stays, true]);
  // Taken back by a reorganisation.
  assert.deepEqual(await look(later(claimed, 0), funded), [true, moves, false]);
});

test('with the secret public a funding that goes shallow and deep again is told once', async () => {
  const swap = await newSwap();
  const show = async (long: EscrowFacts, short: EscrowFacts) => {
    script.set(swap.long, () => long).set(swap.short, () => short);
    await reconcile(deps, swap.id, all());
  };
  await show(shows.funded, shows.claimed);
  const first = ['swap.funded', 'swap.funded', 'secret.revealed'];
  assert.deepEqual(await told(swap), first);
  for (let each = 0; each < 2; each += 1) {
    await show(shows.seen, shows.claimed);
    await show(shows.nothing, shows.claimed);
    await show(shows.funded, shows.claimed);
  }
  assert.deepEqual(await told(swap), first);
});

test('status and events commit together or not at all', async () => {
  const swap = await newSwap();
  script.set(swap.long, () => shows.funded);
  const broken = {
    ...deps,
    db: {
      ...deps.db,
      transaction: <R>(work: Parameters<typeof deps.db.transaction<R>>[0]) =>
        deps.db.transaction<R>((tx) =>
          work({
            rows: (statement) =>
              statement.name.startsWith('outbox')
                ? Promise.reject(new Error('the disk is full'))
                : tx.rows(statement),
          }),
        ),
    },
  };
  await assert.rejects(reconcile(broken, swap.id, all()), /disk is full/);
  assert.equal(await statusOf(swap), 'agreed');
  await reconcile(deps, swap.id, all());
  assert.equal(await statusOf(swap), 'initiator_funded');
  assert.deepEqual(await told(swap), ['swap.funded']);
});

test('one swap that cannot be read does not hold up the others, and is tried again', async () => {
  const [sick, well] = [await newSwap(), await newSwap()];
  script.set(sick.long, () => {
    throw new Error('a defect');
  });
  script.set(well.long, () => shows.funded);
  const pass = await settlement.pass('bitcoin');
  assert.equal(pass.left, 0);
  assert.equal(await statusOf(well), 'initiator_funded');
  script.set(sick.long, () => shows.funded);
  assert.equal(await statusOf(sick), 'agreed');
  deps.advance(31_000);
  await settlement.passDue();
  assert.equal(await statusOf(sick), 'initiator_funded');
});

test('what could not be read on one chain is tried again, whatever the other shows meanwhile', async () => {
  const swap = await newSwap();
  script.set(swap.long, () => {
    throw new Error('a defect');
  });
  await settlement.pass('bitcoin');
  script.set(swap.long, () => shows.funded);
  script.set(swap.short, () => shows.seen);
  const signal = AbortSignal.timeout(10_000);
  const other = await reconcile(deps, swap.id, { chains: ['evm-dev'], signal });
  assert.equal(other?.changed, true);
  deps.advance(31_000);
  await settlement.passDue();
  assert.equal(await statusOf(swap), 'initiator_funded');
});

test('a chain that fails ends its pass; the next one takes up what was told, once', async () => {
  const swap = await newSwap();
  await settlement.pass('bitcoin');
  touched.push(swap.long);
  script.set(swap.long, () => {
    throw new ParleyError('chain_unavailable', 'gone', { chain: 'bitcoin' });
  });
  await assert.rejects(settlement.pass('bitcoin'), { code: 'chain_unavailable' });
  script.set(swap.long, () => shows.funded);
  const pass = await settlement.pass('bitcoin');
  assert.deepEqual([pass.touched, pass.reconciled, pass.left], [0, 1, 0]);
  assert.equal(await statusOf(swap), 'initiator_funded');
});

test('escrows that never answer do not keep the others of their chain waiting', async () => {
  await settlement.pass('bitcoin');
  const made: Made[] = [];
  for (let at = 0; at < 2 * passLimits.parallel; at += 1) made.push(await newSwap());
  const [stuck, others] = [made.slice(0, passLimits.parallel), made.slice(passLimits.parallel)];
  for (const each of stuck) {
    script.set(each.long, () => {
      throw new ParleyError('chain_timeout', 'slow', { chain: 'bitcoin' });
    });
  }
  for (const each of others) script.set(each.long, () => shows.funded);
  for (let passes = 0; passes < 3; passes += 1) {
    await assert.rejects(settlement.pass('bitcoin'), { code: 'chain_timeout' });
  }
  for (const each of others) assert.equal(await statusOf(each), 'initiator_funded');
});

test('a touched escrow is not lost when the database fails meanwhile', async () => {
  const swap = await newSwap();
  let failing = false;
  const flaky = {
    ...deps,
    db: {
      ...deps.db,
      rows: <Row>(statement: Parameters<typeof deps.db.rows>[0]) =>
        failing && statement.name === 'swaps_of_escrows'
          ? Promise.reject(new Error('connection lost'))
          : deps.db.rows<Row>(statement),
    },
  };
  const following = createSettlement(flaky);
  await following.pass('bitcoin');
  touched.push(swap.long);
  script.set(swap.long, () => shows.funded);
  failing = true;
  await assert.rejects(following.pass('bitcoin'), /connection lost/);
  failing = false;
  await following.pass('bitcoin');
  assert.equal(await statusOf(swap), 'initiator_funded');
  await following.stop();
});

test('only what a chain touched is read, and only on that chain', async () => {
  const [one, two] = [await newSwap(), await newSwap()];
  await settlement.pass('bitcoin');
  const asked: string[] = [];
  for (const address of [one.long, one.short, two.long, two.short]) {
    script.set(address, () => {
      asked.push(address);
      return nothingSeen;
    });
  }
  touched.push(one.long);
  await settlement.pass('bitcoin');
  assert.deepEqual(asked, [one.long]);
});
