// The watchtower on two real EVM chains: claims and refunds that parties leave undone land,
// through a reorganisation and rising fees. Every other rule of it is tested on chains in memory.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { evm } from '@parley/market/settle/testing/world.ts';
import {
  agree,
  attemptsOn,
  both,
  claimOwn,
  type Deal,
  type Desk,
  deepen,
  fundBoth,
  jobsOf,
  keep,
  keepAll,
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
