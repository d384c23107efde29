// Relayed claims on real EVM chains: refused where landing is not certain; once answered for they
// land, or the secret was never public.

import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { evm2, must } from '../server/settle/testing/world.ts';
import { partsOf } from '../server/start/watchtower.ts';
import { found, rowsOfAll } from '../test/support/secrets.ts';
import { unknownSeconds, vouchedSeconds } from './bounds.ts';
import type { Gas } from './port.ts';
import { nextNonce } from './sign.ts';
import {
  attemptsOn,
  baseFee,
  claimOwn,
  type Deal,
  type Desk,
  deepen,
  ether,
  forgottenDeal,
  fundedDeal,
  gwei,
  jobsOf,
  keep,
  keepAll,
  type Loose,
  legOf,
  look,
  passes,
  relay,
  startDesk,
  swapOf,
} from './testing/desk.ts';

const limits = { timeout: 120_000 };
let desk: Desk;
let gas: Loose;
let account: Gas['account'];
before(async () => {
  desk = await startDesk();
  gas = desk.deps.gas.get(evm2) as Loose;
  ({ account } = gas);
}, limits);
beforeEach(async () => {
  gas.account = account;
  await baseFee(desk, evm2, gwei);
  // Nothing of one test is in flight in the next.
  await passes(desk);
  await keepAll(desk);
});
after(() => desk?.close());

const funded = () => fundedDeal(desk);
const run = (text: string, values: readonly unknown[] = []) =>
  desk.deps.db.rows<Record<string, unknown>>({ name: '', text, values });

/** Taken up, with nothing signed for it. */
async function forgotten(): Promise<Deal> {
  const deal = await forgottenDeal(desk);
  gas.dailyCap = 0n;
  await keep(desk);
  gas.dailyCap = ether;
  return deal;
}

const secretOf = async (deal: Deal) => (await swapOf(deal)).secret;

test('it is refused where the balance does not cover it beside all reserves', limits, async () => {
  const [first, second] = [await funded(), await funded()];
  must(await relay(first));
  const [job] = await jobsOf(desk, first);
  const reserve = BigInt(job?.reserve ?? 0);
  gas.account = { ...account, balance: async () => 2n * reserve - reserve / 10n };
  const refused = await relay(second);
  assert.deepEqual([refused.status, refused.code], [409, 'relay_unavailable']);
  assert.match(refused.body.error, /to spare and landing this may take \d+/);
  assert.deepEqual(await jobsOf(desk, second), [], 'nothing is left of it');
  gas.account = account;
  await passes(desk);
  must(await relay(second));
  await passes(desk);
  for (const deal of [first, second]) assert.equal((await swapOf(deal)).legs.a.status, 'claimed');
});

test('a gas key without coins refuses, and asks nobody for some', limits, async () => {
  const deal = await funded();
  const rpc = desk.rpc(evm2);
  const { address } = account;
  await rpc('anvil_setBalance', [address, '0x1']);
  const refused = await relay(deal);
  await rpc('anvil_setBalance', [address, `0x${ether.toString(16)}`]);
  assert.deepEqual([refused.status, refused.code], [409, 'relay_unavailable'], refused.body.error);
  assert.match(
    refused.body.error,
    /"evm-dev-2" has 1 wei and sending this may take [1-9]\d{9,}: send/,
  );
  assert.ok(!refused.body.error.toLowerCase().includes(address.toLowerCase()));
  must(await relay(deal));
  await keep(desk);
  await deepen(desk);
});

test('what is reserved for relays pays for nothing else', limits, async () => {
  const sleeping = await forgotten();
  const deal = await funded();
  must(await relay(deal));
  await keep(desk);
  // In a block and not deep: its reserve is kept, and nothing is in flight.
  await desk.dev.mine(evm2, 1);
  const [reserved] = await run(
    `select sum(reserve) from keeper_jobs
      where chain = $1 and purpose = 'relay' and state = 'open'`,
    [evm2],
  );
  gas.account = { ...account, balance: async () => BigInt(String(reserved?.sum ?? 0)) };
  await keepAll(desk);
  const own = await attemptsOn(desk, sleeping, evm2);
  assert.deepEqual(own, []);
  const job = (await jobsOf(desk, sleeping)).find(({ chain }) => chain === evm2);
  assert.equal(job?.last_failure, 'balance');
  gas.account = account;
  await keepAll(desk);
  const [kept] = await attemptsOn(desk, sleeping, evm2);
  assert.deepEqual(must(await relay(sleeping)), { relayed: true, txid: kept?.txid });
  const promised = (await jobsOf(desk, sleeping)).find(({ chain }) => chain === evm2);
  assert.equal(promised?.purpose, 'relay', 'promised from then on');
  await passes(desk);
  assert.equal((await swapOf(sleeping)).legs.a.claimedBy, 'keeper');
  assert.equal((await swapOf(deal)).legs.a.claimedBy, 'keeper');
});

test('the cap of a day stops no relay, and none counts against it', limits, async () => {
  const { dailyCap } = gas;
  gas.dailyCap = 0n;
  try {
    const deal = await funded();
    must(await relay(deal));
    await keep(desk);
    await deepen(desk);
    assert.equal((await swapOf(deal)).legs.a.claimedBy, 'keeper');
  } finally {
    gas.dailyCap = dailyCap;
  }
});

test(
  'never on Bitcoin, nor without a key, nor when the time left is too short',
  limits,
  async () => {
    const deal = await funded();
    const all = desk.deps.gas as Map<string, Gas>;
    all.delete(evm2);
    const keyless = await relay(deal);
    all.set(evm2, gas);
    assert.deepEqual([keyless.status, keyless.code], [409, 'relay_unavailable']);
    assert.match(keyless.body.error, /no gas key/);
    const { revealBy } = (await swapOf(deal)).deadlines;
    const now = desk.deps.now();
    desk.deps.freeze((revealBy - 30) * 1_000);
    const late = await relay(deal);
    assert.deepEqual([late.status, late.code], [409, 'relay_unavailable'], late.body.error);
    desk.deps.freeze((revealBy + 1) * 1_000);
    const over = await relay(deal);
    assert.deepEqual([over.status, over.code], [409, 'too_late_to_reveal']);
    desk.deps.freeze(now);
    assert.equal(await secretOf(deal), null);
  },
);

test(
  'stored and not sent by the time, it is given up: the secret was never public',
  limits,
  async () => {
    const [given, next] = [await funded(), await funded()];
    must(await relay(given));
    const { revealBy } = (await swapOf(given)).deadlines;
    const now = desk.deps.now();
    desk.deps.freeze((revealBy + 1) * 1_000);
    await keep(desk);
    await keepAll(desk);
    desk.deps.freeze(now);
    const [job] = await jobsOf(desk, given);
    assert.deepEqual([job?.state, job?.reserve], ['dropped', '0']);
    assert.equal(await secretOf(given), null);
    const kept = await run(
      `select a.sealed, j.secret from keeper_attempts a join keeper_jobs j on j.id = a.job_id
      where j.swap_id = $1`,
      [given.id],
    );
    assert.deepEqual(kept, [{ sealed: null, secret: null }], 'neither bytes nor secret are kept');
    const [unsent] = await attemptsOn(desk, given, evm2);
    must(await relay(next));
    const [instead] = await attemptsOn(desk, next, evm2);
    assert.equal(instead?.nonce, unsent?.nonce, 'its nonce is free again');
    await passes(desk);
    assert.equal((await swapOf(next)).legs.a.claimedBy, 'keeper');
    assert.equal((await swapOf(given)).legs.a.status, 'funded');
  },
);

test(
  'nothing leaves before what leaves is stored, and both are or neither is',
  limits,
  async () => {
    const deal = await funded();
    await run(
      `alter table keeper_attempts add constraint refused check (verb <> 'claim') not valid`,
    );
    const failed = await relay(deal, { 'idempotency-key': `refused-${deal.id}` });
    await run('alter table keeper_attempts drop constraint refused');
    assert.equal(failed.status, 500);
    await keep(desk);
    assert.deepEqual(await jobsOf(desk, deal), []);
    assert.equal(await secretOf(deal), null);
    const turns = await run('select 1 from keeper_turns where holder is not null');
    assert.deepEqual(turns, [], 'its lease is given back');
    // An answer that is lost changes nothing: asked again, also by that key, it is the same.
    const headers = { 'idempotency-key': `lost-${deal.id}` };
    await run('alter table idempotency add constraint refused check (status <> 200) not valid');
    assert.equal((await relay(deal, headers)).status, 500);
    await run('alter table idempotency drop constraint refused');
    const first = must(await relay(deal, headers));
    assert.equal((await attemptsOn(desk, deal, evm2)).length, 1);
    const hidden = new Map([
      ['secret of a swap', deal.secret],
      ['gas key', desk.key],
    ]);
    assert.deepEqual(found(await rowsOfAll(desk.deps.db), hidden), [], 'in no row');
    const again = await relay(deal, headers);
    assert.deepEqual([again.body, again.headers['idempotency-replayed']], [first, 'true']);
    await keep(desk);
    await deepen(desk);
    assert.equal((await swapOf(deal)).legs.a.claimTx, first.txid);
  },
);

async function refusedForNow(deal: Deal): Promise<void> {
  const busy = await relay(deal);
  assert.deepEqual([busy.status, busy.code], [503, 'overloaded'], busy.body.error);
  assert.match(busy.body.error, /has a transaction in flight, the most there may be/);
  assert.deepEqual(await jobsOf(desk, deal), []);
  assert.equal(await secretOf(deal), null);
}

test(
  'one of the long leg is sent after the time to reveal, as it is answered',
  limits,
  async () => {
    const deal = await funded();
    const was = desk.deps.now();
    const { deadlines } = await swapOf(deal);
    desk.deps.freeze((deadlines.revealBy + 1) * 1_000);
    try {
      assert.equal((await relay(deal)).code, 'too_late_to_reveal');
      const body = { secret: deal.secret, relay: true };
      must(await deal.maker.post(legOf(deal, 'b', 'claim'), body));
      await keep(desk);
      assert.equal(await secretOf(deal), deal.secret);
    } finally {
      desk.deps.freeze(was);
    }
    await deepen(desk);
    assert.equal((await swapOf(deal)).legs.b.claimedBy, 'keeper');
  },
);

test('nothing is kept of what was signed after its lease was over', limits, async () => {
  const deal = await funded();
  const { db } = desk.deps;
  const sign: typeof account.sign = async (work, slot, signal) => {
    const signed = await account.sign(work, slot, signal);
    const text = `update keeper_turns set until = 'epoch' where chain = $1`;
    await db.rows({ name: 'test_over', text, values: [evm2] });
    return signed;
  };
  gas.account = { ...account, sign };
  const late = await relay(deal);
  assert.deepEqual([late.status, late.code], [503, 'overloaded']);
  assert.deepEqual(await jobsOf(desk, deal), []);
  gas.account = account;
  must(await relay(deal));
  await keep(desk);
  await deepen(desk);
});

test('its receiver may claim for itself at the same time: it is paid once', limits, async () => {
  const deal = await funded();
  must(await relay(deal));
  const { taker, secret } = deal;
  assert.equal((await taker.post(legOf(deal, 'a', 'claim'), { secret })).status, 200);
  await claimOwn(desk, deal);
  await desk.dev.mine(evm2, 1);
  await look(desk);
  await keep(desk);
  await deepen(desk);
  await passes(desk);
  await keepAll(desk);
  const { legs } = await swapOf(deal);
  assert.deepEqual([legs.a.status, legs.a.claimedBy], ['claimed', 'party']);
  const [job] = (await jobsOf(desk, deal)).filter(({ chain }) => chain === evm2);
  assert.deepEqual([job?.state, job?.reserve], ['done', '0']);
});

test('what was sent before a restored backup keeps its nonce', limits, async () => {
  const [lost, later] = [await funded(), await funded()];
  const first = must(await relay(lost));
  await keep(desk);
  await run('delete from keeper_attempts where txid = $1', [first.txid]);
  await run('delete from keeper_jobs where swap_id = $1', [lost.id]);
  await refusedForNow(later);
  await deepen(desk);
  assert.equal((await swapOf(lost)).legs.a.claimTx, first.txid);
  must(await relay(later));
  await passes(desk);
  assert.equal((await swapOf(later)).legs.a.claimedBy, 'keeper');
});

for (const [nodes, seconds] of [
  [1, unknownSeconds],
  [2, vouchedSeconds],
] as const) {
  test(
    `what ${nodes} nodes count and nobody knows of is waited for, and no longer`,
    limits,
    async () => {
      const deal = await funded();
      const mined = (await account.minedNonce(AbortSignal.timeout(10_000))) ?? assert.fail();
      const pendingNonce = async () => mined + 3;
      gas.account = {
        ...account,
        pendingNonce,
        pendingNonces: async () => Array(nodes).fill(mined + 3),
      };
      await run('update keeper_turns set unknown_since = null');
      await refusedForNow(deal);
      // By the clock that all processes share.
      desk.deps.advance((seconds + 10) * 1_000);
      await refusedForNow(deal);
      const pass = (more: number) =>
        run('update keeper_turns set unknown_since = unknown_since - $1 * $2::interval', [
          ...[more, '1 second'],
        ]);
      await pass(seconds - 30);
      await refusedForNow(deal);
      await pass(60);
      must(await relay(deal));
      const [claim] = await attemptsOn(desk, deal, evm2);
      assert.equal(claim?.nonce, mined, 'in its place');
      await keep(desk);
      await desk.dev.mine(evm2, 1);
      const next = await funded();
      must(await relay(next));
      const [after] = await attemptsOn(desk, next, evm2);
      assert.equal(after?.nonce, mined + 1, 'all of them are waited for at once');
      gas.account = account;
      await passes(desk);
      assert.equal((await swapOf(deal)).legs.a.claimedBy, 'keeper');
    },
  );
}

test(
  'a mined nonce far above all that was ever signed is believed only after missing time',
  limits,
  async () => {
    const deal = await funded();
    const signal = AbortSignal.timeout(30_000);
    const real = (await account.minedNonce(signal)) ?? 0;
    const told = real + 1_000;
    // One node is quick to lie: more than one is asked about what nobody has signed.
    const quick: Gas['account']['minedNonce'] = async (until, asked) =>
      asked === undefined ? told : account.minedNonce(until);
    gas.account = { ...account, minedNonce: quick };
    assert.equal(await nextNonce(partsOf(desk.deps, desk.deps), { gas, signal }), real);
    gas.account = { ...account, minedNonce: async () => told, pendingNonce: async () => told };
    const refused = await relay(deal);
    assert.deepEqual([refused.status, refused.code], [503, 'chain_unavailable']);
    assert.match(refused.body.error, new RegExp(`have ${told} transactions of the gas key, above`));
    assert.deepEqual(await jobsOf(desk, deal), []);
    // What was signed in it is not known.
    const text = `insert into gaps (why, began_at, ended_at) values ('restored', $1, $1)`;
    await desk.deps.db.rows({ name: 'test_gap', text, values: [new Date('2100-01-01')] });
    assert.equal(await nextNonce(partsOf(desk.deps, desk.deps), { gas, signal }), told);
  },
);
