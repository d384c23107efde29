// Without keys: what an agent is given to sign is held to all that the driver asks before it funds.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ChainAdapter } from '../../chains/adapter.ts';
import { paymentUri } from '../../chains/bitcoin/plan.ts';
import { evmDeployment, evmEscrow, fundCalls } from '../../chains/evm/plan.ts';
import { shardOf } from '../../contracts/escrows/ids.ts';
import { ParleyError } from '../../core/errors.ts';
import { type EscrowFacts, nothingSeen } from '../../core/facts.ts';
import { hashlockOf } from '../../core/hashlock.ts';
import type { LegName, Party } from '../../core/trade.ts';
import { memoryStore } from '../../sdk/stores/memory.ts';
import {
  bitcoinView,
  evmView,
  honestSwap,
  lastOf,
  now,
  pinned,
  shownLeg,
  swapId,
  termsOf,
  tradeOf,
} from '../../sdk/testing/honest.ts';
import type { Built, Swap } from '../../sdk/types.ts';
import { verifySwap } from '../../sdk/verify.ts';
import type { Desk } from '../desk.ts';
import { swapTools } from './swaps.ts';
import { keylessTools } from './unsigned.ts';

type Answer = Readonly<Record<string, never>> & {
  readonly words: readonly string[];
  readonly legs: readonly { readonly deep: boolean; readonly doubts: readonly string[] }[];
};

const paid = (confirmations: number, depth: number): EscrowFacts => ({
  ...nothingSeen,
  funded: { txid: 'one', confirmations, deep: confirmations >= depth },
  balance: 1n,
  empty: false,
});

type World = {
  swap: Swap;
  fund: unknown;
  clock: number;
  evm: EscrowFacts[];
  bitcoin: EscrowFacts[];
  disagree: boolean;
  view: typeof evmView;
};

/** A desk of this party, with one node a chain for each list of facts. */
async function deskOf(party: Party, given: Partial<World>) {
  const trade = tradeOf(party);
  const world: World = {
    swap: honestSwap(party),
    fund: null,
    clock: now,
    evm: [nothingSeen],
    bitcoin: [nothingSeen],
    disagree: false,
    view: evmView,
    ...given,
  };
  const sourceOf = (chain: string) => {
    const isEvm = chain === 'evm-dev';
    const nodes = (isEvm ? world.evm : world.bitcoin).map((facts) => ({
      chain,
      watch: () => {},
      unwatch: () => {},
      look: async () => ({ heads: { height: 100, hash: '', clock: world.clock }, facts: [facts] }),
      blockHash: async () => 'first',
      mustAgree: async () => {
        if (world.disagree) throw new ParleyError('sources_disagree', 'they differ', {});
      },
    })) as unknown as ChainAdapter[];
    const [adapter] = nodes as [ChainAdapter];
    return { view: isEvm ? world.view : bitcoinView, adapter, nodes };
  };
  const watched = memoryStore();
  await watched.putTrade(trade);
  const desk = {
    held: null,
    userId: party === 'maker' ? trade.makerId : trade.takerId,
    watched,
    client: { swap: async () => world.swap, fund: async () => world.fund },
    session: { source: async (chain: string) => sourceOf(chain), now: () => world.clock },
    names: async () => ({ of: () => ({ name: 'asset', decimals: 8, pinned: true }) }),
  } as unknown as Desk;
  const tools = [...keylessTools, ...swapTools];
  const call = (name: string, args: object) => {
    const tool = tools.find((each) => each.name === name);
    assert.ok(tool);
    return tool.run(desk, args as never) as Promise<Answer>;
  };
  return {
    world,
    watched,
    fund: () => call('unsigned_transaction', { swapId, verb: 'fund' }),
    verify: () => call('verify', { swapId }),
  };
}

/** The funding of the initiator's leg, on Bitcoin. */
function payment(swap: Swap): Partial<Built> {
  const { escrow } = swap.legs.b;
  const amountSats = '1000000';
  return {
    chain: 'bitcoin-regtest',
    family: 'bitcoin',
    sign: 'btc-payment',
    payTo: escrow ?? '',
    amountSats,
    uri: paymentUri(escrow ?? '', BigInt(amountSats)),
    escrow: escrow ?? '',
    validUntil: null,
  } as Partial<Built>;
}

/** The funding of the counterparty's leg, on EVM. */
function calls(swap: Swap): unknown {
  const own = swap.legs.a;
  const terms = termsOf('a', own.timelock, lastOf(swap.deadlines, 'a'));
  return {
    chain: 'evm-dev',
    family: 'evm',
    sign: 'evm-tx',
    chainId: 31_337,
    from: terms.refund.address,
    txs: fundCalls(terms, evmView.deployment, terms.amount),
    escrow: own.escrow,
    validUntil: null,
  };
}

const initiator = (given: Partial<World> = {}) => {
  const swap = honestSwap('taker');
  return deskOf('taker', { swap, fund: payment(swap), ...given });
};
const counterparty = (given: Partial<World> = {}) => {
  const swap = honestSwap('maker');
  return deskOf('maker', { swap, fund: calls(swap), bitcoin: [paid(9, 3)], ...given });
};

test('a Bitcoin payment is given out until the own node shows one, in a block or not', async () => {
  const { world, fund, watched } = await initiator();
  assert.deepEqual((await fund()).words.length, 1);
  assert.equal((await watched.getSwap(swapId))?.byHand, true);
  assert.deepEqual((await fund()).words.at(-1), 'it was given out before: sign and send it once');
  for (const confirmations of [0, 1, 9]) {
    world.bitcoin = [paid(confirmations, 3)];
    await assert.rejects(fund(), { code: 'already_funded' });
  }
  // One stale answer later it is known all the same.
  world.bitcoin = [nothingSeen];
  await assert.rejects(fund(), { code: 'sources_disagree', message: /denies what was seen/ });
});

test('the second one funds once the other leg is deep, and not before', async () => {
  const required = honestSwap('maker').legs.b.requiredConfirmations;
  for (const bitcoin of [nothingSeen, paid(0, required), paid(required - 1, required)]) {
    await assert.rejects((await counterparty({ bitcoin: [bitcoin] })).fund(), {
      code: 'not_fundable_yet',
    });
  }
  const { fund } = await counterparty({ bitcoin: [paid(required, required)] });
  assert.equal((await fund()).words.length, 1);
});

test('one of two nodes gives nothing out, nor a look by which sources differ', async () => {
  const one = await counterparty({ bitcoin: [paid(9, 3), nothingSeen] });
  await assert.rejects(one.fund(), { code: 'sources_disagree', message: /differently/ });
  assert.match((await one.verify()).legs[1]?.doubts.join() ?? '', /show an escrow differently/);
  const other = await counterparty({ disagree: true });
  await assert.rejects(other.fund(), { code: 'sources_disagree' });
  assert.equal(await one.watched.getSwap(swapId), null, 'nothing is kept as given out');
});

test('what is late, or being refunded, is given to nobody', async () => {
  const { deadlines } = honestSwap('maker');
  const late = { clock: deadlines.counterpartyFundBy + 1 };
  // First seen while the acceptance stood.
  const { world, verify, fund, watched } = await counterparty();
  await watched.putTrade({ ...tradeOf('maker'), swapSeenAt: now });
  await verify();
  Object.assign(world, late);
  await assert.rejects(fund(), { code: 'too_late_to_fund' });
  const refunded = { ...paid(9, 3), refunded: { txid: 'two', confirmations: 0, deep: false } };
  await assert.rejects((await counterparty({ bitcoin: [refunded] })).fund(), {
    code: 'already_refunded',
  });
  const unseen = await counterparty({ clock: now + 100_000 });
  await assert.rejects(unseen.fund(), { code: 'acceptance_lapsed' });
});

test('after it was given out another hashlock or escrow is not verified', async () => {
  const { world, fund, verify } = await counterparty();
  await fund();
  assert.equal((await verify()).legs[1]?.deep, true);
  const honest = world.swap;
  const leg = (name: LegName, alter: object) => {
    const was = honest.legs[name];
    const terms = { ...termsOf(name, was.timelock, lastOf(honest.deadlines, name)), ...alter };
    return { ...shownLeg(name, terms), requiredConfirmations: was.requiredConfirmations };
  };
  const secret = 'ab'.repeat(32);
  const hashlock = hashlockOf(secret);
  const legs = { a: leg('a', { hashlock }), b: leg('b', { hashlock }) };
  world.swap = { ...honest, hashlock, secret, legs };
  await assert.rejects(verify(), { name: 'VerificationError', field: 'hashlock' });
  await assert.rejects(fund(), { name: 'VerificationError', field: 'hashlock' });
  const lane = { number: '5a'.repeat(12), counter: 1 };
  world.swap = { ...honest, legs: { ...honest.legs, a: leg('a', { lane }) } };
  await assert.rejects(verify(), { name: 'VerificationError', field: 'legs.a.escrow' });
});

test('nothing is given out for a contract that takes no new money', async () => {
  const former = shardOf(1).address;
  const deployment = evmDeployment(31_337, { formerContracts: [former] });
  const swap = honestSwap('maker');
  const own = verifySwap(swap, tradeOf('maker'), pinned, { swapId, now }).legs.a.escrow?.terms;
  assert.ok(own?.lane);
  const terms = { ...own, lane: { ...own.lane, contract: former } };
  const { address } = evmEscrow(terms, deployment);
  const a = { ...swap.legs.a, lane: terms.lane, escrow: address } as Swap['legs']['a'];
  const { fund } = await counterparty({
    swap: { ...swap, legs: { ...swap.legs, a } },
    view: { ...evmView, deployment },
  });
  await assert.rejects(fund(), /contract/);
});
