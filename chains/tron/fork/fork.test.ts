import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { Address } from '@ethereumjs/util';
import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js';
import { tronHex } from '../address.ts';
import { httpClient } from '../http.ts';
import { tronDevPolicy } from '../policy.ts';
import { deploy } from '../testing/chain.ts';
import { deployToken } from '../testing/tokens.ts';
import { tronWorld } from '../testing/world.ts';
import { newWatch, type Watch } from '../watch.ts';
import {
  type Fork,
  ForkLimit,
  ForkState,
  type Forks,
  mostEnergy,
  mostReads,
  nodeSource,
  openForks,
} from './fork.ts';

const signal = () => AbortSignal.timeout(60_000);
const { chain } = await tronWorld();
let watch: Watch;
before(async () => {
  const http = httpClient({ chain: 'tron-dev', sources: [{ url: chain.url }] });
  const { deployment } = chain;
  watch = newWatch({ chain: 'tron-dev', http, deployment, policy: tronDevPolicy });
});

const forks = (): Promise<Forks> => openForks(watch, signal());

async function run(code: string, fork?: Fork) {
  const to = await deploy(chain, code);
  const on = fork ?? (await (await forks()).fork());
  return on.call({ from: to, to, data: '' });
}

const answer = async (code: string) => {
  const { failure, output, energy } = await run(`${code}5f5260205ff3`);
  assert.equal(failure, null);
  return { answer: BigInt(`0x${output}`), energy };
};

test('a call carries no TRC-10, as TRON code asks at the head of every function', async () => {
  assert.equal((await answer('d2d301')).answer, 0n);
});

test('ISCONTRACT tells a contract from an account', async () => {
  const token = tronHex(await deployToken(chain, 'Plain')).slice(2);
  assert.equal((await answer(`73${token}d4`)).answer, 1n);
  assert.equal((await answer(`73${'12'.repeat(20)}d4`)).answer, 0n);
});

test('what Cancun brought works: a transient word, and a copy inside of memory', async () => {
  // tstore(1, 7); tload(1)
  assert.equal((await answer('600760015d60015c')).answer, 7n);
  // mstore(0, 9); mcopy(32, 0, 32); mload(32)
  assert.equal((await answer('60095f5260205f60205e602051')).answer, 9n);
});

const beyond: readonly (readonly [what: string, code: string, words: RegExp])[] = [
  ['a balance of TRC-10', '5f5fd1', /operation 0xd1/],
  ['a stake', '5f5f5fda', /operation 0xda/],
  ['the base fee', '48', /operation 0x48/],
  ['who asks for the price of energy', '3a', /operation 0x3a/],
  ['who asks for the hash of a block', '5f40', /operation 0x40/],
  ['who asks for the witness', '41', /operation 0x41/],
  ['who asks for the difficulty', '44', /operation 0x44/],
  ['who asks for the limit of a block', '45', /operation 0x45/],
  ['a built-in contract of TRON', '5f5f5f5f60095afa', /built-in contract 0x9,/],
  ['one far up', '5f5f5f5f630100000b5afa', /built-in contract 0x100000b,/],
];

for (const [what, code, words] of beyond) {
  test(`${what} cannot be tried, and it says so`, async () => {
    await assert.rejects(run(code), (error) => {
      assert.ok(error instanceof ForkLimit);
      assert.match(error.message, words);
      return true;
    });
  });
}

test('an operation that no TVM has is the failure of the call', async () => {
  assert.match((await run('0c')).failure ?? '', /invalid opcode/);
});

test('a look leaves nothing, and a call what it wrote', async () => {
  // sstore(0, sload(0) + 1); return sload(0)
  const to = await deploy(chain, '5f546001015f555f545f5260205ff3');
  const fork = await (await forks()).fork();
  const wanted = { from: to, to, data: '' };
  const word = async (ask: Fork['call']) => BigInt(`0x${(await ask(wanted)).output}`);
  assert.deepEqual([await word(fork.look), await word(fork.look)], [1n, 1n]);
  assert.deepEqual([await word(fork.call), await word(fork.call)], [1n, 2n]);
  // Another fork begins as the node has it.
  assert.equal(await word((await (await forks()).fork()).call), 1n);
});

test('time goes on only for whom it is told to', async () => {
  const to = await deploy(chain, '425f5260205ff3');
  const { now, fork } = await forks();
  const on = await fork();
  const at = async (later?: number) => {
    const { output } = await on.call({ from: to, to, data: '', ...(later ? { later } : {}) });
    return Number(`0x${output}`);
  };
  assert.deepEqual([await at(), await at(3_600), now], [now, now + 3_600, chain.now()]);
});

test('energy is bounded, of a call and of all forks together', async () => {
  const loop = await deploy(chain, '5b5f56');
  const { fork } = await forks();
  const wanted = { from: loop, to: loop, data: '' };
  const spent = new Set<bigint>();
  const again = async () => {
    for (;;) {
      const { failure, energy } = await (await fork()).call(wanted);
      assert.equal(failure, 'out of energy');
      assert.ok(energy <= mostEnergy && energy > (mostEnergy * 4n) / 5n, String(energy));
      spent.add(energy);
    }
  };
  await assert.rejects(again(), /takes more than 10000000 energy|more than 5 s of/);
  assert.ok(spent.size > 1, 'a token could know a trial by its limit');
});

test('reads are bounded, and what was read is not read again', async () => {
  let asked = 0;
  const source = nodeSource(
    {
      chain: 'tron-dev',
      sources: 1,
      ask: () => Promise.reject(new Error('unused')),
      call: async () => {
        asked += 1;
        return { result: `0x${'00'.repeat(32)}` };
      },
    },
    signal(),
  );
  const slot = (n: number) => n.toString(16).padStart(64, '0');
  const read = (n: number) => source.storage('ab'.repeat(20), slot(n));
  for (let n = 0; n < mostReads; n += 1) await read(n);
  await read(0);
  assert.equal(asked, mostReads);
  await assert.rejects(read(mostReads), ForkLimit);
});

test('a word that was written before it was read is not overwritten by the node', async () => {
  const state = new ForkState({
    account: async () => '0',
    code: async () => undefined,
    storage: async () => '05'.padStart(64, '0'),
  });
  const at = new Address(hexToBytes('ab'.repeat(20)));
  const slot = new Uint8Array(32);
  const read = async () => bytesToHex(await state.getStorage(at, slot));
  await state.checkpoint();
  await state.putStorage(at, slot, Uint8Array.of(9));
  assert.equal(await read(), '09');
  await state.revert();
  assert.equal(await read(), '05');
  await state.putStorage(at, slot, Uint8Array.of(0));
  assert.equal(await read(), '');
});
