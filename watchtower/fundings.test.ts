// Fundings that a party without a coin signed, sent by the keeper on a real EVM chain: from a cap
// of their own, out of what nothing else needs.

import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import type { ChainAdapter } from '../chains/adapter.ts';
import { ParleyError } from '../core/errors.ts';
import type { Asset } from '../server/db/assets.ts';
import { evm2, must } from '../server/settle/testing/world.ts';
import { fundingSums, keySums } from './db/sums.ts';
import type { Gas } from './port.ts';
import { dayOf } from './spending.ts';
import {
  attemptsOn,
  baseFee,
  type Deal,
  type Desk,
  deepen,
  ether,
  fundedDeal,
  gwei,
  jobsOf,
  keep,
  keepAll,
  type Loose,
  passes,
  relay,
  startDesk,
  swapOf,
} from './testing/desk.ts';
import {
  askFunding,
  dollarDeal,
  dollarsOf,
  escrowOf,
  fundBySignature,
  listDollar,
  mintDollars,
  signatureOf,
} from './testing/funding.ts';

const limits = { timeout: 120_000 };
let desk: Desk;
let gas: Loose;
let given: Gas;
let dollar: Asset;
before(async () => {
  desk = await startDesk();
  gas = desk.deps.gas.get(evm2) as Loose;
  given = { ...gas, dailyCap: ether / 2n };
  dollar = await listDollar(desk);
}, limits);
beforeEach(async () => {
  Object.assign(gas, given);
  await baseFee(desk, evm2, gwei);
  // Nothing of one test is in flight in the next.
  await passes(desk, 2);
});
after(() => desk?.close());

const refused =
  (says: RegExp, code = 'relay_unavailable') =>
  (error: unknown) => {
    assert.ok(error instanceof ParleyError, String(error));
    assert.equal(error.code, code, error.message);
    assert.match(error.message, says);
    return true;
  };
const sumsOf = (deal: Deal) => {
  const since = dayOf(desk.deps.now());
  const of = { chain: evm2, since, accountId: deal.maker.accountId, except: null };
  return Promise.all([fundingSums(desk.deps.db, of), keySums(desk.deps.db, of)]);
};
/** What its funder signed and may do with it by itself. */
const cancel = async (deal: Deal) => {
  const to = '0x000000000000000000000000000000000000dEaD';
  const word = (value: string) => value.slice(2).padStart(64, '0');
  const all = `0x${(await dollarsOf(desk, dollar, deal.maker.evmAccount.address)).toString(16)}`;
  const data = `0xa9059cbb${word(to)}${word(all)}`;
  const from = deal.maker.evmAccount.address;
  const rpc = desk.rpc(evm2);
  await rpc('anvil_setBalance', [from, `0x${ether.toString(16)}`]);
  await rpc('anvil_impersonateAccount', [from]);
  const fee = `0x${(200n * 10n ** 9n).toString(16)}`;
  const dear = { maxFeePerGas: fee, maxPriorityFeePerGas: fee };
  await rpc('eth_sendTransaction', [{ from, to: dollar.address, data, ...dear }]);
};

test(
  'who has no coin funds by a signature: it lands, and spends no cap but its own',
  limits,
  async () => {
    const deal = await dollarDeal(desk, dollar);
    const { address } = deal.maker.evmAccount;
    const client = desk.client(evm2);
    assert.equal(await client.getBalance({ address }), 0n);
    const first = await fundBySignature(desk, deal);
    const [open] = await sumsOf(deal);
    const [job] = await jobsOf(desk, deal);
    assert.deepEqual([open.own, open.taken], [1, BigInt(job?.reserve ?? 0)]);
    assert.deepEqual(await fundBySignature(desk, deal), first, 'asked again it is the same');
    await keep(desk);
    await deepen(desk);
    const { legs } = await swapOf(deal);
    assert.equal(legs.a.status, 'funded');
    assert.equal(await client.getBalance({ address }), 0n);
    await passes(desk);
    const [sums, others] = await sumsOf(deal);
    assert.ok(sums.taken > 0n && sums.taken < open.taken / 2n, 'what it did cost');
    assert.deepEqual([others.spent, others.reserved, others.underWay], [0n, 0n, 0]);
    assert.deepEqual(
      (await jobsOf(desk, deal)).map(({ state }) => state),
      ['done'],
    );
    assert.deepEqual(await fundBySignature(desk, deal), first, 'and so ever after');
    assert.equal((await attemptsOn(desk, deal)).length, 1);
  },
);

test(
  'requests for one funding at the same time are answered with one transaction',
  limits,
  async () => {
    const deal = await dollarDeal(desk, dollar);
    const both = await Promise.all([fundBySignature(desk, deal), fundBySignature(desk, deal)]);
    assert.deepEqual(both[1], both[0]);
    assert.equal((await attemptsOn(desk, deal, evm2)).length, 1);
    await passes(desk, 2);
  },
);

test(
  'what its bounds do not allow is refused with the numbers, and leaves nothing',
  limits,
  async () => {
    const deal = await dollarDeal(desk, dollar);
    const { maker } = deal;
    const ask = () => fundBySignature(desk, deal);
    const reserve = await (async () => {
      await fundBySignature(desk, deal);
      return BigInt((await jobsOf(desk, deal))[0]?.reserve ?? 0);
    })();
    const second = await dollarDeal(desk, dollar, { maker });
    const again = () => fundBySignature(desk, second);
    const bounds = given.fundings;
    for (const [fundings, says] of [
      [
        { ...bounds, cap: 0n },
        /this market sends no fundings on "evm-dev-2": send the funding your/,
      ],
      [{ ...bounds, perAccount: 1 }, /had 1 fundings on .* today and 1 is the most, until the/],
      [
        { ...bounds, cap: 8n * reserve - 4n },
        /this account .* may take \d+ today, \d+ of it is taken/,
      ],
    ] as const) {
      gas.fundings = fundings;
      await assert.rejects(again(), refused(says));
    }
    gas.fundings = bounds;
    const stranger = await dollarDeal(desk, dollar);
    gas.fundings = { ...bounds, cap: 4n * reserve };
    await desk.deps.db.rows({
      name: 'test_taken',
      text: `update keeper_jobs set reserve = $2 where swap_id = $1`,
      values: [deal.id, (4n * reserve).toString()],
    });
    await assert.rejects(
      fundBySignature(desk, stranger),
      refused(/all fundings on "evm-dev-2" may/),
    );
    await desk.deps.db.rows({
      name: 'test_taken',
      text: `update keeper_jobs set reserve = $2 where swap_id = $1`,
      values: [deal.id, reserve.toString()],
    });
    gas.fundings = bounds;
    // What is reserved for others is not enough: what claims may take today is left, too.
    const balance = async () => 2n * reserve + gas.dailyCap - 1n;
    gas.account = { ...given.account, balance };
    await assert.rejects(again(), refused(/to spare, keeps \d+ for claims, and this may take \d+/));
    for (const each of [second, stranger]) assert.deepEqual(await jobsOf(desk, each), []);
    gas.account = { ...given.account, balance: async () => (await balance()) + 1n };
    await assert.rejects(again(), refused(/has a transaction in flight/, 'overloaded'));
    gas.account = given.account;
    await passes(desk);
    await again();
    const turns = await desk.deps.db.rows({
      name: 'test_turns',
      text: 'select 1 from keeper_turns where holder is not null',
      values: [],
    });
    assert.deepEqual(turns, [], 'its lease is given back');
    await ask();
    await passes(desk);
    for (const each of [deal, second]) assert.equal((await swapOf(each)).legs.a.status, 'funded');
  },
);

test(
  'another signer, a strange escrow, a native leg and too late a request are refused',
  limits,
  async () => {
    const deal = await dollarDeal(desk, dollar);
    const escrow = await escrowOf(deal);
    const alien = await signatureOf(desk, deal, deal.taker);
    const asked = askFunding(desk, deal, { signature: alien, escrow });
    await assert.rejects(asked, refused(/the signature is none of 0x/, 'bad_signature'));
    const signature = await signatureOf(desk, deal);
    const strange = askFunding(desk, deal, { signature, escrow: `${escrow.slice(0, -1)}x` });
    await assert.rejects(strange, refused(/was never an escrow of leg/, 'unknown_escrow'));
    const foreign = askFunding(desk, deal, { signature, escrow, accountId: deal.taker.accountId });
    await assert.rejects(foreign, refused(/is funded by the maker, not you/, 'not_your_leg'));
    const native = await fundedDeal(desk);
    const own = { signature, escrow: await escrowOf(native) };
    await assert.rejects(askFunding(desk, native, own), refused(/has no authorization to sign/));
    const now = desk.deps.now();
    const { counterpartyFundBy } = (await swapOf(deal)).deadlines;
    desk.deps.freeze((counterpartyFundBy - 59) * 1_000);
    await assert.rejects(fundBySignature(desk, deal), refused(/needs 60 s before/));
    desk.deps.freeze((counterpartyFundBy + 1) * 1_000);
    await assert.rejects(
      fundBySignature(desk, deal),
      refused(/had to be funded by/, 'too_late_to_fund'),
    );
    desk.deps.freeze(now);
    assert.deepEqual(await jobsOf(desk, deal), []);
  },
);

test('stored and not sent by its time it is given up, and its nonce is free', limits, async () => {
  const deal = await dollarDeal(desk, dollar);
  await fundBySignature(desk, deal);
  const other = await fundedDeal(desk);
  const now = desk.deps.now();
  const { counterpartyFundBy } = (await swapOf(deal)).deadlines;
  desk.deps.freeze((counterpartyFundBy + 1) * 1_000);
  await passes(desk, 2);
  desk.deps.freeze(now);
  const [job] = await jobsOf(desk, deal);
  assert.deepEqual([job?.state, job?.reserve], ['dropped', '0']);
  assert.equal((await swapOf(deal)).legs.a.status, 'unfunded');
  must(await relay(other));
  const [own, instead] = [await attemptsOn(desk, deal), await attemptsOn(desk, other, evm2)];
  assert.equal(instead[0]?.nonce, own[0]?.nonce);
});

/** What its chain shows of this leg is `shown`, which may throw. */
async function whileShown(
  deal: Deal,
  leg: 'a' | 'b',
  shown: (facts: () => ReturnType<ChainAdapter['look']>) => ReturnType<ChainAdapter['look']>,
  then: () => Promise<void>,
): Promise<void> {
  const { escrow, chain } = (await swapOf(deal)).legs[leg];
  const adapter = desk.deps.adapters.get(chain) as { look: ChainAdapter['look'] };
  const { look } = adapter;
  adapter.look = (escrows, signal) => {
    const own = () => look.call(adapter, escrows, signal);
    return escrows.some(({ address }) => address === escrow) ? shown(own) : own();
  };
  await then().finally(() => {
    adapter.look = look;
  });
}

test('what nobody can tell of its own leg ends it', limits, async () => {
  const deal = await dollarDeal(desk, dollar);
  await fundBySignature(desk, deal);
  const untold = async (own: () => ReturnType<ChainAdapter['look']>) => {
    const { heads, facts } = await own();
    return { heads, facts: facts.map((each) => ({ ...each, outcome: 'unknown' as const })) };
  };
  await whileShown(deal, 'a', untold, () => passes(desk, 3));
  assert.equal((await jobsOf(desk, deal))[0]?.state, 'dropped');
  assert.equal((await swapOf(deal)).legs.a.status, 'unfunded');
});

test('while the other chain is silent it keeps nothing from being sent', limits, async () => {
  const other = await fundedDeal(desk);
  const deal = await dollarDeal(desk, dollar);
  await fundBySignature(desk, deal);
  const silent = () =>
    Promise.reject(new ParleyError('chain_timeout', 'evm-dev did not answer', {}));
  await whileShown(deal, 'b', silent, async () => {
    await passes(desk, 2);
    must(await relay(other));
    await passes(desk, 2);
    assert.equal((await swapOf(other)).legs.a.claimedBy, 'keeper');
    assert.equal((await swapOf(deal)).legs.a.status, 'unfunded');
    assert.deepEqual(
      (await jobsOf(desk, deal)).map(({ state }) => state),
      ['open'],
    );
  });
  await passes(desk, 2);
  assert.equal((await swapOf(deal)).legs.a.status, 'funded');
});

test(
  'it is made to pay more while it is passed over, and sent again where nodes forget it',
  limits,
  async () => {
    const deal = await dollarDeal(desk, dollar);
    await fundBySignature(desk, deal);
    await keep(desk);
    await desk.rpc(evm2)('anvil_dropAllTransactions');
    await keepAll(desk);
    await baseFee(desk, evm2, 8n * gwei);
    await desk.dev.mine(evm2, 1);
    assert.equal((await swapOf(deal)).legs.a.status, 'unfunded');
    desk.deps.advance(650_000);
    await keepAll(desk);
    await baseFee(desk, evm2, 8n * gwei);
    await deepen(desk);
    assert.equal((await swapOf(deal)).legs.a.status, 'funded');
    const [first, second] = await attemptsOn(desk, deal);
    assert.ok(BigInt(second?.offer ?? 0) > BigInt(first?.offer ?? 0));
    assert.equal(second?.nonce, first?.nonce);
  },
);

/** Blocks take ever more, and no funding can be signed to pay it. */
async function passOver(): Promise<void> {
  const refusal = new ParleyError('funding_would_fail', 'the token is paused', {});
  const { sign } = given.account;
  gas.account = {
    ...given.account,
    sign: async (work, ...how) => {
      if (work.verb === 'fund') throw refusal;
      return sign(work, ...how);
    },
  };
  for (let pass = 0; pass < 3; pass += 1) {
    await baseFee(desk, evm2, 13n * gwei);
    await desk.dev.mine(evm2, 1);
    desk.deps.advance(620_000);
    await keepAll(desk);
  }
  await baseFee(desk, evm2, 13n * gwei);
  await deepen(desk);
}

test('a claim of a public secret is not kept waiting: it gives its nonce up', limits, async () => {
  const deal = await dollarDeal(desk, dollar);
  const other = await fundedDeal(desk);
  await fundBySignature(desk, deal);
  await keep(desk);
  const text = 'update swaps set secret = $2 where id = $1';
  await desk.deps.db.rows({ name: 'test_secret', text, values: [other.id, other.secret] });
  await keep(desk);
  await passOver();
  const own = await attemptsOn(desk, deal);
  assert.deepEqual([own[0]?.verb, own.at(-1)?.verb], ['fund', 'void']);
  gas.account = given.account;
  await baseFee(desk, evm2, gwei);
  await passes(desk, 3);
  assert.equal((await swapOf(other)).legs.a.claimedBy, 'keeper');
  await passes(desk, 2);
  assert.equal((await swapOf(deal)).legs.a.status, 'funded', 'and later it lands too');
});

test(
  'a signature whose money left before it was mined counts, and ends a day’s fundings',
  limits,
  async () => {
    const deals = [await dollarDeal(desk, dollar)];
    const { maker } = deals[0] as Deal;
    deals.push(
      await dollarDeal(desk, dollar, { maker }),
      await dollarDeal(desk, dollar, { maker }),
    );
    for (const [at, deal] of deals.slice(0, 2).entries()) {
      await fundBySignature(desk, deal);
      await keep(desk);
      await cancel(deal);
      await deepen(desk);
      await passes(desk);
      assert.deepEqual(
        (await jobsOf(desk, deal)).map(({ state }) => state),
        ['dropped'],
      );
      assert.deepEqual(
        (await attemptsOn(desk, deal)).map(({ fate }) => fate),
        ['failed'],
      );
      const [sums] = await sumsOf(deal);
      assert.equal(sums.ownFailed, at + 1);
      await mintDollars(desk, dollar, maker);
      await mintDollars(desk, dollar, maker);
    }
    const third = fundBySignature(desk, deals[2] as Deal);
    await assert.rejects(third, refused(/2 fundings of this account failed .* 2 is the most/));
  },
);
