// A server that dies at each step of a relay: whatever it had answered or stored lands by another
// server, and what was not stored was never public. Each statement of the keeper and both sides of
// the sending are such a step; from there on nothing of the dead one reaches database or chain.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { ChainAdapter } from '../../chains/adapter.ts';
import type { Database, Statement, Tx } from '../db/database.ts';
import { buildApp } from '../edge/app.ts';
import { evm2, must, requestsTo } from '../settle/testing/world.ts';
import { createKeeper } from './passes.ts';
import {
  agree,
  attemptsOn,
  type Desk,
  deepen,
  fundBoth,
  hurry,
  jobsOf,
  keep,
  legOf,
  startDesk,
  swapOf,
} from './testing/desk.ts';

const limits = { timeout: 230_000 };
let desk: Desk;
before(async () => {
  desk = await startDesk();
}, limits);
after(() => desk?.close());

type Life = { left: number; at: string | null };

/** Throws once its life is over, and ever after. */
function step(life: Life, what: string): void {
  if (life.left > 0) {
    life.left -= 1;
    return;
  }
  life.at ??= what;
  throw new Error(`killed at ${life.at}`);
}

const counted = /^(keeper_(?!take_up|sums|live|find|count)|upsert_reply)/;

function mortal(db: Database, life: Life): Database {
  const over = <T extends Tx>(tx: T): T => ({
    ...tx,
    rows: async <Row>(statement: Statement) => {
      if (life.at !== null || counted.test(statement.name)) step(life, statement.name);
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

/** Asks one that dies after so many steps; what it answered, and where it died. */
async function askOne(deal: Awaited<ReturnType<typeof agree>>, steps: number) {
  const life: Life = { left: steps, at: null };
  const adapters = new Map(desk.deps.adapters);
  adapters.set(evm2, mortalAdapter(adapters.get(evm2) as ChainAdapter, life));
  const deps = { ...desk.deps, adapters, db: mortal(desk.deps.db, life) };
  const app = await buildApp(deps);
  const keeper = createKeeper(deps);
  const body = { secret: deal.secret, relay: true };
  const headers = { 'idempotency-key': `relay-${deal.id}` };
  const { key } = deal.taker;
  const answer = await requestsTo(app, key).post(legOf(deal, 'a', 'claim'), body, headers);
  await keeper.pass(evm2).catch(() => {});
  await keeper.stop();
  await app.close();
  return { answer, diedAt: life.at };
}

test(
  'killed at any step, it lands or was never public; and it is one transaction',
  limits,
  async () => {
    const places: string[] = [];
    for (let steps = 0; ; steps += 1) {
      assert.ok(steps < 40, places.join(', '));
      const deal = await agree(desk);
      await fundBoth(desk, deal);
      const { answer, diedAt } = await askOne(deal, steps);
      places.push(diedAt ?? 'lived');
      const stored = (await jobsOf(desk, deal)).length > 0;
      if (answer.status === 200) assert.ok(stored, `answered and not stored, ${diedAt}`);
      if (!stored)
        assert.equal((await swapOf(deal)).secret, null, `public and not stored, ${diedAt}`);
      // The dead one's turn ends by the database's clock.
      const text = `update keeper_turns set until = 'epoch'`;
      await desk.deps.db.rows({ name: 'test_turns', text, values: [] });
      const body = { secret: deal.secret, relay: true };
      const again = stored
        ? null
        : must(await deal.taker.post(legOf(deal, 'a', 'claim'), body, {}));
      await hurry(desk);
      await keep(desk);
      await deepen(desk);
      const { legs } = await swapOf(deal);
      assert.deepEqual([legs.a.status, legs.a.claimedBy], ['claimed', 'keeper'], diedAt ?? 'lived');
      const txid = again?.txid ?? (answer.status === 200 ? answer.body.txid : legs.a.claimTx);
      assert.equal(legs.a.claimTx, txid);
      const own = (await attemptsOn(desk, deal)).filter(({ chain }) => chain === evm2);
      assert.equal(own.length, 1, `signed once, ${diedAt}`);
      if (diedAt === null) break;
    }
    for (const place of [
      'keeper_take_turn',
      'keeper_insert_relay',
      'keeper_insert_attempt',
      'upsert_reply',
      'keeper_mark_sent',
      'before the node has it',
      'after the node has it',
    ]) {
      assert.ok(places.includes(place), `${place} was not tried: ${places.join(', ')}`);
    }
  },
);
