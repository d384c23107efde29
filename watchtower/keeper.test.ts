// The watchtower on two real EVM chains: what parties leave undone lands, alone or together,
// through a reorganisation and rising fees. Every other rule of it is tested on chains in memory.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Hex } from 'viem';
import { callsIn, evmDeployment } from '../chains/evm/plan.ts';
import { evm, evm2, must } from '../server/settle/testing/world.ts';
import {
  agree,
  attemptsOn,
  baseFee,
  both,
  claimOwn,
  type Deal,
  type Desk,
  deepen,
  fundBoth,
  gwei,
  jobsOf,
  keep,
  keepAll,
  legOf,
  look,
  passes,
  relay,
  startDesk,
  swapOf,
} from './testing/desk.ts';

let desk: Desk;
before(async () => {
  desk = await startDesk();
});
after(() => desk?.close());

/** Both legs of each funded, and the secrets public by the initiators' own claims. */
async function revealed(count = 1): Promise<Deal[]> {
  const deals: Deal[] = [];
  for (let at = 0; at < count; at += 1) {
    const deal = await agree(desk);
    await fundBoth(desk, deal);
    deals.push(deal);
  }
  for (const deal of deals) await claimOwn(desk, deal);
  await deepen(desk);
  return deals;
}

const legsOf = async (deals: readonly Deal[]) =>
  (await Promise.all(deals.map(swapOf))).map(({ legs }) => legs.b);

test('counterparties that sleep are paid by one transaction, and their swaps say so', async () => {
  const deals = (await revealed(2)) as [Deal, Deal];
  const [deal] = deals;
  const { address } = deal.maker.evmAccount;
  const before = await desk.client(evm).getBalance({ address });
  await passes(desk, 2);
  const [leg, other] = await legsOf(deals);
  assert.deepEqual([leg.status, leg.claimedBy, leg.refundedBy], ['claimed', 'keeper', null]);
  assert.equal(other.claimTx, leg.claimTx);
  const { input } = await desk.client(evm).getTransaction({ hash: leg.claimTx as Hex });
  const settled = callsIn(input, evmDeployment(31_337)).map(({ escrow }) => escrow);
  assert.deepEqual(settled.sort(), [leg.escrow, other.escrow].sort());
  const now = await desk.client(evm).getBalance({ address });
  assert.equal((now - before).toString(), leg.amount);
  const { status, legs } = await swapOf(deal);
  assert.deepEqual([status, legs.a.claimedBy], ['counterparty_claimed', 'party']);
  await keepAll(desk);
  const jobs = (await jobsOf(desk, deal)).map(({ state, reserve }) => [state, reserve]);
  assert.deepEqual(jobs, Array(2).fill(['done', '0']), 'what is final is not read any more');
  const made = (await Promise.all(deals.map((each) => attemptsOn(desk, each)))).flat();
  assert.deepEqual(
    made.map(({ verb, outcome }) => [verb, outcome]),
    [['claim', 'deep']],
  );
});

test('a reorganisation that takes the claim is followed: it lands again', async () => {
  const [deal] = (await revealed()) as [Deal];
  const rpc = desk.rpc(evm);
  const snapshot = await rpc<string>('evm_snapshot');
  await keep(desk);
  await desk.dev.mine(evm, 1);
  await look(desk);
  await keepAll(desk);
  const [attempt] = await attemptsOn(desk, deal);
  assert.equal(attempt?.outcome, 'mined');
  await rpc('evm_revert', [snapshot]);
  await desk.dev.mine(evm, 3);
  await look(desk);
  assert.equal((await swapOf(deal)).legs.b.claimTx, null, 'it is gone');
  await passes(desk);
  const [leg] = await legsOf([deal]);
  assert.deepEqual([leg.status, leg.claimedBy], ['claimed', 'keeper']);
  assert.equal((await attemptsOn(desk, deal)).length, 1, 'the same bytes again');
});

test('a claim that no block takes is made to pay more until one does', async () => {
  const [deal] = (await revealed()) as [Deal];
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
  const [leg] = await legsOf([deal]);
  assert.deepEqual([leg.status, leg.claimTx], ['claimed', attempts[1]?.txid]);
  await baseFee(desk, evm, gwei);
  await deepen(desk);
  await keepAll(desk);
  const outcomes = (await attemptsOn(desk, deal)).map(({ outcome }) => outcome);
  assert.deepEqual(outcomes, ['gone', 'deep']);
});

test('a relayed claim lands without any coin of its receiver, and twice is once', async () => {
  const deal = await agree(desk);
  const early = await relay(deal);
  assert.deepEqual([early.status, early.code], [409, 'not_both_funded']);
  await fundBoth(desk, deal);
  const body = { secret: '11'.repeat(32), relay: true };
  const wrong = await deal.taker.post(legOf(deal, 'a', 'claim'), body);
  assert.deepEqual([wrong.status, wrong.code], [400, 'wrong_secret']);
  const { address } = deal.taker.evmAccount;
  const balance = () => desk.client(evm2).getBalance({ address });
  assert.equal(await balance(), 0n);
  const first = must(await relay(deal));
  assert.equal(first.relayed, true);
  assert.deepEqual(must(await relay(deal)), first);
  assert.equal((await swapOf(deal)).secret, null, 'nothing has left yet');
  await keep(desk);
  assert.equal((await swapOf(deal)).secret, deal.secret);
  await deepen(desk);
  const { a } = (await swapOf(deal)).legs;
  assert.deepEqual([a.status, a.claimTx, a.claimedBy], ['claimed', first.txid, 'keeper']);
  assert.equal((await balance()).toString(), a.amount);
  assert.equal((await attemptsOn(desk, deal, evm2)).length, 1);
});

test('expired legs go back to funders that sleep, by one transaction', async () => {
  const deals = [await agree(desk), await agree(desk)];
  for (const deal of deals) await fundBoth(desk, deal);
  await desk.dev.time(7 * 86_400);
  for (const chain of both) await desk.dev.mine(chain, 1);
  await deepen(desk);
  await passes(desk, 4);
  const legs = await legsOf(deals);
  for (const { status, refundedBy } of legs) {
    assert.deepEqual([status, refundedBy], ['refunded', 'keeper']);
  }
  assert.equal(new Set(legs.map(({ refundTx }) => refundTx)).size, 1);
  assert.equal((await relay(deals[0] as Deal)).status, 409);
});
