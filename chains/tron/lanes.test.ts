// What lanes hold, by the contract on the simulator, and by each of two contracts.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { hexToBytes } from '@noble/hashes/utils.js';
import { initCode } from '../../contracts/escrows/artifacts/abi.ts';
import { freshLane } from '../../core/testing.ts';
import { faucetAddress } from '../../simulators/tron/simulator.ts';
import { type TronAdapter, tronAdapter } from './adapter.ts';
import { createdAddress } from './identity.ts';
import type { TronOrigin } from './plan.ts';
import { tronDevPolicy } from './policy.ts';
import {
  claim,
  fund,
  funder,
  type Leg,
  newLeg,
  receiver,
  refund,
  startTron,
} from './testing/chain.ts';

const chain = await startTron();
let adapter: TronAdapter;
before(async () => {
  const { deployment, url } = chain;
  const sources = [{ url }];
  adapter = tronAdapter({ chain: 'tron-dev', deployment, sources, policy: tronDevPolicy });
});
after(() => chain.stop());

const legIn = (number: string, counter: number) => newLeg(chain, { lane: { number, counter } });

const signal = () => AbortSignal.timeout(10_000);
const contract = () => chain.deployment.contract;

async function read(...numbers: string[]) {
  const of = { contract: contract(), funder: funder.address };
  const states = await adapter.lanes?.read(of, numbers, signal());
  return states?.map(({ counter, isOpen }) => [counter, isOpen]);
}

test('a lane counts its escrows, and is open while the last one holds money', async () => {
  assert.equal(adapter.lanes?.contractFor(funder.address), contract());
  const { number } = freshLane();
  assert.deepEqual(await read(number), [[0, false]]);
  const first = legIn(number, 1);
  await fund(chain, first);
  assert.deepEqual(await read(number), [[1, true]]);
  await claim(chain, first);
  assert.deepEqual(await read(number), [[1, false]]);
  const second = legIn(number, 2);
  await fund(chain, second);
  assert.deepEqual(await read(number), [[2, true]]);
  await chain.pass(7_300);
  assert.deepEqual(await read(number), [[2, true]], 'a timelock alone closes nothing');
  await refund(chain, second);
  assert.deepEqual(await read(number), [[2, false]]);
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
  assert.deepEqual(await read(...numbers), expected);
  assert.deepEqual(await read(), []);
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
