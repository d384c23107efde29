// Relayed claims on real EVM chains: refused where landing is not certain; once answered for they
// land, or the secret was never public.

import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { found, rowsOfAll } from '../../test/support/secrets.ts';
import type { Gas } from '../ports/gas.ts';
import { evm2, must } from '../settle/testing/world.ts';
import { noncesOf } from './sign.ts';
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
beforeEach(() => {
  gas.account = account;
});
after(() => desk?.close());

const funded = () => fundedDeal(desk);

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
  gas.account = { ...account, balance: async () => 2n * reserve + reserve / 10n };
  must(await relay(second));
  gas.account = account;
  await keep(desk);
  await deepen(desk);
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
  await deepen(desk);
  await keepAll(desk);
  const sleeping = await forgotten();
  const deals = [await funded(), await funded()];
  for (const deal of deals) must(await relay(deal));
  const reserved = await desk.deps.db.rows<{ sum: string }>({
    name: 'test_reserved',
    text: `select sum(reserve) from keeper_jobs where chain = $1 and purpose = 'relay'`,
    values: [evm2],
  });
  gas.account = { ...account, balance: async () => BigInt(reserved[0]?.sum ?? 0) };
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
  for (const deal of deals) assert.equal((await swapOf(deal)).legs.a.claimedBy, 'keeper');
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
    must(await relay(next));
    const { revealBy } = (await swapOf(given)).deadlines;
    const now = desk.deps.now();
    desk.deps.freeze((revealBy + 1) * 1_000);
    await desk.deps.db.rows({
      name: 'test_later',
      text: `update swaps set reveal_by = reveal_by + 86400 where id = $1`,
      values: [next.id],
    });
    await keep(desk);
    await keepAll(desk);
    desk.deps.freeze(now);
    const [job] = await jobsOf(desk, given);
    assert.deepEqual([job?.state, job?.reserve], ['dropped', '0']);
    assert.equal(await secretOf(given), null);
    const kept = await desk.deps.db.rows<{ sealed: unknown; secret: unknown }>({
      name: 'test_sealed',
      text: `select a.sealed, j.secret from keeper_attempts a join keeper_jobs j on j.id = a.job_id
      where j.swap_id = $1`,
      values: [given.id],
    });
    assert.deepEqual(kept, [{ sealed: null, secret: null }], 'neither bytes nor secret are kept');
    // What has a nonce behind it lands all the same: the gap is filled by nothing.
    await passes(desk);
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
    const { db } = desk.deps;
    const run = (text: string) => db.rows({ name: '', text, values: [] });
    await run('alter table idempotency add constraint refused check (status <> 200) not valid');
    const failed = await relay(deal, { 'idempotency-key': `refused-${deal.id}` });
    await run('alter table idempotency drop constraint refused');
    assert.equal(failed.status, 500);
    await keep(desk);
    assert.deepEqual(await jobsOf(desk, deal), []);
    assert.equal(await secretOf(deal), null);
    const turns = await run('select 1 from keeper_turns where holder is not null');
    assert.deepEqual(turns, [], 'its turn is given back');
    const headers = { 'idempotency-key': `kept-${deal.id}` };
    const first = must(await relay(deal, headers));
    const hidden = new Map([
      ['secret of a swap', deal.secret],
      ['gas key', desk.key],
    ]);
    assert.deepEqual(found(await rowsOfAll(db), hidden), [], 'in no row');
    const again = await relay(deal, headers);
    assert.deepEqual([again.body, again.headers['idempotency-replayed']], [first, 'true']);
    await keep(desk);
    await deepen(desk);
    assert.equal((await swapOf(deal)).legs.a.claimTx, first.txid);
  },
);

test(
  'while blocks are full it pays more until it lands, though others are before it',
  limits,
  async () => {
    const [sleeping, deal] = [await forgotten(), await funded()];
    await keepAll(desk);
    const before = await attemptsOn(desk, sleeping, evm2);
    assert.equal(before.length, 1, 'one of the keeper’s own has the nonce before');
    must(await relay(deal));
    await keep(desk);
    await baseFee(desk, evm2, 8n * gwei);
    await desk.dev.mine(evm2, 1);
    gas.dailyCap = 0n;
    for (let pass = 0; pass < 3; pass += 1) {
      desk.deps.advance(900_000);
      await keepAll(desk);
      await baseFee(desk, evm2, 8n * gwei);
      await desk.dev.mine(evm2, 1);
    }
    gas.dailyCap = ether;
    await deepen(desk);
    for (const each of [sleeping, deal]) {
      assert.equal((await swapOf(each)).legs.a.claimedBy, 'keeper');
    }
    for (const each of [sleeping, deal]) {
      const raised = await attemptsOn(desk, each, evm2);
      assert.ok(raised.length > 1, 'it was made to pay more');
      assert.equal(new Set(raised.map(({ nonce }) => nonce)).size, 1);
    }
  },
);

test(
  'a relay lands though all is reserved and what is before it cannot pay more',
  limits,
  async () => {
    await baseFee(desk, evm2, gwei);
    await deepen(desk);
    const [sleeping, deal] = [await forgotten(), await funded()];
    await keepAll(desk);
    const blocking = await attemptsOn(desk, sleeping, evm2);
    assert.equal(blocking.length, 1, 'it has the nonce before');
    gas.account = { ...account, reserve: reserveOf(100n * ether) };
    const refused = await relay(deal);
    assert.deepEqual([refused.status, refused.code], [409, 'relay_unavailable']);
    gas.account = account;
    must(await relay(deal));
    await keep(desk);
    const [all] = await desk.deps.db.rows<{ sum: string }>({
      name: 'test_all_reserved',
      text: `select sum(reserve) from keeper_jobs where chain = $1`,
      values: [evm2],
    });
    gas.account = { ...account, balance: async () => BigInt(all?.sum ?? 0) };
    for (let pass = 0; pass < 3; pass += 1) {
      await baseFee(desk, evm2, 13n * gwei);
      await desk.dev.mine(evm2, 1);
      desk.deps.advance(900_000);
      await keepAll(desk);
    }
    await baseFee(desk, evm2, 13n * gwei);
    await deepen(desk);
    assert.equal((await swapOf(deal)).legs.a.claimedBy, 'keeper');
    const [, ...instead] = await attemptsOn(desk, sleeping, evm2);
    assert.equal(instead[0]?.verb, 'void', 'its nonce was taken by nothing');
    gas.account = account;
    await baseFee(desk, evm2, gwei);
    await deepen(desk);
    await passes(desk);
    assert.equal((await swapOf(sleeping)).legs.a.claimedBy, 'keeper', 'and later it lands too');
  },
);

/** As the node says it, but for what freeing a nonce may take. */
function reserveOf(freeing: bigint): Gas['account']['reserve'] {
  return async (work, signal) => (work.verb === 'void' ? freeing : account.reserve(work, signal));
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

test('nothing is kept of what was signed after its turn was over', limits, async () => {
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
  assert.equal((await swapOf(deal)).legs.a.claimedBy, 'keeper');
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
  const run = (text: string, value: string) =>
    desk.deps.db.rows({ name: '', text, values: [value] });
  await run('delete from keeper_attempts where txid = $1', first.txid);
  await run('delete from keeper_jobs where swap_id = $1', lost.id);
  must(await relay(later));
  for (let pass = 0; pass < 2; pass += 1) {
    await keepAll(desk);
  }
  await deepen(desk);
  assert.equal((await swapOf(lost)).legs.a.claimTx, first.txid);
  assert.equal((await swapOf(later)).legs.a.claimedBy, 'keeper');
});

test(
  'a mined nonce far above all that was ever signed is believed only after missing time',
  limits,
  async () => {
    const [earlier, deal] = [await funded(), await funded()];
    must(await relay(earlier));
    const real = (await account.minedNonce(AbortSignal.timeout(10_000))) ?? 0;
    const told = real + 1_000;
    const firstNonce = async () => {
      const nonces = await noncesOf(desk.deps, { gas, signal: AbortSignal.timeout(10_000) });
      return nonces?.first ?? assert.fail();
    };
    // One node is quick to lie: the keeper asks for more than one about what nobody has signed.
    gas.account = {
      ...account,
      minedNonce: async (signal, asked) =>
        asked === undefined ? told : account.minedNonce(signal),
    };
    try {
      assert.ok((await firstNonce()) < told);
    } finally {
      gas.account = account;
    }
    gas.account = { ...account, minedNonce: async () => told, pendingNonce: async () => told };
    try {
      const refused = await relay(deal);
      const { status, code, body } = refused;
      assert.deepEqual([status, code], [503, 'chain_unavailable'], body.error);
      assert.match(body.error, new RegExp(`have ${told} transactions of the gas key, above`));
      assert.deepEqual(await jobsOf(desk, deal), []);
      // What was signed in it is not known.
      const text = `insert into gaps (why, began_at, ended_at) values ('restored', $1, $1)`;
      await desk.deps.db.rows({ name: 'test_gap', text, values: [new Date('2100-01-01')] });
      assert.equal(await firstNonce(), told);
    } finally {
      gas.account = account;
    }
  },
);
