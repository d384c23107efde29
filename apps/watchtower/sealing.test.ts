// A sealed row of the keeper outlives the server's key under which it was kept: a promised claim
// lands whoever took the old key out, as long as a server has started with both in between.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { keyringOf } from '@parley/market/ports/keyring.ts';
import { must } from '@parley/market/settle/testing/world.ts';
import { resealKept } from '@parley/market/start/watchtower.ts';
import { type TestDeps, testDeps } from '@parley/verify/test/support/deps.ts';
import { attemptsOf } from './db/attempts.ts';
import { findJob } from './db/jobs.ts';
import { openSecret, openTransaction, sealTransaction } from './sealing.ts';
import { onMarket, short } from './testing/market.ts';

const m = onMarket();
const aKey = () => randomBytes(32).toString('hex');
const sealOf = ({ settings }: Pick<TestDeps, 'settings'>) => ({ seal: keyringOf(settings) });
/** A server that holds these keys, by commas. */
const under = (encryptionKey: string) => {
  return { ...m.deps, settings: { ...m.deps.settings, encryptionKey } };
};

test('a relay that was kept and not sent lands by a server that has only the new key', async () => {
  const deal = await m.funded();
  const { txid } = must(await m.relay(deal));
  /** The job of a relay and its only transaction, as they are kept. */
  const keptOf = async () => {
    const { address: escrow } = await m.escrowOn(deal);
    const job = await findJob(m.deps.db, { chain: short, escrow, verb: 'claim' });
    assert.ok(job !== null);
    const [attempt] = await attemptsOf(m.deps.db, job.id);
    assert.ok(attempt !== undefined);
    return { job, attempt };
  };
  const before = await keptOf();
  assert.equal(before.attempt.sentAt, null, 'no node can have it');
  const transaction = openTransaction(sealOf(m.deps), before.attempt);
  assert.ok(transaction?.txid === txid);
  const newKey = aKey();
  const alone = under(newKey);
  assert.equal(openTransaction(sealOf(alone), before.attempt), null);
  assert.equal(openSecret(sealOf(alone), before.job), null);
  await resealKept(under(`${newKey},${m.deps.settings.encryptionKey}`));
  const sealed = await keptOf();
  assert.deepEqual(openTransaction(sealOf(alone), sealed.attempt), transaction);
  assert.equal(openSecret(sealOf(alone), sealed.job), deal.secret);
  const server = await m.open({ encryptionKey: newKey });
  await server.keeper.pass(short);
  await m.deepen();
  const { a } = (await m.swap(deal)).legs;
  assert.deepEqual([a.status, a.claimedBy, a.claimTx], ['claimed', 'keeper', txid]);
  assert.equal((await m.attempts(deal)).length, 1, 'nothing was signed anew');
});

/** So many transactions under a key, each with bytes of its own. */
async function keepMany(deps: TestDeps, key: string, count: number): Promise<void> {
  const own = sealOf({ settings: { ...deps.settings, encryptionKey: key } });
  const sealed = Array.from({ length: count }, (_, at) =>
    sealTransaction(own, { txid: '', raw: `bytes ${at}`, touches: [] }),
  );
  await deps.db.rows({
    name: 'test_keep_many',
    text: `insert into keeper_attempts (chain, address, verb, txid, sealed, sealed_version, offer,
        most_cost, charged, signed_at)
      select 'somewhere', 'nobody', 'void', gen_random_uuid(), sealed, $2, 0, 0, 0, now()
      from unnest($1::bytea[]) as sealed`,
    values: [sealed.map((each) => each.sealed), sealed[0]?.version],
  });
}

/** The rows that a server with this key alone can open, in the order of keeping. */
async function openedBy(deps: TestDeps, key: string): Promise<string[]> {
  const rows = await deps.db.rows<{ sealed: Buffer; sealedVersion: number }>({
    name: 'test_kept',
    text: 'select sealed, sealed_version as "sealedVersion" from keeper_attempts order by id',
    values: [],
  });
  const own = sealOf({ settings: { ...deps.settings, encryptionKey: key } });
  return rows.flatMap((row) => openTransaction(own, row)?.raw ?? []);
}

test('each of more than go at once is sealed anew, past those that no key opens', async () => {
  const lostKey = aKey();
  const old = aKey();
  const fresh = aKey();
  const warned: unknown[] = [];
  const { db } = m.deps;
  const deps = testDeps({ db, settings: { encryptionKey: `${fresh},${old}` } });
  const warn = (facts: unknown) => void warned.push(facts);
  const count = 200 + 1;
  const bytes = Array.from({ length: count }, (_, at) => `bytes ${at}`);
  await keepMany(deps, lostKey, 200);
  await keepMany(deps, old, count);
  await resealKept({ ...deps, log: { ...deps.log, warn } as typeof deps.log });
  assert.deepEqual(await openedBy(deps, fresh), bytes);
  assert.deepEqual(await openedBy(deps, old), []);
  assert.deepEqual(await openedBy(deps, lostKey), bytes.slice(0, 200), 'left as they were');
  assert.deepEqual(warned, [{ attempts: 200 }]);
});

test('a row that another transaction holds at that moment is sealed anew when it lets go', async () => {
  const old = aKey();
  const fresh = aKey();
  const deps = testDeps({ db: m.deps.db, settings: { encryptionKey: `${fresh},${old}` } });
  await keepMany(deps, old, 3);
  const held = Promise.withResolvers<void>();
  const letGo = Promise.withResolvers<void>();
  const text = 'select id from keeper_attempts order by id limit 1 for update';
  const holding = deps.db.transaction(async (tx) => {
    await tx.rows({ name: 'test_hold', text, values: [] });
    held.resolve();
    await letGo.promise;
  });
  await held.promise;
  const resealing = resealKept(deps);
  const first = await Promise.race([resealing, sleep(300, 'waits')]);
  letGo.resolve();
  await Promise.all([holding, resealing]);
  assert.equal(first, 'waits');
  assert.equal((await openedBy(deps, fresh)).length, 3);
});
