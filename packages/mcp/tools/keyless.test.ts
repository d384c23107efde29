// Without keys: the material that an agent is given to sign must pass all checks of the driver
// before it funds, shows a secret, claims or refunds.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ChainAdapter } from '@parley/chains/adapter.ts';
import { paymentUri } from '@parley/chains/bitcoin/plan.ts';
import {
  claimCall,
  evmDeployment,
  evmEscrow,
  fundCalls,
  refundCall,
} from '@parley/chains/evm/plan.ts';
import type { EvmCall } from '@parley/chains/interface/material.ts';
import type { EscrowPayment, WatchedEscrow } from '@parley/chains/interface/reading.ts';
import { shardOf } from '@parley/contracts/escrows/ids.ts';
import { ParleyError } from '@parley/core/errors.ts';
import { type EscrowFacts, nothingSeen } from '@parley/core/facts.ts';
import { hashlockOf } from '@parley/core/hashlock.ts';
import type { LegName, Party } from '@parley/core/trade.ts';
import { ParleyApiError } from '@parley/sdk/errors.ts';
import { memoryStore } from '@parley/sdk/stores/memory.ts';
import {
  bitcoinView,
  evmView,
  honestSwap,
  lastOf,
  now,
  pinned,
  secret,
  shownLeg,
  swapId,
  termsOf,
  tradeOf,
} from '@parley/sdk/testing/honest.ts';
import type { Built, Swap } from '@parley/sdk/types.ts';
import { verifySwap } from '@parley/sdk/verify.ts';
import type { Desk } from '../desk.ts';
import { noWait } from '../waiting.ts';
import { swapTools } from './swaps.ts';
import { keylessTools } from './unsigned.ts';

// biome-ignore lint/suspicious/noExplicitAny: a test names the fields that it asks for
type Answer = any;

const paid = (confirmations: number, depth: number): EscrowFacts => ({
  ...nothingSeen,
  funded: { txid: 'one', confirmations, deep: confirmations >= depth },
  balance: 1n,
  empty: false,
});

type World = {
  /** null: the market is away. */
  swap: Swap | null;
  fund: unknown;
  clock: number;
  /** The answers of each node; an error: it fails with it. */
  evm: (EscrowFacts | Promise<Error>)[];
  bitcoin: (EscrowFacts | Promise<Error>)[];
  /** The escrows that a leg moved off. */
  former: EscrowFacts;
  payments: Partial<EscrowPayment>[];
  disagree: boolean;
  /** The preflight that throws: a payout's, or (`claim`) that of a claim that shows a secret. */
  refuses: 'payout' | 'claim' | null;
  view: typeof evmView;
  /** Before each look of the node at this place. */
  onLook: (place: number, chain: string) => Promise<void>;
};

const evmBuilt = (escrow: WatchedEscrow, call: EvmCall) => ({
  chain: 'evm-dev',
  family: 'evm',
  sign: 'evm-tx',
  chainId: 31_337,
  txs: [call],
  escrow: escrow.address,
});

/** A desk of this party, with one node a chain for each list of facts. */
async function deskOf(party: Party, given: Partial<World>) {
  const trade = tradeOf(party);
  const world: World = {
    swap: honestSwap(party),
    fund: null,
    clock: now,
    evm: [nothingSeen],
    bitcoin: [nothingSeen],
    former: nothingSeen,
    payments: [],
    disagree: false,
    refuses: null,
    view: evmView,
    onLook: async () => {},
    ...given,
  };
  const sourceOf = (chain: string) => {
    const isEvm = chain === 'evm-dev';
    const nodes = (isEvm ? world.evm : world.bitcoin).map((facts, place) => ({
      chain,
      watch: () => {},
      unwatch: () => {},
      look: async (escrows: readonly WatchedEscrow[]) => {
        await world.onLook(place, chain);
        if (facts instanceof Promise) throw await facts;
        const shown = escrows.map((_, at) => (at === 0 ? facts : world.former));
        return { heads: { height: 100, hash: '', clock: world.clock }, facts: shown };
      },
      ...(isEvm ? {} : { payments: async () => world.payments }),
      preflight: async (_: unknown, about: string) => {
        if (world.refuses === about)
          throw new ParleyError('payout_would_fail', 'it is refused', {});
      },
      claimShortage: async () => ({ sentence: 'the address has no gas' }),
      buildClaim: async ({ escrow }: { escrow: WatchedEscrow }, shown: string) => {
        return evmBuilt(escrow, claimCall(escrow.terms, evmView.deployment, shown));
      },
      buildRefund: async ({ escrow }: { escrow: WatchedEscrow }) =>
        evmBuilt(escrow, refundCall(escrow.terms, evmView.deployment)),
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
    hearings: new Map(),
    client: {
      swap: async () => {
        if (world.swap !== null) return world.swap;
        throw new ParleyApiError({ status: 0, code: 'no_answer', message: 'the market is gone' });
      },
      fund: async () => world.fund,
    },
    session: { source: async (chain: string) => sourceOf(chain), now: () => world.clock },
    names: async () => ({ of: () => ({ name: 'asset', decimals: 8, pinned: true }) }),
  } as unknown as Desk;
  const tools = [...keylessTools, ...swapTools];
  const call = (name: string, args: object) => {
    const tool = tools.find((each) => each.name === name);
    assert.ok(tool);
    return tool.run(desk, args as never, noWait) as Promise<Answer>;
  };
  return {
    world,
    watched,
    trade,
    fund: (of = swapId) => call('unsigned_transaction', { swapId: of, verb: 'fund' }),
    claim: () => call('unsigned_transaction', { swapId, verb: 'claim' }),
    refund: () => call('unsigned_transaction', { swapId, verb: 'refund' }),
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

test('a Bitcoin payment is given out once, and not where anything was paid', async () => {
  const { world, fund, watched } = await initiator();
  const some = { amount: 5n, confirmations: 0, is: 'too_little' } as const;
  world.payments = [some];
  await assert.rejects(fund(), { code: 'already_funded', message: /1 payments of 5 sats/ });
  world.payments = [];
  assert.deepEqual((await fund()).words.slice(1), ['lacking   the address has no gas']);
  assert.equal((await watched.getSwap(swapId))?.byHand, true);
  await assert.rejects(fund(), { code: 'handed_out' });
  for (const confirmations of [0, 1, 9]) {
    world.bitcoin = [paid(confirmations, 3)];
    await assert.rejects(fund(), { code: 'already_funded' });
  }
  world.bitcoin = [nothingSeen];
  await assert.rejects(fund(), { code: 'sources_disagree', message: /denies what was seen/ });
});

test('the calls of a contract are given again, as it takes one funding of these terms', async () => {
  const { world, fund } = await counterparty();
  assert.deepEqual((await fund()).material, (await fund()).material);
  world.evm = [paid(1, 2)];
  await assert.rejects(fund(), { code: 'already_funded' });
});

test('the second one funds once the other leg is deep, and not before', async () => {
  const required = honestSwap('maker').legs.b.requiredConfirmations;
  for (const bitcoin of [nothingSeen, paid(0, required), paid(required - 1, required)]) {
    await assert.rejects((await counterparty({ bitcoin: [bitcoin] })).fund(), {
      code: 'not_fundable_yet',
    });
  }
  const { fund } = await counterparty({ bitcoin: [paid(required, required)] });
  assert.equal((await fund()).verb, 'fund');
});

test('one of two nodes gives nothing out, nor a look by which sources differ', async () => {
  const one = await counterparty({ bitcoin: [paid(9, 3), nothingSeen] });
  await assert.rejects(one.fund(), { code: 'sources_disagree', message: /differently/ });
  assert.match((await one.verify()).legs[1]?.doubts.join() ?? '', /show an escrow differently/);
  const other = await counterparty({ disagree: true });
  await assert.rejects(other.fund(), { code: 'sources_disagree' });
  const { legs: shown } = await other.verify();
  const shut = [shown[0]?.doubts, shown[1]?.doubts];
  assert.deepEqual(shut, [['they differ'], ['they differ']], 'verify says why');
  assert.equal((await one.watched.getSwap(swapId))?.byHand, undefined, 'it was not given out');
});

test('a slow node’s word of the call before lets a funding be given out', async () => {
  const { world, fund } = await counterparty({ bitcoin: [paid(9, 3), paid(9, 3)] });
  let slow = Promise.withResolvers<void>();
  world.onLook = async (place) => {
    if (place === 1) await slow.promise;
  };
  await assert.rejects(fund(), { code: 'sources_disagree', message: /has yet to answer/ });
  slow.resolve();
  await new Promise(setImmediate);
  slow = Promise.withResolvers<void>();
  assert.equal((await fund()).verb, 'fund');
});

test('an overdue swap, or one being refunded, is given to nobody', async () => {
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

test('no transaction is given out that became overdue while it was built, or under other policies', async () => {
  const late = await counterparty();
  const { counterpartyFundBy } = honestSwap('maker').deadlines;
  const built = late.world.fund;
  Object.defineProperty(late.world, 'fund', {
    get: () => {
      late.world.clock = counterpartyFundBy + 1;
      return built;
    },
  });
  await assert.rejects(late.fund(), { code: 'too_late_to_fund' });
  const { world, fund, verify } = await counterparty();
  await verify();
  const { policy } = evmView;
  const reactSeconds = policy.reactSeconds + 60;
  world.view = { ...evmView, policy: { ...policy, reactSeconds } };
  await assert.rejects(fund(), { code: 'terms_outdated' });
});

test('the market must build the funding of the own terms', async () => {
  const { world, fund, watched } = await counterparty();
  const [first] = (world.fund as { txs: EvmCall[] }).txs;
  world.fund = { ...(world.fund as object), txs: [{ ...first, value: '1' }] };
  await assert.rejects(fund(), { name: 'VerificationError' });
  assert.equal((await watched.getSwap(swapId))?.byHand, undefined);
});

/** The same with another hashlock or other terms of a leg. */
function altered(swap: Swap, of: { hashlock?: string; lane?: object }, names: LegName[]): Swap {
  const legs = { ...swap.legs };
  for (const name of names) {
    const { timelock, requiredConfirmations } = swap.legs[name];
    const terms = { ...termsOf(name, timelock, lastOf(swap.deadlines, name)), ...of };
    legs[name] = { ...shownLeg(name, terms as never), requiredConfirmations };
  }
  return { ...swap, legs };
}
const lane = { number: '5a'.repeat(12), counter: 1 };

test('another hashlock is not verified once the swap was seen, given out or not', async () => {
  for (const isGiven of [true, false]) {
    const { world, fund, verify } = await counterparty();
    await (isGiven ? fund() : verify());
    assert.equal((await verify()).legs[1]?.deep, true);
    const other = 'ab'.repeat(32);
    const hashlock = hashlockOf(other);
    const lie = altered(honestSwap('maker'), { hashlock }, ['a', 'b']);
    world.swap = { ...lie, hashlock, secret: other };
    await assert.rejects(verify(), { name: 'VerificationError', field: 'hashlock' });
    await assert.rejects(fund(), { name: 'VerificationError', field: 'hashlock' });
  }
});

test('the own escrow moves until it was given out, and what was given is taken back', async () => {
  const { world, fund, verify, refund } = await counterparty();
  const [first] = (await verify()).legs;
  const honest = honestSwap('maker');
  world.swap = altered(honest, { lane }, ['a']);
  const [moved] = (await verify()).legs;
  assert.notEqual(moved.escrow, first.escrow);
  world.swap = honest;
  await fund();
  world.swap = altered(honest, { lane }, ['a']);
  await assert.rejects(verify(), { name: 'VerificationError', field: 'legs.a.escrow' });
  await assert.rejects(fund(), { name: 'VerificationError', field: 'legs.a.escrow' });
  world.evm = [paid(9, 2)];
  world.clock = honest.legs.a.timelock;
  assert.equal((await refund()).material.escrow, first.escrow);
});

test('money in an escrow that the other leg moved off stops a funding, and is claimed', async () => {
  const { world, fund, claim, verify } = await initiator();
  const [first] = (await verify()).legs;
  const honest = honestSwap('taker');
  world.swap = altered(honest, { lane }, ['a']);
  const [moved] = (await verify()).legs;
  assert.notEqual(moved.escrow, first.escrow);
  world.former = paid(2, 2);
  await assert.rejects(fund(), { code: 'former_escrow_funded' });
  world.swap = { ...world.swap, secret };
  assert.equal((await claim()).material.escrow, first.escrow);
});

test('one swap of a request is given out, under whatever id', async () => {
  const { world, fund, watched, trade } = await counterparty();
  await fund();
  const id = swapId.replace(/1$/, '2');
  const threadId = `${trade.threadId.slice(0, -1)}2`;
  world.swap = { ...honestSwap('maker'), id };
  await assert.rejects(fund(id), { code: 'hashlock_used' });
  await watched.putTrade({ ...trade, threadId });
  world.swap = { ...honestSwap('maker'), id, threadId };
  await assert.rejects(fund(id), { code: 'hashlock_used' });
});

test('one call at a time opens a swap', async () => {
  const { world, verify, watched } = await counterparty();
  let holders = 0;
  watched.lock = async () => {
    holders += 1;
    const release = async () => {
      holders -= 1;
    };
    return { release };
  };
  world.onLook = async () => assert.equal(holders, 1);
  await verify();
  assert.equal(holders, 0);
  watched.lock = async () => null;
  await assert.rejects(verify(), { code: 'in_use' });
});

test('a leg that could not be paid out is not funded', async () => {
  const { fund, watched } = await counterparty({ refuses: 'payout' });
  await assert.rejects(fund(), { code: 'payout_would_fail' });
  assert.equal((await watched.getSwap(swapId))?.byHand, undefined);
});

test('the next step is by the rules and the own nodes, whatever the market says', async () => {
  const swap = honestSwap('taker');
  const lie = { by: 'initiator', action: 'claim', leg: 'a', before: null, why: 'now' } as const;
  const { world, verify } = await initiator({ swap: { ...swap, next: [lie] } });
  const own = async () =>
    (await verify()).next
      .filter(({ by }: Answer) => by === 'you')
      .map(({ action }: Answer) => action);
  assert.deepEqual(await own(), ['fund']);
  world.bitcoin = [paid(3, 3)];
  assert.deepEqual(await own(), ['wait']);
  world.evm = [paid(2, 2), nothingSeen];
  assert.deepEqual(await own(), []);
  world.evm = [paid(2, 2)];
  assert.deepEqual(await own(), ['claim']);
});

test('a secret is to be shown in time, with both legs deep by nodes that agree', async () => {
  const both = { evm: [paid(2, 2)], bitcoin: [paid(3, 3)] };
  const { revealBy } = honestSwap('taker').deadlines;
  const said = async (change: Partial<World>) => {
    const { claim, watched, trade } = await initiator({ ...both, ...change });
    await watched.putTrade({ ...trade, swapSeenAt: now });
    const error = await claim().catch((caught: unknown) => caught);
    assert.equal(error.code, 'secret_not_public');
    return error.facts.code ?? error.facts.mayReveal;
  };
  assert.equal(await said({}), true);
  assert.equal(await said({ clock: revealBy }), true);
  assert.equal(await said({ clock: revealBy + 1 }), 'too_late_to_reveal');
  assert.equal(await said({ bitcoin: [paid(3, 3), nothingSeen] }), 'sources_disagree');
  assert.equal(await said({ disagree: true }), 'sources_disagree');
  assert.equal(await said({ refuses: 'claim' }), 'payout_would_fail');
  const shallow = await initiator({ ...both, evm: [paid(1, 2)] });
  await assert.rejects(shallow.claim(), {
    facts: { leg: 'a', mayReveal: false, code: 'not_both_funded' },
  });
});

test('a public secret is claimed with, by own nodes and with the market away', async () => {
  const shown = { ...paid(3, 3), secret };
  const { world, verify, claim, watched } = await initiator({
    evm: [paid(2, 2)],
    bitcoin: [shown],
  });
  await verify();
  assert.equal((await watched.getSwap(swapId))?.publicSecret, secret);
  world.swap = null;
  // It was seen once, and is known whatever a node shows now.
  world.bitcoin = [nothingSeen];
  const { material, sendBefore } = await claim();
  const { a } = honestSwap('taker').legs;
  assert.deepEqual([material.escrow, Date.parse(sendBefore) / 1_000], [a.escrow, a.timelock]);
  const terms = termsOf('a', a.timelock, lastOf(honestSwap('taker').deadlines, 'a'));
  assert.deepEqual(material.txs, [claimCall(terms, evmView.deployment, secret)]);
});

test('a secret that the market alone shows is claimed with, and one that opens nothing is not', async () => {
  const { world, verify, claim } = await initiator({ evm: [paid(2, 2)], bitcoin: [paid(3, 3)] });
  await verify();
  world.swap = { ...honestSwap('taker'), secret: 'ab'.repeat(32) };
  await assert.rejects(claim(), { code: 'secret_not_public' });
  world.swap = { ...honestSwap('taker'), secret };
  assert.equal((await claim()).verb, 'claim');
});

test('a refund is given from the timelock on by the clock of its chain, with the market away', async () => {
  const { world, fund, refund } = await counterparty();
  await fund();
  const { timelock } = honestSwap('maker').legs.a;
  Object.assign(world, { swap: null, evm: [paid(9, 2)], clock: timelock - 1 });
  await assert.rejects(refund(), { code: 'too_early_to_refund' });
  world.clock = timelock;
  assert.equal((await refund()).sendBefore, null);
});

test('no transaction is given out for a contract that takes no new money', async () => {
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
    fund: {
      ...(calls(swap) as object),
      txs: fundCalls(terms, deployment, terms.amount),
      escrow: address,
    },
  });
  await assert.rejects(fund(), { name: 'VerificationError', field: 'legs.a.lane.contract' });
});
