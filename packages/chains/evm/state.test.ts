import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Lane } from '@parley/core/terms.ts';
import type { Hex } from 'viem';
import { amountOf, quantity, type Rpc, rpcClient } from '../nodes/rpc.ts';
import { refuses } from '../testing/refusals.ts';
import { contractEscrow, evmDeployment, idOfEscrow } from './plan.ts';
import { laneSlot, lentOpen, openWord } from './simulate.ts';
import { mustBeOpen, stateAt } from './state.ts';
import { anyone, claim, fund, type Leg, later, newLeg, refund } from './testing/swap.ts';
import { evmWorld } from './testing/world.ts';

const { chain, signal } = await evmWorld();
const deployment = evmDeployment(31_337);
const rpc = rpcClient({ chain: 'evm-dev', urls: [chain.rpcUrl] });

const shown = ({ terms }: Pick<Leg, 'terms'>, at: number | 'latest' = 'latest') =>
  stateAt(rpc, deployment, terms, at, signal());
const height = async () => Number(await chain.client.getBlockNumber());

test('an escrow is told by its state, at any block', async () => {
  const leg = await newLeg(chain);
  const empty = await height();
  assert.deepEqual(await shown(leg), { state: 'never' });
  await fund(chain, leg);
  const opened = { state: 'open' };
  const full = await height();
  assert.deepEqual(await shown(leg), opened);
  await claim(chain, leg);
  assert.deepEqual(await shown(leg), { state: 'claimed' });
  assert.deepEqual(await shown(leg, empty), { state: 'never' });
  assert.deepEqual(await shown(leg, full), opened);
});

test('a refund, a later escrow in the lane, and a counter that others took', async () => {
  const leg = await newLeg(chain);
  await fund(chain, leg);
  await later(chain, 7_200);
  await refund(chain, leg);
  assert.deepEqual(await shown(leg), { state: 'refunded' });
  const other = await newLeg(chain, { lane: leg.terms.lane as Lane });
  assert.deepEqual(await shown(other), { state: 'void' });
  const lane = { ...(leg.terms.lane as Lane), counter: 2 };
  const next = await newLeg(chain, { lane });
  await fund(chain, next);
  assert.deepEqual(await shown(leg), { state: 'ended' });
  await mustBeOpen(rpc, deployment, next.terms, next.escrow.address, signal());
  const over = mustBeOpen(rpc, deployment, leg.terms, leg.escrow.address, signal());
  const words = new RegExp(`${leg.escrow.address}.*"ended"`);
  await assert.rejects(over, refuses('nothing_there', words));
});

test('before the contract was deployed there was no escrow; without one nothing is said', async () => {
  const leg = await newLeg(chain);
  assert.deepEqual(await shown(leg, 0), { state: 'never' });
  const nowhere = { ...deployment, contract: anyone.address };
  const asked = stateAt(rpc, nowhere, leg.terms, 'latest', signal());
  await assert.rejects(asked, /cannot be read: there is no contract at/);
});

for (const [what, answer] of [
  ['two words', `0x${'1'.padStart(64, '0').repeat(2)}`],
  ['a state that is none', `0x${'6'.padStart(64, '0')}`],
  ['a word with more in it', `0x${'1'.padEnd(63, '0')}1`],
  ['no hex', `0x${'x'.padStart(64, '0')}`],
  ['no text', null],
] as const) {
  test(`a node that answers ${what} says nothing of an escrow`, async () => {
    const odd: Rpc = { ...rpc, call: async () => answer };
    const { terms } = await newLeg(chain);
    for (const at of [7, 'latest'] as const) {
      const asked = stateAt(odd, deployment, terms, at, signal());
      await assert.rejects(asked, refuses('chain_unavailable'));
    }
  });
}

test('the word of an open escrow is what the contract writes, where it writes it', async () => {
  const leg = await newLeg(chain);
  await fund(chain, leg);
  const escrow = contractEscrow(leg.terms);
  const word = openWord(idOfEscrow(leg.escrow.address), escrow.counter);
  const slot = laneSlot(escrow);
  const address = deployment.contract as Hex;
  assert.equal(await chain.client.getStorageAt({ address, slot }), word);
});

test('with the word lent, an escrow is open for one call, and for no other', async () => {
  const leg = await newLeg(chain);
  const lent = lentOpen(leg.terms, deployment);
  assert.deepEqual(Object.keys(lent), [deployment.contract]);
  const lending: Rpc = {
    ...rpc,
    call: (method, params, by, own) => rpc.call(method, [...params, lent], by, own),
  };
  const { state } = await stateAt(lending, deployment, leg.terms, 'latest', signal());
  assert.equal(state, 'open');
  const other = await newLeg(chain, { lane: leg.terms.lane as Lane });
  const beside = await stateAt(lending, deployment, other.terms, 'latest', signal());
  assert.equal(beside.state, 'void');
  assert.equal((await shown(leg)).state, 'never');
});

test('a quantity is hex of a word at most, and is not parsed where it is longer', () => {
  assert.equal(quantity('0x7a69'), 31_337);
  assert.equal(quantity('0X0A'), 10);
  assert.equal(amountOf(`0x${'f'.repeat(64)}`), 2n ** 256n - 1n);
  const long = '9'.repeat(200);
  const wrong = ['', '0x', '12', long, `0x${'0'.repeat(65)}`, '0x1g', ' 0x1', '-0x1', 1, null, {}];
  for (const value of wrong) {
    assert.throws(() => amountOf(value), /the node gave .{0,81} as a number$/, String(value));
    assert.throws(() => quantity(value), /the node gave .{0,81} as a number$/, String(value));
  }
  assert.throws(() => quantity('0xfffffffffffffff'), /gave 0xfffffffffffffff as a number/);
  const list = Array.from({ length: 3 }, () => ({ toString: () => assert.fail('was quoted') }));
  assert.throws(() => quantity(list), /gave object as a number/);
});
