// The keeper on two real EVM chains: what parties leave undone it does, and what they do themselves
// costs it nothing.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { adapterOf } from '../server/settle/preview.ts';
import { evm, evm2, must } from '../server/settle/testing/world.ts';
import { missedEverySeconds, mostFailed } from './bounds.ts';
import { keySums } from './db/sums.ts';
import { dayOf } from './spending.ts';
import {
  agree,
  anotherDesk,
  attemptsOn,
  baseFee,
  claimOwn,
  type Deal,
  type Desk,
  deepen,
  ether,
  fundBoth,
  gwei,
  jobsOf,
  keep,
  keepAll,
  legOf,
  look,
  passes,
  relay,
  sendOwn,
  startDesk,
  swapOf,
} from './testing/desk.ts';

const limits = { timeout: 120_000 };
let desk: Desk;
before(async () => {
  desk = await startDesk();
}, limits);
after(() => desk?.close());

/** Both legs funded, and the secret public by the initiator's own claim. */
async function revealed(): Promise<Deal> {
  const deal = await agree(desk);
  await fundBoth(desk, deal);
  await claimOwn(desk, deal);
  await deepen(desk);
  return deal;
}

test('a counterparty that sleeps is paid by the keeper, and the swap says so', limits, async () => {
  const deal = await revealed();
  assert.equal((await swapOf(deal)).status, 'initiator_claimed');
  const { address } = deal.maker.evmAccount;
  const before = await desk.client(evm).getBalance({ address });
  await keep(desk);
  const [attempt] = await attemptsOn(desk, deal);
  assert.deepEqual([attempt?.verb, attempt?.chain, attempt?.purpose], ['claim', evm, 'secret']);
  await deepen(desk);
  const { status, legs } = await swapOf(deal);
  assert.equal(status, 'counterparty_claimed');
  assert.deepEqual(
    [legs.b.claimTx, legs.b.claimedBy, legs.b.refundedBy],
    [attempt?.txid, 'keeper', null],
  );
  assert.deepEqual([legs.a.claimedBy, legs.a.refundedBy], ['party', null]);
  const now = await desk.client(evm).getBalance({ address });
  assert.equal((now - before).toString(), legs.b.amount);
  await keepAll(desk);
  const jobs = await jobsOf(desk, deal);
  assert.deepEqual(
    jobs.map(({ state, reserve }) => [state, reserve]),
    [
      ['done', '0'],
      ['done', '0'],
    ],
    'what is deep is not looked at any more',
  );
  assert.equal((await attemptsOn(desk, deal))[0]?.fate, 'deep');
});

test('a party that acts first costs the keeper nothing', limits, async () => {
  const deal = await revealed();
  const { maker, secret } = deal;
  const { address } = maker.evmAccount;
  await desk.dev.faucet({ chain: evm, address, amount: 5n * 10n ** 16n });
  await sendOwn(desk, maker, must(await maker.post(legOf(deal, 'b', 'claim'), { secret })));
  await desk.dev.mine(evm, 1);
  await keep(desk);
  assert.deepEqual(await attemptsOn(desk, deal), [], 'one that is not deep is left alone');
  await deepen(desk);
  await keepAll(desk);
  assert.deepEqual(await attemptsOn(desk, deal), []);
  assert.equal((await swapOf(deal)).legs.b.claimedBy, 'party');
});

test('who could act is waited for, and less as the timelock nears', limits, async () => {
  const { graces } = desk.deps.gas.get(evm) as { graces: { claimSeconds: number } };
  graces.claimSeconds = 600;
  try {
    const deal = await revealed();
    await keep(desk);
    assert.deepEqual(await attemptsOn(desk, deal), []);
    await keepAll(desk);
    assert.deepEqual(await attemptsOn(desk, deal), [], 'not yet');
    desk.deps.advance(601_000);
    await keep(desk);
    assert.equal((await attemptsOn(desk, deal)).length, 1);
    await deepen(desk);
  } finally {
    graces.claimSeconds = 0;
  }
});

test('a reorganisation that takes the claim is followed: it lands again', limits, async () => {
  const deal = await revealed();
  const rpc = desk.rpc(evm);
  const snapshot = await rpc<string>('evm_snapshot');
  await keep(desk);
  await desk.dev.mine(evm, 1);
  await look(desk);
  await keepAll(desk);
  const [attempt] = await attemptsOn(desk, deal);
  assert.equal(attempt?.fate, 'mined');
  await rpc('evm_revert', [snapshot]);
  await desk.dev.mine(evm, 3);
  await look(desk);
  assert.equal((await swapOf(deal)).legs.b.claimTx, null, 'it is gone');
  await passes(desk);
  const { legs } = await swapOf(deal);
  assert.deepEqual([legs.b.status, legs.b.claimedBy], ['claimed', 'keeper']);
  assert.equal((await attemptsOn(desk, deal)).length, 1, 'the same bytes again');
});

test('a claim that no block takes is made to pay more until one does', limits, async () => {
  const deal = await revealed();
  const { baseFeePerGas: was } = await desk.client(evm).getBlock();
  await keep(desk);
  await baseFee(desk, evm, 20n * gwei);
  await desk.dev.mine(evm, 1);
  await keepAll(desk);
  assert.equal((await attemptsOn(desk, deal)).length, 1, 'it has not waited for long');
  desk.deps.advance(900_000);
  await keepAll(desk);
  const attempts = await attemptsOn(desk, deal);
  assert.equal(attempts.length, 2);
  assert.equal(attempts[0]?.nonce, attempts[1]?.nonce, 'in the place of the one before');
  await baseFee(desk, evm, 20n * gwei);
  await deepen(desk);
  const { legs } = await swapOf(deal);
  assert.deepEqual([legs.b.status, legs.b.claimTx], ['claimed', attempts[1]?.txid]);
  await baseFee(desk, evm, was ?? 1n);
  await deepen(desk);
  await keepAll(desk);
  const fates = (await attemptsOn(desk, deal)).map(({ fate }) => fate);
  assert.deepEqual(fates, ['gone', 'deep']);
});

test('what fails and is then refused for ever holds nothing of the key', limits, async () => {
  const deal = await revealed();
  const { address } = deal.maker.evmAccount;
  const since = dayOf(desk.deps.now());
  const held = async () => {
    const of = { chain: evm, since, accountId: null, except: null };
    return (await keySums(desk.deps.db, of)).reserved;
  };
  const before = await held();
  const rpc = desk.rpc(evm);
  await keep(desk);
  const job = async () => (await jobsOf(desk, deal)).find(({ chain }) => chain === evm);
  const reserve = BigInt((await job())?.reserve ?? 0);
  assert.ok(reserve > 0n);
  assert.equal(await held(), before + reserve, 'as long as it is under way');
  // Its receiver takes what is tried and refuses what is mined, and all that is tried from then on.
  await rpc('anvil_setCode', [address, '0xfe']);
  await deepen(desk);
  for (let pass = 0; pass < 3; pass += 1) {
    desk.deps.advance(40_000);
    await keepAll(desk);
    assert.equal(await held(), before);
  }
  assert.deepEqual(
    (await attemptsOn(desk, deal)).map(({ fate }) => fate),
    ['failed'],
  );
  assert.deepEqual(
    [(await job())?.state, (await job())?.last_failure],
    ['open', 'payout_would_fail'],
  );
  // Signed again it holds what that may take, and no more because it once held more.
  await desk.deps.db.rows({
    name: 'test_held',
    text: `update keeper_jobs set reserve = $3 where swap_id = $1 and chain = $2`,
    values: [deal.id, evm, (100n * ether).toString()],
  });
  await rpc('anvil_setCode', [address, '0x']);
  await keepAll(desk);
  const now = (await held()) - before;
  assert.ok(now > 0n && now <= 2n * reserve, `${now} after ${reserve}`);
  await deepen(desk);
  assert.equal((await swapOf(deal)).legs.b.claimedBy, 'keeper');
});

test('a claim that was dropped is taken up again while it may land', limits, async (t) => {
  const ended: string[] = [];
  t.mock.method(desk.deps.log, 'info', (facts: { swapId: string }, message: string) => {
    if (message.includes('is dropped')) ended.push(facts.swapId);
  });
  const { graces } = desk.deps.gas.get(evm) as { graces: { claimSeconds: number } };
  graces.claimSeconds = 600;
  const [deal, failing] = [await revealed(), await revealed()];
  await keep(desk);
  const drop = async () => {
    const text = `update keeper_jobs set state = 'dropped' where chain = $1 and swap_id = any($2)`;
    await desk.deps.db.rows({ name: 'test_drop', text, values: [evm, [deal.id, failing.id]] });
  };
  await drop();
  graces.claimSeconds = 0;
  await desk.deps.db.rows({
    name: 'test_failed',
    text: `insert into keeper_attempts (chain, address, job_id, purpose, verb, txid, offer,
        most_cost, charged, signed_at, fate)
      select chain, $3, id, purpose, verb, 'failed ' || n, 1, 1, 0, $4, 'failed'
      from keeper_jobs, generate_series(1, $5::int) n where swap_id = $1 and chain = $2`,
    values: [failing.id, evm, desk.gasAddress, new Date(desk.deps.now()), mostFailed],
  });
  const states = async () => {
    desk.deps.advance((missedEverySeconds + 1) * 1_000);
    await keepAll(desk);
    const of = async (each: Deal) =>
      (await jobsOf(desk, each)).find(({ chain }) => chain === evm)?.state;
    return [await of(deal), await of(failing)];
  };
  assert.deepEqual(await states(), ['open', 'dropped']);
  // By now its chain's clock may have ended it, and would again.
  await drop();
  const was = desk.deps.now();
  const { timelock } = (await swapOf(deal)).legs.b;
  desk.deps.freeze((timelock - adapterOf(desk.deps, evm).policy.driftSeconds) * 1_000);
  assert.deepEqual(await states(), ['dropped', 'dropped']);
  desk.deps.freeze(was);
  assert.deepEqual(await states(), ['open', 'dropped']);
  assert.deepEqual(ended, [], 'none is reopened to be dropped again');
  await deepen(desk);
  assert.equal((await swapOf(deal)).legs.b.claimedBy, 'keeper');
});

/** As if the key's newest transaction that is deep had cost this today. Returns which it is. */
async function charge(charged: bigint, of: number | null = null): Promise<number> {
  const [row] = await desk.deps.db.rows<{ id: number }>({
    name: 'test_charge',
    text: `update keeper_attempts set charged = $1, signed_at = $2
      where id = coalesce($4, (
        select max(id) from keeper_attempts where chain = $3 and fate = 'deep')) returning id`,
    values: [charged.toString(), new Date(desk.deps.now()), evm, of],
  });
  assert.ok(row);
  return row.id;
}

test(
  'a day’s cap stops the keeper, which says so once; the next day it goes on',
  limits,
  async (t) => {
    const said: string[] = [];
    t.mock.method(desk.deps.log, 'warn', (facts: { failure?: string }, message: string) => {
      if (facts.failure === 'cap') said.push(message);
    });
    const deal = await revealed();
    const charged = await charge(ether);
    const dayMs = 86_400_000;
    const leftMs = dayMs - (desk.deps.now() % dayMs);
    try {
      for (let pass = 0; pass < 2; pass += 1) {
        await keepAll(desk);
      }
      assert.deepEqual(await attemptsOn(desk, deal), []);
      assert.equal((await jobsOf(desk, deal))[0]?.last_failure, 'cap');
      assert.equal(said.length, 1);
      assert.match(said[0] ?? '', /may spend no more for now/);
      desk.deps.advance(leftMs);
      await keepAll(desk);
      assert.equal((await attemptsOn(desk, deal)).length, 1);
      assert.equal(said.length, 1);
      await deepen(desk);
    } finally {
      await charge(0n, charged);
      desk.deps.advance(-leftMs);
    }
  },
);

test('two servers send one transaction', limits, async () => {
  const deal = await revealed();
  const other = await anotherDesk(desk, { key: desk.key });
  try {
    await Promise.all([keep(desk), keep(other), keep(desk), keep(other)]);
    assert.equal((await attemptsOn(desk, deal)).length, 1);
    await deepen(desk);
  } finally {
    await other.close();
  }
});

test(
  'a relayed claim lands without any coin of its receiver, and twice is once',
  limits,
  async () => {
    const deal = await agree(desk);
    const early = await relay(deal);
    assert.deepEqual([early.status, early.code], [409, 'not_both_funded']);
    await fundBoth(desk, deal);
    const wrong = await deal.taker.post(legOf(deal, 'a', 'claim'), {
      secret: '11'.repeat(32),
      relay: true,
    });
    assert.deepEqual([wrong.status, wrong.code], [400, 'wrong_secret']);
    const { address } = deal.taker.evmAccount;
    assert.equal(await desk.client(evm2).getBalance({ address }), 0n);
    const answers = await Promise.all([relay(deal), relay(deal), relay(deal)]);
    const first = must(answers.find(({ status }) => status === 200) ?? (answers[0] as never));
    assert.equal(first.relayed, true);
    for (const answer of answers) {
      if (answer.status === 200) assert.deepEqual(answer.body, first);
      else assert.deepEqual([answer.status, answer.code], [503, 'overloaded']);
    }
    assert.deepEqual(must(await relay(deal)), first);
    const [job] = await jobsOf(desk, deal);
    assert.ok(BigInt(job?.reserve ?? 0) > 0n);
    assert.equal((await swapOf(deal)).secret, null, 'nothing has left yet');
    await keep(desk);
    assert.equal((await swapOf(deal)).secret, deal.secret);
    await deepen(desk);
    const { legs } = await swapOf(deal);
    assert.deepEqual(
      [legs.a.status, legs.a.claimTx, legs.a.claimedBy],
      ['claimed', first.txid, 'keeper'],
    );
    assert.equal((await desk.client(evm2).getBalance({ address })).toString(), legs.a.amount);
    assert.equal((await attemptsOn(desk, deal, evm2)).length, 1);
  },
);

test('an expired leg goes back to a funder that sleeps', limits, async () => {
  const deal = await agree(desk);
  await fundBoth(desk, deal);
  const { deadlines } = await swapOf(deal);
  const ahead = deadlines.refundAt.b - Math.floor(desk.deps.now() / 1000) + 1;
  // Other tests have moved the market's clock alone.
  await desk.dev.time(ahead + 3_600);
  await look(desk);
  await keep(desk);
  await deepen(desk);
  const { status, legs } = await swapOf(deal);
  assert.equal(status, 'refunded');
  assert.deepEqual([legs.a.refundedBy, legs.b.refundedBy], ['keeper', 'keeper']);
  const late = await relay(deal);
  assert.equal(late.status, 409);
});
