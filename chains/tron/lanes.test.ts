// What lanes hold, by the contract on the simulator.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { freshLane } from '../../core/testing.ts';
import { type TronAdapter, tronAdapter } from './adapter.ts';
import { tronDevPolicy } from './policy.ts';
import {
  claim,
  fund,
  funder,
  newLeg,
  receiver,
  refund,
  startTron,
  type TestChain,
} from './testing/chain.ts';

let chain: TestChain;
let adapter: TronAdapter;
before(async () => {
  chain = await startTron();
  const { deployment, url } = chain;
  const sources = [{ url }];
  adapter = tronAdapter({ chain: 'tron-dev', deployment, sources, policy: tronDevPolicy });
});
after(() => chain.stop());

const legIn = (number: string, counter: number) => newLeg(chain, { lane: { number, counter } });

const contract = () => chain.deployment.contract;

async function read(...numbers: string[]) {
  const of = { contract: contract(), funder: funder.address };
  const states = await adapter.lanes?.read(of, numbers, AbortSignal.timeout(10_000));
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
  const others = await adapter.lanes?.read(of, numbers, AbortSignal.timeout(10_000));
  assert.ok(others?.length === 20 && others.every(({ counter }) => counter === 0));
});
