// A server that dies at each step of a relay, of a funding that it sends for who signed it, or of a
// batch: whatever it had answered or stored lands by another server, and what was not stored was
// never public. The statements that change something and both
// sides of the sending are such steps; from there on nothing of the dead one reaches anything.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { ChainAdapter } from '../../chains/adapter.ts';
import type { Asset } from '../db/assets.ts';
import type { Database, Statement, Tx } from '../db/database.ts';
import { buildApp } from '../edge/app.ts';
import { evm, evm2, must, requestsTo } from '../settle/testing/world.ts';
import { createKeeper } from './passes.ts';
import {
  agree,
  attemptsOn,
  claimOwn,
  type Deal,
  type Desk,
  deepen,
  ether,
  fundBoth,
  fundedDeal,
  hurry,
  jobsOf,
  keep,
  type Loose,
  legOf,
  passes,
  startDesk,
  swapOf,
} from './testing/desk.ts';
import {
  askFunding,
  dollarDeal,
  escrowOf,
  fundBySignature,
  listDollar,
  signatureOf,
} from './testing/funding.ts';

const limits = { timeout: 230_000 };
let desk: Desk;
let dollar: Asset | undefined;
before(async () => {
  desk = await startDesk();
}, limits);
after(() => desk?.close());

type Life = { readonly ends: string; over: boolean };

/** Throws when its life ends here, and ever after. */
function step(life: Life, what: string): void {
  if (what === life.ends) life.over = true;
  if (life.over) throw new Error(`killed at ${life.ends}`);
}

function mortal(db: Database, life: Life): Database {
  const over = <T extends Tx>(tx: T): T => ({
    ...tx,
    rows: async <Row>(statement: Statement) => {
      step(life, statement.name);
      return tx.rows<Row>(statement);
    },
  });
  return {
    ...over(db),
    transaction: (work) => db.transaction((tx) => work(over(tx))),
  };
}

function mortalAdapter(adapter: ChainAdapter, life: Life): ChainAdapter {
  return {
    ...adapter,
    broadcast: async (transaction, signal) => {
      step(life, 'before the node has it');
      const txid = await adapter.broadcast(transaction, signal);
      step(life, 'after the node has it');
      return txid;
    },
  };
}

/** Another server that dies there. */
function mortalServer(ends: string) {
  const life: Life = { ends, over: false };
  const adapters = new Map(desk.deps.adapters);
  for (const chain of [evm, evm2]) {
    adapters.set(chain, mortalAdapter(adapters.get(chain) as ChainAdapter, life));
  }
  const deps = { ...desk.deps, adapters, db: mortal(desk.deps.db, life) };
  return { life, deps, keeper: createKeeper(deps) };
}

/** Asks one that dies there; what it answered, and whether it died. */
async function askOne(deal: Deal, ends: string) {
  const { life, deps, keeper } = mortalServer(ends);
  const app = await buildApp(deps);
  const body = { secret: deal.secret, relay: true };
  const headers = { 'idempotency-key': `relay-${deal.id}` };
  const { key } = deal.taker;
  const answer = await requestsTo(app, key).post(legOf(deal, 'a', 'claim'), body, headers);
  await keeper.pass(evm2).catch(() => {});
  await keeper.stop();
  await app.close();
  return { answer, died: life.over };
}

/** The dead one's turn ends by the database's clock. */
async function endTurns(): Promise<void> {
  const text = `update keeper_turns set until = 'epoch'`;
  await desk.deps.db.rows({ name: 'test_turns', text, values: [] });
}

for (const place of [
  'keeper_take_turn',
  'keeper_insert_asked',
  'keeper_insert_attempt',
  'keep_reply',
  'keeper_mark_sent',
  'before the node has it',
  'after the node has it',
  'keeper_put_off',
]) {
  test(`killed at ${place}, it lands once or was never public`, limits, async () => {
    const deal = await agree(desk);
    await fundBoth(desk, deal);
    const { answer, died } = await askOne(deal, place);
    assert.ok(died, 'it was never reached');
    const stored = (await jobsOf(desk, deal)).length > 0;
    if (answer.status === 200) assert.ok(stored, 'answered and not stored');
    if (!stored) assert.equal((await swapOf(deal)).secret, null, 'public and not stored');
    await endTurns();
    const body = { secret: deal.secret, relay: true };
    const path = legOf(deal, 'a', 'claim');
    const again = stored ? null : must(await deal.taker.post(path, body, {}));
    await passes(desk);
    const { legs } = await swapOf(deal);
    assert.deepEqual([legs.a.status, legs.a.claimedBy], ['claimed', 'keeper']);
    const txid = again?.txid ?? (answer.status === 200 ? answer.body.txid : legs.a.claimTx);
    assert.equal(legs.a.claimTx, txid);
    const own = await attemptsOn(desk, deal, evm2);
    assert.equal(own.length, 1, 'signed once');
  });
}

for (const place of [
  'keeper_take_turn',
  'keeper_insert_asked',
  'keeper_insert_attempt',
  'keeper_mark_sent',
  'before the node has it',
  'after the node has it',
  'keeper_put_off',
]) {
  test(`killed at ${place}, a signed funding is taken on once or not at all`, limits, async () => {
    dollar ??= await listDollar(desk);
    // Of what the key has, so much is kept for claims.
    (desk.deps.gas.get(evm2) as Loose).dailyCap = ether / 2n;
    const deal = await dollarDeal(desk, dollar);
    const { life, deps, keeper } = mortalServer(place);
    const signed = { signature: await signatureOf(desk, deal), escrow: await escrowOf(deal) };
    const answer = await askFunding({ deps }, deal, signed).catch(() => null);
    await keeper.pass(evm2).catch(() => {});
    await keeper.stop();
    assert.ok(life.over, 'it was never reached');
    const stored = (await jobsOf(desk, deal)).length > 0;
    assert.equal(answer !== null, stored, 'answered and stored, or neither');
    await endTurns();
    const again = await fundBySignature(desk, deal);
    if (answer !== null) assert.deepEqual(again, answer);
    await passes(desk);
    assert.equal((await swapOf(deal)).legs.a.status, 'funded');
    const own = await attemptsOn(desk, deal);
    assert.deepEqual(
      own.map(({ verb, txid }) => [verb, txid]),
      [['fund', again.txid]],
    );
  });
}

for (const place of ['keeper_put_on', 'before the node has it', 'after the node has it']) {
  test(
    `killed at ${place}, each claim of a batch lands, and is signed for once`,
    limits,
    async () => {
      const deals = [await fundedDeal(desk), await fundedDeal(desk)];
      const gas = desk.deps.gas.get(evm) as Loose;
      // Both are due before either is signed.
      gas.dailyCap = 0n;
      for (const deal of deals) await claimOwn(desk, deal);
      await deepen(desk);
      await keep(desk);
      gas.dailyCap = ether;
      const { life, keeper } = mortalServer(place);
      await hurry(desk);
      await keeper.pass(evm).catch(() => {});
      await keeper.stop();
      assert.ok(life.over, 'it was never reached');
      await endTurns();
      for (let pass = 0; pass < 3; pass += 1) {
        await passes(desk);
      }
      const claims = await Promise.all(deals.map(async (deal) => (await swapOf(deal)).legs.b));
      for (const { status, claimedBy } of claims) {
        assert.deepEqual([status, claimedBy], ['claimed', 'keeper']);
      }
      assert.equal(claims[0].claimTx, claims[1].claimTx);
      const own = (await Promise.all(deals.map((deal) => attemptsOn(desk, deal)))).flat();
      const onLong = own.filter(({ chain }) => chain === evm);
      assert.deepEqual(
        onLong.map(({ txid }) => txid),
        [claims[0].claimTx],
      );
    },
  );
}
