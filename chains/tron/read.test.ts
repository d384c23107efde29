import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { hexToBytes } from '@noble/hashes/utils.js';
import { initCode } from '../../contracts/escrows/artifacts/abi.ts';
import { type EscrowFacts, legStatus, nothingSeen } from '../../core/facts.ts';
import { freshLane } from '../../core/testing.ts';
import { faucetAddress } from '../../simulators/tron/simulator.ts';
import { untilTested } from '../testing/nodes.ts';
import { type TronAdapter, tronAdapter } from './adapter.ts';
import { createdAddress } from './identity.ts';
import { bareAddress, fundCalls, type TronOrigin } from './plan.ts';
import { tronDevPolicy } from './policy.ts';
import {
  anyone,
  claim,
  fund,
  funder,
  type Leg,
  newLeg,
  post,
  quoting,
  receiver,
  refund,
  signal,
  solidityLag,
  startTron,
} from './testing/chain.ts';
import { type Lie, lyingNode } from './testing/nodes.ts';

const chain = await startTron();
after(() => chain.stop());
const lying = untilTested((lie: Lie) => lyingNode(chain.url, lie));

function adapterOf(log: string[] = [], hasEvents = true, url = chain.url): TronAdapter {
  return tronAdapter({
    chain: 'tron-dev',
    deployment: chain.deployment,
    sources: [hasEvents ? { url } : { url, jsonRpcUrl: `${url}/nowhere` }],
    policy: tronDevPolicy,
    log: (event) => log.push(event),
  });
}

function legsInLane(count: number): Leg[] {
  const { number } = freshLane();
  return Array.from({ length: count }, (_, at) =>
    newLeg(chain, { lane: { number, counter: at + 1 } }),
  );
}

const read = (adapter: TronAdapter, { escrow }: Leg, stored?: EscrowFacts) =>
  adapter.readEscrow(stored === undefined ? escrow : { ...escrow, stored }, signal());

/** Nobody knows what it was: its leg is `seen`, so that nobody funds on it. */
const unknown: EscrowFacts = { ...nothingSeen, outcome: 'unknown' };

async function settled(leg: Leg, verb: 'claim' | 'refund'): Promise<void> {
  await fund(chain, leg);
  if (verb === 'refund') await chain.pass(7_300);
  await (verb === 'claim' ? claim(chain, leg) : refund(chain, leg));
}

for (const verb of ['claim', 'refund'] as const) {
  test(`after a ${verb} and another escrow in its lane, what was stored stays`, async () => {
    const [first, second] = legsInLane(2) as [Leg, Leg];
    await settled(first, verb);
    await chain.solidify();
    const stored = await read(adapterOf(), first);
    assert.equal(legStatus(stored), verb === 'claim' ? 'claimed' : 'refunded');
    const next = newLeg(chain, { ...(second.terms.lane && { lane: second.terms.lane }) });
    await fund(chain, next);
    const log: string[] = [];
    const adapter = adapterOf(log);
    // The solid word has this escrow yet; then it has the later one.
    for (const blocks of [0, solidityLag]) {
      if (blocks > 0) await chain.dev.mine(blocks);
      const after = await read(adapter, first, stored);
      assert.deepEqual(after, { ...stored, empty: true });
    }
    assert.deepEqual(log, []);
    assert.equal(legStatus(await read(adapter, next)), 'funded');
  });

  test(`after a ${verb} and another escrow in its lane, logs that were followed tell of it`, async () => {
    const { number } = freshLane();
    const adapter = adapterOf();
    const first = newLeg(chain, { lane: { number, counter: 1 } });
    adapter.watch([first.escrow]);
    await adapter.changes(signal());
    const fundTx = await fund(chain, first);
    await adapter.changes(signal());
    if (verb === 'refund') await chain.pass(7_300);
    const settleTx = await (verb === 'claim' ? claim(chain, first) : refund(chain, first));
    await fund(chain, newLeg(chain, { lane: { number, counter: 2 } }));
    await adapter.changes(signal());
    const early = await read(adapter, first);
    const outcome = ({ claimed, refunded }: EscrowFacts) =>
      verb === 'claim' ? [claimed, refunded] : [refunded, claimed];
    const before = outcome(early);
    assert.deepEqual([before[0]?.txid, before[0]?.deep, before[1]], [settleTx, false, null]);
    assert.equal(early.empty, false);
    // Deep once is deep for ever, whatever this node says.
    const deep = { txid: 'aa', confirmations: 30, deep: true };
    const known = await read(adapter, first, { ...nothingSeen, funded: deep, claimed: deep });
    assert.deepEqual([known.funded, known.claimed, known.refunded], [deep, deep, null]);
    await chain.solidify();
    const late = await read(adapter, first);
    const [after, other] = outcome(late);
    assert.deepEqual([after?.txid, after?.deep, other], [settleTx, true, null]);
    assert.deepEqual([late.funded?.txid, late.funded?.deep], [fundTx, true]);
    assert.deepEqual([late.balance, late.empty], [0n, true]);
    assert.equal(late.secret, verb === 'claim' ? first.secret : null);
    // Confirmed as often as its escrow wants, or it is not deep.
    const wanting = { ...first.escrow, requiredConfirmations: 1_000 };
    const waits = await adapter.readEscrow(wanting, signal());
    assert.deepEqual(outcome(waits)[0]?.deep, false);
  });
}

test('an escrow of a lane that has a later one, and of which nothing is known, was seen and is empty', async () => {
  const [first, second] = legsInLane(2) as [Leg, Leg];
  await settled(first, 'claim');
  await chain.solidify();
  await fund(chain, second);
  await chain.solidify();
  const log: string[] = [];
  const facts = await read(adapterOf(log, false), first);
  assert.deepEqual(facts, unknown);
  assert.deepEqual(log, ['no_events', 'unknown_outcome']);
  assert.equal(legStatus(facts), 'seen');
});

for (const verb of ['claim', 'refund'] as const) {
  test(`an index of events tells of a funding and a ${verb} that nobody followed or stored`, async () => {
    const { number } = freshLane();
    const first = newLeg(chain, { lane: { number, counter: 1 } });
    const fundTx = await fund(chain, first);
    if (verb === 'refund') await chain.pass(7_300);
    const settleTx = await (verb === 'claim' ? claim(chain, first) : refund(chain, first));
    await chain.solidify();
    // The word tells of the settling alone.
    assert.equal((await read(adapterOf([], false), first)).funded?.txid, 'unknown');
    assert.equal((await read(adapterOf(), first)).funded?.txid, fundTx);
    await fund(chain, newLeg(chain, { lane: { number, counter: 2 } }));
    await chain.solidify();
    const facts = await read(adapterOf(), first);
    const [settled, other] =
      verb === 'claim' ? [facts.claimed, facts.refunded] : [facts.refunded, facts.claimed];
    assert.deepEqual([settled?.txid, settled?.deep, other], [settleTx, true, null]);
    assert.deepEqual([facts.funded?.txid, facts.outcome], [fundTx, undefined]);
    assert.equal(facts.secret, verb === 'claim' ? first.secret : null);
  });
}

test('what an index of events tells after a look is told by the next one, and asked once', async () => {
  const { number } = freshLane();
  const first = newLeg(chain, { lane: { number, counter: 1 } });
  await settled(first, 'claim');
  await fund(chain, newLeg(chain, { lane: { number, counter: 2 } }));
  await chain.solidify();
  let asked = 0;
  const [slow, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const node = await lying(async ({ body }, forward) => {
    if (body.method !== 'eth_getLogs') return forward();
    asked += 1;
    await slow.promise;
    return forward().finally(answered.resolve);
  });
  const adapter = adapterOf([], true, node.url);
  assert.deepEqual(await read(adapter, first), unknown);
  slow.resolve();
  await answered.promise;
  // The search ends while nobody looks.
  await sleep(300);
  const limit = signal();
  let told = await read(adapter, first);
  while (told.outcome === 'unknown' && !limit.aborted) told = await read(adapter, first);
  assert.deepEqual([told.claimed?.deep, told.secret, asked], [true, first.secret, 1]);
});

test('an escrow that was never funded is not made to look so by others in its lane', async () => {
  const [first, second] = legsInLane(2) as [Leg, Leg];
  const { lane } = first.terms;
  assert.ok(lane);
  const adapter = adapterOf();
  adapter.watch([first.escrow]);
  await adapter.changes(signal());
  const other = newLeg(chain, { lane });
  await settled(other, 'claim');
  await chain.solidify();
  await adapter.changes(signal());
  // Its counter went to another, and it can never be funded.
  assert.deepEqual(await read(adapter, first), nothingSeen);
  await fund(chain, second);
  await chain.solidify();
  await adapter.changes(signal());
  for (const each of [adapter, adapterOf()]) {
    assert.deepEqual(await read(each, first), unknown);
    assert.deepEqual(await read(each, first, nothingSeen), unknown);
  }
});

test('a funding whose block was taken back proves nothing once the lane has a later escrow', async () => {
  const [first, second] = legsInLane(2) as [Leg, Leg];
  const { lane } = first.terms;
  assert.ok(lane);
  const adapter = adapterOf();
  adapter.watch([first.escrow]);
  await adapter.changes(signal());
  await fund(chain, first);
  await adapter.changes(signal());
  const stored = await read(adapter, first);
  assert.equal(legStatus(stored), 'seen');
  await chain.dev.simulator.chain.takeBack(1);
  // Somebody quotes it in the block that comes in the place of its own.
  const [call] = fundCalls(first.terms, chain.deployment, 0n);
  const contract = bareAddress(chain.deployment.contract).slice(2);
  await post(chain, quoting(chain, anyone, contract + call?.data));
  await chain.dev.mine(1);
  const other = newLeg(chain, { lane });
  await settled(other, 'claim');
  await fund(chain, second);
  await chain.solidify();
  assert.deepEqual(await read(adapter, first), unknown);
  await adapter.changes(signal());
  assert.deepEqual(await read(adapter, first), unknown);
  assert.equal((await read(adapterOf(), first, stored)).funded?.deep, false);
});

test('what came of an escrow is solid although a later one waits for a block in its lane', async () => {
  const [first, second] = legsInLane(2) as [Leg, Leg];
  await settled(first, 'claim');
  await chain.solidify();
  await fund(chain, second);
  const facts = await read(adapterOf(), first);
  assert.deepEqual([legStatus(facts), facts.empty], ['claimed', true]);
  assert.deepEqual([facts.funded?.deep, facts.refunded], [true, null]);
});

test('a claim that was stored is none where the solid word says refunded', async () => {
  const [first, second] = legsInLane(2) as [Leg, Leg];
  await fund(chain, first);
  await chain.pass(7_300);
  await refund(chain, first);
  await chain.solidify();
  await fund(chain, newLeg(chain, { ...(second.terms.lane && { lane: second.terms.lane }) }));
  const claimed = { txid: 'aa', confirmations: 1, deep: false };
  const stored = { ...nothingSeen, claimed };
  const facts = await read(adapterOf(), first, stored);
  assert.deepEqual([legStatus(facts), facts.claimed, facts.outcome], ['refunded', null, undefined]);
  await chain.solidify();
  // What was not deep when it was stored stays what it was, and is no outcome.
  const blind = await read(adapterOf([], false), first, stored);
  assert.deepEqual(blind, { ...stored, outcome: 'unknown' });
  assert.equal(legStatus(await read(adapterOf(), first, stored)), 'refunded');
});

let adapter: TronAdapter;

before(async () => {
  const { deployment, url } = chain;
  const sources = [{ url }];
  adapter = tronAdapter({ chain: 'tron-dev', deployment, sources, policy: tronDevPolicy });
});

const legIn = (number: string, counter: number) => newLeg(chain, { lane: { number, counter } });

const contract = () => chain.deployment.contract;

async function lanesNow(...numbers: string[]) {
  const of = { contract: contract(), funder: funder.address };
  const states = await adapter.lanes?.read(of, numbers, signal());
  return states?.map(({ counter, isOpen }) => [counter, isOpen]);
}

test('a lane counts its escrows, and is open while the last one holds money', async () => {
  assert.equal(adapter.lanes?.contractFor(funder.address), contract());
  const { number } = freshLane();
  assert.deepEqual(await lanesNow(number), [[0, false]]);
  const first = legIn(number, 1);
  await fund(chain, first);
  assert.deepEqual(await lanesNow(number), [[1, true]]);
  await claim(chain, first);
  assert.deepEqual(await lanesNow(number), [[1, false]]);
  const second = legIn(number, 2);
  await fund(chain, second);
  assert.deepEqual(await lanesNow(number), [[2, true]]);
  await chain.pass(7_300);
  assert.deepEqual(await lanesNow(number), [[2, true]], 'a timelock alone closes nothing');
  await refund(chain, second);
  assert.deepEqual(await lanesNow(number), [[2, false]]);
});

test('many lanes are told in the order asked for, each of this funder alone', async () => {
  // The lowest and the highest number there is among them.
  const edges = ['0'.repeat(24), 'f'.repeat(24)];
  const numbers = [...edges, ...Array.from({ length: 18 }, () => freshLane().number)];
  const used = new Map([0, 1, 7, 8, 19].map((at) => [numbers[at] as string, at % 2 === 0]));
  for (const [number, isOpen] of used) {
    const leg = legIn(number, 1);
    await fund(chain, leg);
    if (!isOpen) await claim(chain, leg);
  }
  const expected = numbers.map((number) => {
    const isOpen = used.get(number);
    return isOpen === undefined ? [0, false] : [1, isOpen];
  });
  assert.deepEqual(await lanesNow(...numbers), expected);
  assert.deepEqual(await lanesNow(), []);
  const of = { contract: contract(), funder: receiver.address };
  const others = await adapter.lanes?.read(of, numbers, signal());
  assert.ok(others?.length === 20 && others.every(({ counter }) => counter === 0));
});

test('of several contracts each escrow is followed and settled in its own', async () => {
  const origin = hexToBytes(faucetAddress);
  const bytecode = hexToBytes(initCode.slice(2));
  const new_contract = { origin_address: origin, bytecode, consume_user_resource_percent: 100n };
  const { txid } = await chain.dev.simulator.sendAsFaucet('CreateSmartContract', { new_contract });
  await chain.solidify();
  const shard = { contract: createdAddress(txid, origin), creation: txid };
  const sources = [{ url: chain.url }];
  const of = (shards: TronOrigin['shards'] & object) => {
    const deployment = { ...chain.deployment, shards };
    return tronAdapter({ chain: 'tron-dev', deployment, sources, policy: tronDevPolicy });
  };
  const strange = of([{ ...shard, creation: chain.deployment.creation }]);
  await assert.rejects(strange.open(signal()), /created T\w+, not T/);
  const adapter = of([shard]);
  const two = { ...chain, deployment: { ...chain.deployment, shards: [shard] } };
  const [first] = adapter.lanes?.open ?? [];
  const lane = freshLane();
  const legs = [first, shard.contract].map((contract = '') =>
    newLeg(two, { lane: { ...lane, contract } }),
  );
  const [one, other] = legs as [Leg, Leg];
  adapter.watch(legs.map(({ escrow }) => escrow));
  await adapter.changes(signal());
  await fund(two, other);
  const counters = async () =>
    Promise.all(
      [first, shard.contract].map(async (contract = '') => {
        const of_ = { contract, funder: funder.address };
        const [state] = (await adapter.lanes?.read(of_, [lane.number], signal())) ?? [];
        return state?.counter;
      }),
    );
  assert.deepEqual(await counters(), [0, 1]);
  assert.deepEqual((await adapter.changes(signal())).touched, [other.escrow.address]);
  await fund(two, one);
  const after = String(chain.dev.simulator.chain.tip('head').header.number - 2);
  const page = await adapter.hashlocks?.next(after, signal());
  assert.deepEqual(new Set(page?.hashlocks), new Set(legs.map(({ terms }) => terms.hashlock)));
  await claim(two, other);
  const { touched } = await adapter.changes(signal());
  assert.deepEqual(touched.toSorted(), legs.map(({ escrow }) => escrow.address).toSorted());
  const facts = await Promise.all(legs.map(({ escrow }) => adapter.readEscrow(escrow, signal())));
  assert.deepEqual(
    facts.map(({ claimed }) => claimed !== null),
    [false, true],
  );
  assert.deepEqual(
    facts.map(({ secret }) => secret),
    [null, other.secret],
  );
});
