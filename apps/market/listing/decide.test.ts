// Looks that end in another order than they began, and decisions while others hold the locks.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Trader } from '@parley/verify/test/support/trading.ts';
import { takeDueAssets } from '../db/assets.ts';
import { addCandidate, findCandidate, takeDueCandidates } from '../db/candidates.ts';
import { connect, type Database } from '../db/database.ts';
import { findListing } from '../db/listing.ts';
import { seedAssets } from '../market/assets.ts';
import { closeAsset, curateAsset } from '../market/listing.ts';
import { tryAgainMs } from './bounds.ts';
import { decide } from './decide.ts';
import type { Judgement } from './judge.ts';
import { chain, type Looks, launched, lookMarket } from './testing/looks.ts';

let market: Looks;
let taker: Trader;
/** Another pool on the same database: it acts as another process would. */
let other: Database;

before(async () => {
  market = await lookMarket({ chainTimeoutMs: 1_000, listingLimit: 1_000 });
  taker = await market.trader();
  other = connect(market.url);
});
after(async () => {
  await other.close();
  await market.close();
});

const now = () => market.deps.now();
const ask = (address: string) => taker.post('/v1/assets', { chain, address });
const candidate = (address: string) => findCandidate(market.db, chain, address);
const stateOf = async (id: string) => (await findListing(market.db, id))?.state;
const listed = async (address = market.says({})): Promise<{ id: string; address: string }> =>
  (await ask(address)).body.asset;
const close = (assetId: string, db = market.db) =>
  db.transaction((tx) =>
    closeAsset(tx, { assetId, by: 'checks', at: new Date(now()), reasons: ['x'] }),
  );
const decided = (address: string, judgement: Judgement | null, db = market.db) => {
  const wish = { chain, address, source: 'api', accountId: taker.accountId };
  return db.transaction((tx) => decide(tx, market.deps, wish, judgement));
};
/** A look that began `agoMs` ago. */
const look = (outcome: Judgement['outcome'], agoMs: number, assetId: string | null): Judgement => {
  const beganAt = new Date(now() - agoMs);
  const read = { symbol: 'LATE', decimals: 18 };
  return { ...read, outcome, beganAt, assetId, reasons: [`${outcome}: ${agoMs}`], notChecked: [] };
};

test('a finding from before a token was listed changes nothing of the asset', async () => {
  const { id, address } = await listed();
  await addCandidate(market.db, launched(market, address));
  for (const outcome of ['wait', 'reject', 'pass'] as const) {
    assert.equal((await decided(address, look(outcome, 0, null))).status, 'listed', outcome);
    assert.equal(await stateOf(id), 'open');
  }
});

test('a candidate of a token that is listed by then goes with the look at it', async () => {
  const { address } = await listed();
  await market.db.rows({
    name: '',
    text: `insert into candidates (id, chain, address, source, status, created_at, next_check_at,
        gives_up_at) values (gen_random_uuid(), $1, $2, 'api', 'pending', now(), now(), now())`,
    values: [chain, address],
  });
  await decided(address, look('wait', 0, null));
  assert.equal(await candidate(address), null);
});

test('the later begun of two checks of a listed token counts, whichever ends last', async () => {
  const { id, address } = await listed();
  market.deps.advance(60_000);
  await decided(address, look('pass', 10_000, id));
  assert.equal((await decided(address, look('reject', 20_000, id))).status, 'listed');
  assert.equal(await stateOf(id), 'open');
  assert.equal((await decided(address, look('wait', 5_000, id))).status, 'closed');
  assert.equal((await decided(address, look('pass', 7_000, id))).status, 'closed');
});

test('the later begun of two checks of a candidate counts, whichever ends last', async () => {
  const address = market.says({});
  await decided(address, look('wait', 5_000, null));
  for (const outcome of ['pass', 'reject', 'wait'] as const) {
    const decision = await decided(address, look(outcome, 9_000, null));
    assert.deepEqual(decision, { status: 'pending', reasons: ['wait: 5000'] });
  }
  assert.equal((await decided(address, look('reject', 4_000, null))).status, 'rejected');
});

test('a look that ends after its token was curated changes nothing', async () => {
  const { id, address } = await listed();
  await market.db.transaction((tx) => curateAsset(tx, id, null));
  for (const outcome of ['reject', 'wait'] as const) {
    assert.equal((await decided(address, look(outcome, 0, id))).status, 'listed', outcome);
  }
});

test('a delisting wants a second look that began a day after the first', async () => {
  const { id, address } = await listed();
  await decided(address, look('reject', 0, id));
  market.deps.advance(86_401_000);
  assert.equal((await decided(address, look('reject', 2_000, id))).status, 'closed');
  assert.equal((await decided(address, look('reject', 0, id))).status, 'delisted');
});

test('a second request does not shorten the lease of a check under way', async () => {
  const address = market.says({});
  await decided(address, null);
  const at = new Date(now());
  const lease = new Date(now() + tryAgainMs);
  assert.equal(
    (await takeDueCandidates(market.db, [chain], at, lease, 'api', 100)).length > 0,
    true,
  );
  await decided(address, null);
  assert.deepEqual((await candidate(address))?.nextCheckAt, lease);
  assert.deepEqual(await takeDueAssets(market.db, ['nowhere'], at, lease, 1), []);
});

test('a token that is curated, by the settings or an operator, is no candidate', async () => {
  const seeded = market.says('nothing');
  const curated = market.says({});
  await addCandidate(market.db, launched(market, seeded));
  const settings = [
    { chain: 'bitcoin', symbol: 'BTC', address: null, decimals: 8 },
    { chain, symbol: 'SEED', address: seeded, decimals: 6 },
  ];
  await seedAssets(market.db, market.deps, settings);
  assert.equal(await candidate(seeded), null);
  const { id } = await listed(curated);
  await market.db.rows({
    name: '',
    text: `insert into candidates (id, chain, address, source, status, created_at, next_check_at,
        gives_up_at) values (gen_random_uuid(), $1, $2, 'api', 'pending', now(), now(), now())`,
    values: [chain, curated],
  });
  await market.db.transaction((tx) => curateAsset(tx, id, null));
  assert.equal(await candidate(curated), null);
});

test('while ten thousand orders close elsewhere, who asks is answered and nobody waits for it', async () => {
  const open = await listed();
  const closed = await listed();
  await close(closed.id);
  const waiting = market.says('nothing');
  await market.db.rows({
    name: '',
    text: `insert into rfqs (id, creator_id, direction, base_asset_id, base_amount, quote_asset_id,
        visibility, status, created_at, expires_at, updated_at)
      select gen_random_uuid(), $1, 'sell_base', $2, 100000, $3, 'public', 'open', now(),
        now() + interval '7 days', now()
      from generate_series(1, 10000)`,
    values: [taker.accountId, open.id, market.assets.btc.id],
  });
  const told = Promise.withResolvers<number>();
  const answered = Promise.withResolvers<void>();
  const closing = other.transaction(async (tx) => {
    const change = { assetId: open.id, by: 'operator' as const, at: new Date(now()) };
    told.resolve((await closeAsset(tx, { ...change, reasons: ['x'] })).orders);
    await answered.promise;
  });
  assert.equal(await told.promise, 10_000);
  const asked = Promise.all([
    ...Array.from({ length: 12 }, () => ask(open.address)),
    ask(closed.address),
    ask(market.says({})),
    // An account of its own: each has two looks at a time.
    (await market.trader()).post('/v1/assets', { chain, address: waiting }),
  ]);
  assert.equal((await taker.get('/v1/rfqs')).status, 200);
  const answers = (await asked).map(({ status, code }) => `${status} ${code}`);
  answered.resolve();
  await closing;
  const expected = [...Array(12).fill('200 null'), '503 overloaded', '201 null', '202 null'];
  assert.deepEqual(answers, expected);
  assert.equal((await ask(closed.address)).body.status, 'listed', 'it can be asked again');
});
