// Fundings that a party without a coin signed, sent by the watchtower within its cap of the day.

import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import type { ChainAdapter } from '@parley/chains/adapter.ts';
import { ParleyError } from '@parley/core/errors.ts';
import type { Asset } from '@parley/market/db/assets.ts';
import { must } from '@parley/market/settle/testing/world.ts';
import { fundingLeadSeconds } from './bounds.ts';
import { keySums } from './db/sums.ts';
import type { Gas } from './port.ts';
import { dayOf } from './spending.ts';
import type { Loose } from './testing/desk.ts';
import { type Deal, long, onMarket, short } from './testing/market.ts';
import { gwei, signatureFor } from './testing/memory.ts';

const m = onMarket();
let gas: Loose;
let given: Gas;
let dollar: Asset | null = null;
let deal: Deal;

/** The long leg is funded; the maker has dollars, and no coin. */
async function dollarDeal(of: { readonly maker?: Deal['maker'] } = {}): Promise<Deal> {
  dollar ??= await m.dollar();
  const made = await m.agree({ quote: dollar, ...of });
  await m.fund(made, long);
  return made;
}
beforeEach(async () => {
  gas = m.key();
  given = { ...gas };
  deal = await dollarDeal();
});

const refused =
  (says: RegExp, code = 'relay_unavailable') =>
  (error: unknown) => {
    assert.ok(error instanceof ParleyError, String(error));
    assert.equal(error.code, code, error.message);
    assert.match(error.message, says);
    return true;
  };
const sumsOf = () => keySums(m.deps.db, { chain: short, since: dayOf(m.deps.now()), except: null });
const reserveOf = async (of: Deal) => BigInt((await m.job(of))?.reserve ?? 0);
const statusOf = async (of: Deal) => (await m.swap(of)).legs.a.status;
const states = async (of: Deal) => (await m.jobs(of)).map(({ state }) => state);

test('a party without a coin funds by a signature: it lands, and counts with its cost', async () => {
  const first = await m.askFunding(deal);
  const open = await sumsOf();
  assert.equal(open.spent + open.promised, await reserveOf(deal));
  assert.deepEqual(await m.askFunding(deal), first, 'asked again it is the same');
  await m.passes(2);
  assert.equal(await statusOf(deal), 'funded');
  const { spent, reserved, promised, underWay } = await sumsOf();
  assert.ok(spent > 0n && spent < open.spent + open.promised, 'what it did cost');
  assert.deepEqual([reserved, promised, underWay], [0n, 0n, 0]);
  assert.deepEqual(await states(deal), ['done']);
  assert.deepEqual(await m.askFunding(deal), first, 'and so ever after');
  assert.equal((await m.attempts(deal)).length, 1);
});

test('another signer, a strange escrow, a native leg and too late a request are refused', async () => {
  const { address: escrow } = await m.escrowOn(deal);
  const { accountId } = deal.taker;
  const native = await m.funded();
  for (const [of, more, says, code] of [
    [deal, { signature: signatureFor('0xff') }, /the signature is none of 0x/, 'bad_signature'],
    [deal, { escrow: `${escrow.slice(0, -1)}x` }, /was never an escrow of leg/, 'unknown_escrow'],
    [deal, { accountId }, /is funded by the maker, not you/, 'not_your_leg'],
    [native, {}, /has no authorization to sign/, undefined],
  ] as const) {
    await assert.rejects(m.askFunding(of, more), refused(says, code));
  }
  const { counterpartyFundBy } = (await m.swap(deal)).deadlines;
  const lastAt = counterpartyFundBy - fundingLeadSeconds;
  m.deps.freeze((lastAt + 1) * 1_000);
  await assert.rejects(m.askFunding(deal), refused(/needs 60 s before/));
  m.deps.freeze((counterpartyFundBy + 1) * 1_000);
  const late = refused(/had to be funded by/, 'too_late_to_fund');
  await assert.rejects(m.askFunding(deal), late);
  assert.deepEqual(await m.jobs(deal), []);
  m.deps.freeze(lastAt * 1_000);
  await m.askFunding(deal);
});

test('while the other chain is silent it keeps nothing from being sent', async () => {
  const other = await m.funded();
  await m.askFunding(deal);
  const { address } = await m.escrowOn(deal, long);
  const real = m.deps.adapters.get(long) as ChainAdapter;
  const look: ChainAdapter['look'] = (escrows, signal) => {
    if (!escrows.some((each) => each.address === address)) return real.look(escrows, signal);
    return Promise.reject(new ParleyError('chain_timeout', 'evm-dev did not answer', {}));
  };
  const turns = async (count: number) => {
    for (let turn = 0; turn < count; turn += 1) {
      await m.turn();
      m.mine(5);
    }
  };
  m.show({ look }, long);
  await turns(2);
  must(await m.relay(other));
  await turns(2);
  assert.deepEqual(await states(deal), ['open']);
  assert.equal((await m.attempts(other))[0]?.outcome, 'deep', 'what came behind it has landed');
  m.show({}, long);
  await m.passes(2);
  assert.equal((await m.swap(other)).legs.a.claimedBy, 'keeper');
  assert.equal(await statusOf(deal), 'funded');
});

test('a claim of a public secret is not kept waiting: it gives its nonce up', async () => {
  const other = await m.funded();
  await m.askFunding(deal);
  await m.keep();
  await m.reveal(other);
  await m.keep();
  // Blocks take ever more, and no funding can be signed to pay it.
  const { sign } = given.account;
  gas.account = {
    ...given.account,
    sign: async (work, ...how) => {
      if (work.verb !== 'fund') return sign(work, ...how);
      throw new ParleyError('funding_would_fail', 'the token is paused', {});
    },
  };
  m.baseFee(13n * gwei);
  for (let pass = 0; pass < 3; pass += 1) {
    m.mine();
    m.deps.advance(620_000);
    await m.keepAll();
  }
  await m.deepen();
  const own = await m.attempts(deal);
  assert.deepEqual([own[0]?.verb, own.at(-1)?.verb], ['fund', 'void']);
  gas.account = given.account;
  m.baseFee(gwei);
  await m.passes(5);
  assert.equal((await m.swap(other)).legs.a.claimedBy, 'keeper');
  assert.equal(await statusOf(deal), 'funded', 'and later it lands too');
});

test('a signature whose money left before it was mined is not sent again', async () => {
  const { maker } = deal;
  await m.askFunding(deal);
  await m.keep();
  m.short.state.broke.add(maker.address);
  await m.passes();
  m.short.state.broke.clear();
  await m.passes();
  assert.deepEqual(await states(deal), ['dropped']);
  assert.deepEqual(
    (await m.attempts(deal)).map(({ outcome }) => outcome),
    ['failed'],
  );
  assert.ok((await sumsOf()).spentBeside > 0n, 'its cost counts');
  await assert.rejects(m.askFunding(deal), refused(/took 1 transactions for this leg and refused/));
});
