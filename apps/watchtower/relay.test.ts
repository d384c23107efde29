// Relayed claims, asked for over HTTP: refused where landing is not certain; once answered for they
// land, or the secret was never public.

import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { must } from '@parley/market/settle/testing/world.ts';
import { found, rowsOfAll } from '@parley/verify/test/support/secrets.ts';
import { relayLeadSeconds, unknownSeconds, vouchedSeconds } from './bounds.ts';
import type { Gas } from './port.ts';
import { nextNonce } from './sign.ts';
import type { Loose } from './testing/desk.ts';
import { type Deal, onMarket, short } from './testing/market.ts';

const m = onMarket();
let gas: Loose;
let account: Gas['account'];
beforeEach(() => {
  gas = m.key();
  ({ account } = gas);
});

const secretOf = async (deal: Deal) => (await m.swap(deal)).secret;

async function refused(deal: Deal, status: number, code: string, says: RegExp): Promise<string> {
  const answer = await m.relay(deal);
  assert.deepEqual([answer.status, answer.code], [status, code], answer.body.error);
  assert.match(answer.body.error, says);
  assert.deepEqual(await m.jobs(deal), [], 'nothing is left of it');
  assert.equal(await secretOf(deal), null);
  return answer.body.error;
}
const unavailable = (deal: Deal, says: RegExp) => refused(deal, 409, 'relay_unavailable', says);
const refusedForNow = (deal: Deal) =>
  refused(deal, 503, 'overloaded', /has a transaction in flight, the most there may be/);

async function lands(...deals: Deal[]): Promise<void> {
  await m.passes(deals.length + 1);
  for (const deal of deals) assert.equal((await m.swap(deal)).legs.a.claimedBy, 'keeper');
}

test('a gas key without coins refuses, and asks nobody for some', async () => {
  const deal = await m.funded();
  m.short.state.balances.set(account.address, 1n);
  const said = await unavailable(
    deal,
    /"evm-dev-2" has 1 wei and sending this may take [1-9]\d{9,}: send/,
  );
  assert.ok(!said.includes(account.address));
});

test('the reserve for relays pays for nothing else', async () => {
  const sleeping = await m.public();
  const deal = await m.funded();
  must(await m.relay(deal));
  await m.keep();
  // In a block and not final: its reserve is kept, and nothing is in flight.
  m.mine();
  const reserved = BigInt((await m.job(deal))?.reserve ?? 0);
  gas.account = { ...account, balance: async () => reserved };
  await m.keepAll();
  assert.deepEqual(await m.attempts(sleeping), []);
  assert.equal((await m.job(sleeping))?.last_failure, 'balance');
  gas.account = account;
  await m.keepAll();
  const [kept] = await m.attempts(sleeping);
  assert.deepEqual(must(await m.relay(sleeping)), { relayed: true, txid: kept?.txid });
  assert.equal((await m.job(sleeping))?.purpose, 'relay', 'promised from then on');
  await lands(sleeping, deal);
});

test('never without a key, nor when the time left is too short', async () => {
  const deal = await m.funded();
  const all = m.deps.gas as Map<string, Gas>;
  all.delete(short);
  await unavailable(deal, /no gas key/);
  all.set(short, gas);
  const { revealBy } = (await m.swap(deal)).deadlines;
  const lastAt = revealBy - relayLeadSeconds.evm;
  for (const [at, code, says] of [
    [lastAt + 1, 'relay_unavailable', /sending it needs 60 s before/],
    [revealBy + 1, 'too_late_to_reveal', /./],
  ] as const) {
    m.deps.freeze(at * 1_000);
    await refused(deal, 409, code, says);
  }
  m.deps.freeze(lastAt * 1_000);
  must(await m.relay(deal));
});

test('stored and not sent by the time, it is given up: the secret was never public', async () => {
  const given = await m.funded();
  const next = await m.funded();
  must(await m.relay(given));
  const { revealBy } = (await m.swap(given)).deadlines;
  const now = m.deps.now();
  m.deps.freeze((revealBy + 1) * 1_000);
  await m.keep();
  await m.keepAll();
  m.deps.freeze(now);
  const job = await m.job(given);
  assert.deepEqual([job?.state, job?.reserve], ['dropped', '0']);
  assert.equal(await secretOf(given), null);
  const kept = await m.run(
    'select a.sealed, j.secret from keeper_attempts a join keeper_jobs j on j.id = a.job_id',
  );
  assert.deepEqual(kept, [{ sealed: null, secret: null }], 'neither bytes nor secret are kept');
  const [unsent] = await m.attempts(given);
  must(await m.relay(next));
  const [instead] = await m.attempts(next);
  assert.equal(instead?.nonce, unsent?.nonce, 'its nonce is free again');
  await lands(next);
  assert.equal((await m.swap(given)).legs.a.status, 'funded');
});

test('no transaction leaves before it is stored, both are or neither is', async () => {
  const deal = await m.funded();
  await m.run(
    `alter table keeper_attempts add constraint refused check (verb <> 'claim') not valid`,
  );
  const failed = await m.relay(deal, { 'idempotency-key': `refused-${deal.id}` });
  await m.run('alter table keeper_attempts drop constraint refused');
  assert.equal(failed.status, 500);
  await m.keep();
  assert.deepEqual(await m.jobs(deal), []);
  assert.equal(await secretOf(deal), null);
  const turns = await m.run('select 1 from keeper_turns where holder is not null');
  assert.deepEqual(turns, [], 'its lease is given back');
  // An answer that is lost changes nothing: asked again, also by that key, it is the same.
  const headers = { 'idempotency-key': `lost-${deal.id}` };
  await m.run('alter table idempotency add constraint refused check (status <> 200) not valid');
  assert.equal((await m.relay(deal, headers)).status, 500);
  await m.run('alter table idempotency drop constraint refused');
  const first = must(await m.relay(deal, headers));
  assert.equal((await m.attempts(deal)).length, 1);
  assert.equal(await secretOf(deal), null, 'nothing has left yet');
  const hidden = new Map([['secret of a swap', deal.secret]]);
  assert.deepEqual(found(await rowsOfAll(m.deps.db), hidden), [], 'in no row');
  const again = await m.relay(deal, headers);
  assert.deepEqual([again.body, again.headers['idempotency-replayed']], [first, 'true']);
  await lands(deal);
  assert.equal((await m.swap(deal)).legs.a.claimTx, first.txid);
});

test('what was sent before a restored backup keeps its nonce', async () => {
  const lost = await m.funded();
  const later = await m.funded();
  const first = must(await m.relay(lost));
  await m.keep();
  await m.run('delete from keeper_attempts');
  await m.run('delete from keeper_jobs');
  await refusedForNow(later);
  await m.deepen();
  assert.equal((await m.swap(lost)).legs.a.claimTx, first.txid);
  must(await m.relay(later));
  await lands(later);
});

for (const [nodes, seconds] of [
  [1, unknownSeconds],
  [2, vouchedSeconds],
] as const) {
  test(`a nonce that ${nodes} nodes count and nobody knows of is waited for, and no longer`, async () => {
    const deal = await m.funded();
    const pendingNonces = async () => Array<number>(nodes).fill(3);
    gas.account = { ...account, pendingNonce: async () => 3, pendingNonces };
    await refusedForNow(deal);
    // By the clock that all processes share.
    m.deps.advance((seconds + 10) * 1_000);
    await refusedForNow(deal);
    const pass = (more: number) =>
      m.run('update keeper_turns set unknown_since = unknown_since - $1 * $2::interval', [
        more,
        '1 second',
      ]);
    await pass(seconds - 30);
    await refusedForNow(deal);
    await pass(60);
    must(await m.relay(deal));
    assert.equal((await m.attempts(deal))[0]?.nonce, 0, 'in its place');
    await m.keep();
    m.mine();
    const next = await m.funded();
    must(await m.relay(next));
    assert.equal((await m.attempts(next))[0]?.nonce, 1, 'all of them are waited for at once');
  });
}

test('a mined nonce far above all that was ever signed is believed only after missing time', async () => {
  const before = await m.funded();
  const deal = await m.funded();
  must(await m.relay(before));
  await lands(before);
  const signal = AbortSignal.timeout(60_000);
  const told = 1_000;
  // One node is quick to lie: more than one is asked about what nobody has signed.
  const quick: Gas['account']['minedNonce'] = async (until, asked) =>
    asked === undefined ? told : account.minedNonce(until);
  const next = () => nextNonce(m.parts(), { gas, signal });
  gas.account = { ...account, minedNonce: quick };
  assert.equal(await next(), 1);
  gas.account = { ...account, minedNonce: async () => told, pendingNonce: async () => told };
  await refused(
    deal,
    503,
    'chain_unavailable',
    new RegExp(`have ${told} transactions of the gas key, above`),
  );
  // The signatures of that time are not known.
  await m.run(`insert into gaps (why, began_at, ended_at) values ('lineage', $1, $1)`, [
    new Date('2100-01-01'),
  ]);
  assert.equal(await next(), told);
});
