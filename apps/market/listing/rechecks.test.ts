// The tokens inspected in the background, their times, and the results.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { ParleyError } from '@parley/core/errors.ts';
import { found } from '@parley/tokens/inspection.ts';
import { addCandidate, findCandidate } from '../db/candidates.ts';
import { findListing } from '../db/listing.ts';
import { candidateForMs } from './bounds.ts';
import { createRechecks, type Rechecks } from './rechecks.ts';
import { chain, type Looks, launched, lookMarket } from './testing/looks.ts';

let market: Looks;
let rechecks: Rechecks;

before(async () => {
  market = await lookMarket();
  rechecks = createRechecks(market.deps);
  market.deps.freeze();
});
after(async () => {
  await rechecks.stop();
  await market.close();
});

const hour = 3_600_000;
const day = 24 * hour;
const wait = { findings: [found('pausable', 'wait', 'its owner can pause it')] };
const reject = { findings: [found('transfer', 'reject', '3 of 100 did not arrive')] };
const away = new ParleyError('chain_unavailable', 'away');
/** By an account of its own: a key ends sooner than some tests. */
const ask = async (address: string) => {
  const taker = await market.trader();
  return (await taker.post('/v1/assets', { chain, address })).body;
};
const assetsAt = async (address: string) => {
  const reader = await market.trader();
  return (await reader.get(`/v1/assets?address=${address}`)).body.assets;
};
const listed = async (): Promise<{ id: string; address: string }> => {
  const { asset } = await ask(market.says({}));
  return asset;
};
const stateOf = async (id: string) => (await findListing(market.db, id))?.state;
const statusOf = async (address: string) =>
  (await findCandidate(market.db, chain, address))?.status;
const passes = async () => {
  while ((await rechecks.pass()) > 0);
};

test('a candidate is looked at every hour, not before, and listed when it passes', async () => {
  const address = market.says(wait);
  assert.equal((await ask(address)).status, 'pending');
  market.deps.advance(hour - 1_000);
  await passes();
  assert.equal(market.looksAt(address), 1);
  market.deps.advance(1_000);
  await passes();
  assert.equal(market.looksAt(address), 2);
  await passes();
  assert.equal(market.looksAt(address), 2);
  market.says({}, address);
  market.deps.advance(hour);
  await passes();
  const [asset, ...others] = await assetsAt(address);
  assert.deepEqual([asset.source, others], ['api', []]);
  assert.equal(await statusOf(address), undefined);
});

test('after seven days it is looked at no longer; asked for again it begins anew', async () => {
  const address = market.says(wait);
  await ask(address);
  market.deps.advance(candidateForMs);
  await passes();
  assert.equal(await statusOf(address), 'pending');
  market.deps.advance(hour);
  const before = market.looksAt(address);
  await passes();
  assert.deepEqual([await statusOf(address), market.looksAt(address)], ['expired', before]);
  assert.equal((await ask(address)).status, 'pending');
  assert.equal(await statusOf(address), 'pending');
  market.deps.advance(hour);
  await passes();
  assert.equal(market.looksAt(address), before + 2);
});

test('a waiting token is rejected for ever, or dropped where it is no token', async () => {
  const bad = market.says(wait);
  const gone = market.says(wait);
  await ask(bad);
  await ask(gone);
  market.says(reject, bad);
  market.says(new ParleyError('not_a_token', 'there is no contract'), gone);
  market.deps.advance(hour);
  await passes();
  assert.deepEqual([await statusOf(bad), await statusOf(gone)], ['rejected', undefined]);
  market.deps.advance(98 * day);
  await passes();
  assert.equal(await statusOf(bad), undefined, 'remembered for 90 days after its time');
});

test('a listed token that fails closes within a day, and reopens when it passes again', async () => {
  const { id, address } = await listed();
  market.says(wait, address);
  market.deps.advance(18 * hour - 1_000);
  await passes();
  assert.equal(await stateOf(id), 'open');
  market.deps.advance(6 * hour + 1_000);
  await passes();
  assert.equal(await stateOf(id), 'closed');
  market.says({}, address);
  market.deps.advance(day);
  await passes();
  assert.equal(await stateOf(id), 'open');
});

test('a safety failure closes at once, and delists when no look within a day finds it well', async () => {
  const bad = await listed();
  const lied = await listed();
  market.says(reject, bad.address);
  market.says(reject, lied.address);
  market.deps.advance(day);
  await passes();
  assert.deepEqual([await stateOf(bad.id), await stateOf(lied.id)], ['closed', 'closed']);
  market.says({}, lied.address);
  market.deps.advance(hour);
  await passes();
  assert.deepEqual([await stateOf(bad.id), await stateOf(lied.id)], ['closed', 'open']);
  market.deps.advance(day);
  await passes();
  assert.deepEqual([await stateOf(bad.id), await stateOf(lied.id)], ['delisted', 'open']);
  const looks = market.looksAt(bad.address);
  market.deps.advance(30 * day);
  await passes();
  assert.equal(market.looksAt(bad.address), looks);
});

test('a token that vanished, changed its symbol or its decimals does not stay open', async () => {
  const tokens = [await listed(), await listed(), await listed()] as const;
  const [vanished, renamed, other] = tokens;
  market.says(new ParleyError('not_a_token', 'there is no contract'), vanished.address);
  market.says({ symbol: 'OTHER' }, renamed.address);
  market.says({ decimals: 17 }, other.address);
  market.deps.advance(day);
  await passes();
  market.deps.advance(day);
  await passes();
  const states = await Promise.all(tokens.map(({ id }) => stateOf(id)));
  assert.deepEqual(states, ['closed', 'closed', 'delisted']);
});

test('a chain that is away closes nothing, and is asked again in ten minutes', async () => {
  const { id, address } = await listed();
  const waiting = market.says(wait);
  await ask(waiting);
  market.says(away, address);
  market.says(away, waiting);
  market.deps.advance(day);
  await passes();
  assert.deepEqual([await stateOf(id), await statusOf(waiting)], ['open', 'pending']);
  const looks = market.looksAt(address);
  await passes();
  assert.equal(market.looksAt(address), looks);
  market.deps.advance(601_000);
  await passes();
  assert.equal(market.looksAt(address), looks + 1);
});

test("a launchpad's token is refused for ever no sooner than after a day", async () => {
  const address = market.says(reject);
  await addCandidate(market.db, launched(market, address));
  await passes();
  assert.equal(await statusOf(address), 'pending');
  assert.equal((await ask(address)).status, 'pending');
  market.deps.advance(day - 1_000);
  await passes();
  assert.equal(await statusOf(address), 'pending');
  market.deps.advance(hour);
  await passes();
  assert.equal(await statusOf(address), 'rejected');
});

test('a token that no look succeeds at closes after two days, unless its chain is away', async () => {
  const { id, address } = await listed();
  market.says(away, address);
  for (const [answers, state] of [
    [false, 'open'],
    [true, 'closed'],
  ] as const) {
    market.answers(answers);
    for (let count = 0; count < 3; count += 1) {
      market.deps.advance(day);
      await passes();
    }
    assert.equal(await stateOf(id), state);
  }
  market.says({}, address);
  market.deps.advance(hour);
  await passes();
  assert.equal(await stateOf(id), 'open');
});
