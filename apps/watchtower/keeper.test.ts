// The watchtower on two real EVM chains: claims and refunds that parties leave undone land,
// through a reorganisation and rising fees. Every other rule of it is tested on chains in memory.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { evm, evm2, must } from '@parley/market/settle/testing/world.ts';
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

/** Both legs funded, and the secret public by the initiator's own claim. */
async function revealed(): Promise<Deal> {
  const deal = await agree(desk);
  await fundBoth(desk, deal);
  await claimOwn(desk, deal);
  await deepen(desk);
  return deal;
}

const longLegOf = async (deal: Deal) => (await swapOf(deal)).legs.b;

test('a counterparty that sleeps is paid, and its swap says so', async () => {
  const deal = await revealed();
  const { address } = deal.maker.evmAccount;
  const before = await desk.client(evm).getBalance({ address });
  await passes(desk, 2);
  const leg = await longLegOf(deal);
  assert.deepEqual([leg.status, leg.claimedBy, leg.refundedBy], ['claimed', 'keeper', null]);
  const now = await desk.client(evm).getBalance({ address });
  assert.equal((now - before).toString(), leg.amount);
  const { status, legs } = await swapOf(deal);
  assert.deepEqual([status, legs.a.claimedBy], ['counterparty_claimed', 'party']);
  await keepAll(desk);
  const jobs = (await jobsOf(desk, deal)).map(({ state, reserve }) => [state, reserve]);
  assert.deepEqual(jobs, Array(2).fill(['done', '0']), 'what is final is not read any more');
  const made = await attemptsOn(desk, deal);
  assert.deepEqual(
    made.map(({ verb, outcome }) => [verb, outcome]),
    [['claim', 'deep']],
  );
});

test('a reorganisation that takes the claim is followed: it lands again', async () => {
  const deal = await revealed();
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
  const leg = await longLegOf(deal);
  assert.deepEqual([leg.status, leg.claimedBy], ['claimed', 'keeper']);
  assert.equal((await attemptsOn(desk, deal)).length, 1, 'the same bytes again');
});

test('a claim that no block takes is made to pay more until one does', async () => {
  const deal = await revealed();
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
  const leg = await longLegOf(deal);
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

test('an expired leg goes back to a funder that sleeps', async () => {
  const deal = await agree(desk);
  await fundBoth(desk, deal);
  await desk.dev.time(7 * 86_400);
  for (const chain of both) await desk.dev.mine(chain, 1);
  await deepen(desk);
  await passes(desk, 4);
  const { status, refundedBy } = await longLegOf(deal);
  assert.deepEqual([status, refundedBy], ['refunded', 'keeper']);
  assert.equal((await relay(deal)).status, 409);
});
