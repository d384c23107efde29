// Following and reconciling when facts arrive late, twice, or not at all. The interleavings are
// forced: the adapters are the real ones but for what an escrow shows, which the test says.

import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import type { WatchedEscrow } from '@parley/chains/interface/reading.ts';
import { brokenPolicy } from '@parley/core/deadlines.ts';
import { ParleyError } from '@parley/core/errors.ts';
import { type EscrowFacts, nothingSeen } from '@parley/core/facts.ts';
import type { ChainPolicy, Depth } from '@parley/core/policy.ts';
import { type TestDatabase, testDatabase } from '@parley/verify/test/support/database.ts';
import type { TestDeps } from '@parley/verify/test/support/deps.ts';
import { waitUntil } from '@parley/verify/test/support/waiting.ts';
import { storeHeads } from '../db/heads.ts';
import { type Swap, swapById } from '../db/swaps.ts';
import { storeAddress } from './addresses.ts';
import { createSettlement, passLimits, type Settlement } from './follow.ts';
import { unknownRetrySeconds } from './outcome.ts';
import { reconcile } from './reconcile.ts';
import {
  agreedSwap,
  insertAsset,
  nodelessAdapters,
  nodelessDeps,
  someWallets,
} from './testing/rows.ts';
import { scriptedBy } from './testing/scripted.ts';
import { shows } from './testing/states.ts';
import { swapView } from './view.ts';

let database: TestDatabase;
let deps: TestDeps;
let settlement: Settlement;
let trade: Parameters<typeof agreedSwap>[1];
/** The facts that each escrow shows, by address; a function may wait or throw. */
let script: Map<string, () => EscrowFacts | Promise<EscrowFacts>>;
let asked: WatchedEscrow[];
let touched: string[];

before(async () => {
  database = await testDatabase({ connections: 10 });
  deps = nodelessDeps(
    database.db,
    nodelessAdapters().map(scriptedBy(() => ({ script, asked, touched }))),
  );
  deps.freeze();
  const base = await insertAsset(deps, 'bitcoin', null, null);
  const quote = await insertAsset(deps, 'evm-dev', null, null);
  trade = { direction: 'sell_base', base, quote, baseAmount: 5n, quoteAmount: 5n };
});
beforeEach(() => {
  script = new Map();
  [asked, touched] = [[], []];
  settlement = createSettlement(deps);
});
after(async () => {
  await settlement?.stop();
  await database?.drop();
});

type Made = { id: string; makerId: string; long: string; short: string };

async function newSwap(on: TestDeps = deps): Promise<Made> {
  const { id, makerId, state } = await agreedSwap(on, trade);
  return { id, makerId, long: `${state.legs.b.escrow}`, short: `${state.legs.a.escrow}` };
}

const all = () => ({ chains: 'all' as const, signal: AbortSignal.timeout(60_000) });
const stored = async ({ id }: Made) => (await swapById(deps.db, id)) as Swap;
const statusOf = async (swap: Made) => (await stored(swap)).status;

/** Reconciles with the escrows showing this from now on. */
function show({ id, long, short }: Made, ofLong: EscrowFacts, ofShort?: EscrowFacts) {
  script.set(long, () => ofLong);
  if (ofShort !== undefined) script.set(short, () => ofShort);
  return reconcile(deps, id, all());
}

const fails = (code: 'chain_timeout' | 'chain_unavailable' | null) => () => {
  if (code === null) throw new Error('a defect');
  throw new ParleyError(code, 'away', { chain: 'bitcoin' });
};

async function told({ id, makerId }: Made): Promise<string[]> {
  const rows = await deps.db.rows<{ topic: string }>({
    name: 'test_topics',
    text: `select topic from outbox where account_id = $1 and payload->>'swapId' = $2 order by id`,
    values: [makerId, id],
  });
  return rows.map((row) => row.topic);
}

/** The database, of which statements with such a name fail while that is so. */
const failing = (name: string, isSo: () => boolean) => {
  const { db } = deps;
  const rows = (by: Pick<typeof db, 'rows'>): typeof db.rows => {
    return (statement) =>
      isSo() && statement.name.startsWith(name)
        ? Promise.reject(new Error('the disk is full'))
        : by.rows(statement);
  };
  const transaction: typeof db.transaction = (work) =>
    db.transaction((tx) => work({ ...tx, rows: rows(tx) }));
  return { ...deps, db: { ...db, rows: rows(db), transaction } };
};

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

test('eight at once store one change and emit it once; the same again writes nothing', async () => {
  const swap = await newSwap();
  script.set(swap.long, () => shows.funded);
  script.set(swap.short, () => shows.claiming);
  const looks = Array.from({ length: 8 }, () => reconcile(deps, swap.id, all()));
  const ended = await Promise.allSettled(looks);
  assert.ok(ended.some((each) => each.status === 'fulfilled'));
  // The preimage of another hashlock is no secret of this swap.
  const { status, revision } = await stored(swap);
  assert.equal(status, 'counterparty_funded');
  assert.deepEqual(await told(swap), ['swap.funded', 'swap.funded']);
  assert.equal((await reconcile(deps, swap.id, all()))?.changed, false);
  assert.equal((await stored(swap)).revision, revision);
});

test('an outcome that nobody knows is stored, moves no status, and goes when it is known', async () => {
  const swap = await newSwap();
  await show(swap, shows.funded);
  const unknown = { ...shows.funded, balance: 0n, empty: true, outcome: 'unknown' } as const;
  const known = async () => {
    const { state, status, dueAt } = await stored(swap);
    return [state.legs.b.facts.outcome, status, dueAt];
  };
  assert.equal((await show(swap, unknown))?.changed, true);
  const again = Math.floor(deps.now() / 1_000) + unknownRetrySeconds;
  assert.deepEqual(await known(), ['unknown', 'initiator_funded', again]);
  await show(swap, shows.refunded);
  assert.deepEqual((await known()).slice(0, 2), [undefined, 'refunded']);
  assert.deepEqual(await told(swap), ['swap.funded', 'swap.refunded']);
});

test('the operator’s log names a swap that one side claimed and the other refunded, once', async (t) => {
  const swap = await newSwap();
  await show(swap, shows.funded, shows.funded);
  const logged: unknown[] = [];
  t.mock.method(deps.log, 'error', (facts: unknown) => void logged.push(facts));
  await show(swap, shows.refunded, shows.claimed);
  assert.equal(await statusOf(swap), 'half_settled');
  await reconcile(deps, swap.id, all());
  assert.deepEqual(logged, [{ swapId: swap.id }]);
});

test('updatedAt moves with what its parties read of it, and of a swap that has ended with its status alone', async () => {
  const swap = await newSwap();
  const after = (facts: EscrowFacts, confirmations: number): EscrowFacts => {
    const { claimed } = facts;
    const more = confirmations + (claimed?.confirmations ?? 0);
    return { ...facts, claimed: claimed && { ...claimed, confirmations: more }, empty: false };
  };
  const { seen, funded, claimed } = shows;
  const moves = true;
  const stays = false;
  const isDone = true;
  for (const [long, short, isMoved, done = false] of [
    [seen, nothingSeen, moves],
    [seen, { ...nothingSeen, empty: false }, stays],
    [funded, nothingSeen, moves],
    [funded, { ...nothingSeen, balance: 1n }, moves],
    [after(claimed, 0), after(claimed, 0), moves],
    // Followed on for some blocks, and then done.
    [after(claimed, 1), after(claimed, 0), stays],
    [after(claimed, 2), after(claimed, 9), stays],
    [claimed, claimed, stays, isDone],
    // Taken back by a reorganisation.
    [after(claimed, 0), funded, moves],
  ] as const) {
    deps.advance(1_000);
    const { changed } = (await show(swap, long, short)) ?? {};
    const { updatedAt, done: hasEnded } = await stored(swap);
    assert.deepEqual(
      [changed, updatedAt.getTime() === deps.now(), hasEnded],
      [true, isMoved, done],
    );
  }
});

test('status and events commit together or not at all', async () => {
  const swap = await newSwap();
  script.set(swap.long, () => shows.funded);
  const broken = failing('outbox', () => true);
  await assert.rejects(reconcile(broken, swap.id, all()), /disk is full/);
  assert.equal(await statusOf(swap), 'agreed');
  await reconcile(deps, swap.id, all());
  assert.equal(await statusOf(swap), 'initiator_funded');
  assert.deepEqual(await told(swap), ['swap.funded']);
});

test('one swap that cannot be read does not hold up the others, and is tried again, whatever its other chain shows meanwhile', async () => {
  const sick = await newSwap();
  const well = await newSwap();
  script.set(sick.long, fails(null));
  script.set(well.long, () => shows.funded);
  assert.equal((await settlement.pass('bitcoin')).left, 0);
  assert.equal(await statusOf(well), 'initiator_funded');
  script.set(sick.long, () => shows.funded);
  script.set(sick.short, () => shows.seen);
  const { signal } = all();
  const other = await reconcile(deps, sick.id, { chains: ['evm-dev'], signal });
  assert.equal(other?.changed, true);
  assert.equal(await statusOf(sick), 'agreed');
  deps.advance(31_000);
  await settlement.passDue();
  assert.equal(await statusOf(sick), 'initiator_funded');
});

test('a chain that fails ends its pass; the next one takes up what was observed, once', async () => {
  const swap = await newSwap();
  await settlement.pass('bitcoin');
  touched.push(swap.long);
  script.set(swap.long, fails('chain_unavailable'));
  await assert.rejects(settlement.pass('bitcoin'), { code: 'chain_unavailable' });
  script.set(swap.long, () => shows.funded);
  const pass = await settlement.pass('bitcoin');
  assert.deepEqual([pass.touched, pass.reconciled, pass.left], [0, 1, 0]);
  assert.equal(await statusOf(swap), 'initiator_funded');
});

test('escrows that never answer do not keep the others of their chain waiting', async () => {
  await settlement.pass('bitcoin');
  const made: Made[] = [];
  while (made.length < 2 * passLimits.parallel) made.push(await newSwap());
  for (const [at, { long }] of made.entries()) {
    script.set(long, at < passLimits.parallel ? fails('chain_timeout') : () => shows.funded);
  }
  for (let passes = 0; passes < 3; passes += 1) {
    await assert.rejects(settlement.pass('bitcoin'), { code: 'chain_timeout' });
  }
  for (const each of made.slice(passLimits.parallel)) {
    assert.equal(await statusOf(each), 'initiator_funded');
  }
});

test('a chain that hangs does not hold up the other, nor what time changes', async () => {
  const swap = await newSwap();
  const unplanned = await newSwap();
  await show(swap, shows.funded);
  // The swap has no planned escrow, so the chain is not asked: expiry needs no chain.
  const sql = (text: string) => deps.db.rows({ name: '', text, values: [unplanned.id] });
  await sql('update legs set escrow = null where swap_id = $1');
  await sql('delete from escrows where swap_id = $1');
  script.set(swap.long, () => new Promise(() => {}));
  script.set(swap.short, () => shows.funded);
  const settings = { ...deps.settings, followIntervalMs: 20, chainTimeoutMs: 60_000 };
  const following = createSettlement({ ...deps, settings });
  following.start();
  try {
    await waitUntil(async () => (await statusOf(swap)) === 'counterparty_funded');
    const { expiresAt } = (await stored(unplanned)).state.deadlines;
    deps.advance((expiresAt + 1) * 1_000 - deps.now());
    await waitUntil(async () => (await statusOf(unplanned)) === 'expired');
  } finally {
    await following.stop();
  }
});

test('a swap on a silent chain neither expires nor is forgotten', async () => {
  const swap = await newSwap();
  script.set(swap.long, fails('chain_timeout'));
  const { expiresAt } = (await stored(swap)).state.deadlines;
  deps.advance((expiresAt + 1) * 1_000 - deps.now());
  await settlement.passDue();
  assert.equal(await statusOf(swap), 'agreed');
  // Funded in the last minute, while the market could not see it.
  script.set(swap.long, () => shows.funded);
  deps.advance(31_000);
  await settlement.passDue();
  assert.equal(await statusOf(swap), 'initiator_funded');
});

test('a touched escrow is not lost when the database fails meanwhile', async () => {
  const swap = await newSwap();
  let isDown = false;
  const following = createSettlement(failing('swaps_of_escrows', () => isDown));
  await following.pass('bitcoin');
  touched.push(swap.long);
  script.set(swap.long, () => shows.funded);
  isDown = true;
  await assert.rejects(following.pass('bitcoin'), /disk is full/);
  isDown = false;
  await following.pass('bitcoin');
  assert.equal(await statusOf(swap), 'initiator_funded');
  await following.stop();
});

test('only what a chain touched is read, and only on that chain', async () => {
  const one = await newSwap();
  await newSwap();
  await settlement.pass('bitcoin');
  asked = [];
  touched.push(one.long);
  await settlement.pass('bitcoin');
  assert.deepEqual(
    asked.map(({ address }) => address),
    [one.long],
  );
});

/** Every number is another one. */
function other(policy: ChainPolicy): ChainPolicy {
  const deeper = ({ confirmations, settleSeconds, outageSeconds }: Depth): Depth => ({
    confirmations: confirmations + 3,
    settleSeconds: settleSeconds + 600,
    outageSeconds: outageSeconds + 600,
  });
  const { normal, high, windowSeconds: _, ...seconds } = policy;
  const longer = Object.entries(seconds).map(([each, value]) => [each, value + 600]);
  const depths = { normal: deeper(normal), high: deeper(high), windowSeconds: 1_200 };
  const made = { ...Object.fromEntries(longer), ...depths } as ChainPolicy;
  assert.deepEqual(brokenPolicy(made), []);
  return made;
}

test('other policies under an open swap move nothing of it; what is agreed now has the rules of now', async () => {
  const swap = await newSwap();
  // As a formula of another version would have left it.
  const text = `update swaps set rules = jsonb_set(rules, '{formula}', '999') where id = $1`;
  await deps.db.rows({ name: 'test_formula', text, values: [swap.id] });
  const kept = async (of = swap) => {
    const { rules, deadlines, legs } = swapView(await stored(of), 'maker', deps.now());
    const fixed = [legs.a, legs.b].map((leg) => {
      const { long, timelock, escrow, requiredConfirmations, amount } = leg;
      return { long, timelock, escrow, requiredConfirmations, amount };
    });
    return { rules, deadlines, fixed };
  };
  const began = await kept();
  const adapters = new Map(
    [...deps.adapters].map(([chain, each]) => [chain, { ...each, policy: other(each.policy) }]),
  );
  const restarted = { ...deps, adapters };
  script.set(swap.long, () => shows.funded);
  await createSettlement(restarted).pass('bitcoin');
  assert.equal(await statusOf(swap), 'initiator_funded');
  assert.deepEqual(await kept(), began);
  const depthOf = (of: Made) =>
    asked.find(({ address }) => address === of.long)?.requiredConfirmations;
  assert.equal(depthOf(swap), began.fixed[1]?.requiredConfirmations);
  const fresh = await newSwap(restarted);
  await show(fresh, nothingSeen);
  assert.notDeepEqual((await kept(fresh)).rules.policies, began.rules.policies);
  assert.equal(depthOf(fresh), Number(depthOf(swap)) + 3);
});

test('a payment in a former escrow waits for the timelock, from which on its refund is offered', async () => {
  const { id, takerId, state } = await agreedSwap(deps, trade);
  const { escrow: former, timelock } = state.legs.a;
  const { address } = someWallets().evm;
  const request = { accountId: takerId, swapId: id, chain: 'evm-dev', address, keySignature: null };
  const to = { leg: 'a', party: 'taker', destination: { address, pubkey: null } } as const;
  await deps.db.transaction((tx) => storeAddress(tx, deps, request, { ...to, lifted: null }));
  script.set(`${former}`, () => shows.funded);
  await reconcile(deps, id, all());
  for (const [clock, action] of [
    [timelock - 1, 'wait'],
    [timelock + 1, 'refund'],
  ] as const) {
    await storeHeads(
      deps.db,
      'evm-dev',
      { height: 1, hash: `${clock}`, clock, doneTo: null },
      new Date(),
      null,
    );
    const swap = (await swapById(deps.db, id)) as Swap;
    const { next } = swapView(swap, 'maker', clock * 1_000);
    const own = next.filter(({ why }) => why.includes(`${former}`));
    assert.deepEqual(
      own.map((step) => [step.by, step.action, step.leg]),
      [['counterparty', action, 'a']],
    );
  }
});
