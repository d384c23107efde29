import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import {
  type Abi,
  decodeFunctionResult,
  encodeFunctionData,
  getAddress,
  getCreate2Address,
  type Hex,
  keccak256,
  zeroAddress,
} from 'viem';
import { deployment, escrowsAbi, initCode } from './artifacts/abi.ts';
import { type Chain, createChain } from './bench/chain.ts';
import { domainOf, type Escrow, escrowId, legOf } from './ids.ts';

const START = 1_800_000_000n;
const SECRET: Hex = `0x${'5e'.repeat(32)}`;
const FUNDER = getAddress(`0x${'f0'.repeat(20)}`);
const PAYOUT = getAddress(`0x${'aa'.repeat(20)}`);
const abi = escrowsAbi as Abi;

const text = (path: string): string => readFileSync(join(import.meta.dirname, path), 'utf8');

function escrowOf(part: Partial<Escrow> = {}): Escrow {
  const hash = createHash('sha256')
    .update(Buffer.from(SECRET.slice(2), 'hex'))
    .digest('hex');
  const terms = {
    hashlock: `0x${hash}` as Hex,
    payout: PAYOUT,
    refund: FUNDER,
    token: zeroAddress,
    amount: 1_234_567n,
    timelock: START + 86_400n,
    fundBefore: START + 7_200n,
  };
  return { terms, lane: (1n << 96n) - 2n, counter: 1, ...part };
}

async function deployed(): Promise<{ chain: Chain; at: Hex }> {
  const chain = await createChain('prague');
  await chain.give(FUNDER, 10n ** 18n);
  return { chain, at: await chain.create(initCode, START) };
}

async function read({ chain, at }: { chain: Chain; at: Hex }, name: string, args: unknown[]) {
  const data = encodeFunctionData({ abi, functionName: name, args });
  const output = await chain.read(at, data, START);
  return decodeFunctionResult({ abi, functionName: name, data: output });
}

test('the pinned facts follow from each other and from the standard JSON input', () => {
  const { deployer, salt, address, initCode: pinned } = deployment;
  assert.equal(keccak256(initCode), pinned.keccak256);
  const sha256 = createHash('sha256')
    .update(Buffer.from(initCode.slice(2), 'hex'))
    .digest('hex');
  assert.equal(`0x${sha256}`, pinned.sha256);
  assert.equal((initCode.length - 2) / 2, pinned.bytes);
  assert.equal(getCreate2Address({ from: deployer, salt, bytecode: initCode }), address);
  // test/run.ts compiles the standard JSON anew; each text of it is one of the files.
  const { sources } = JSON.parse(text('artifacts/ParleyEscrows.input.json'));
  for (const path in sources) assert.equal(sources[path].content, text(`../${path}`));
});

test('ids computed away from the contract are its own', async () => {
  const there = await deployed();
  const contract = getAddress(there.at);
  assert.equal(await read(there, 'domain', []), domainOf(there.chain.chainId, contract));
  for (const escrow of [escrowOf(), escrowOf({ lane: 0n }), escrowOf({ counter: 2 ** 30 - 1 })]) {
    const { terms, lane, counter } = escrow;
    const id = await read(there, 'escrowOf', [terms, lane, counter]);
    assert.equal(id, escrowId(there.chain.chainId, contract, escrow));
  }
});

test('a leg computed away from the contract is claimed in a batch', async () => {
  const there = await deployed();
  const escrow = escrowOf();
  const { terms, lane, counter } = escrow;
  const send = (functionName: string, args: unknown[], value = 0n) =>
    there.chain.send({
      from: FUNDER,
      to: there.at,
      data: encodeFunctionData({ abi, functionName, args }),
      value,
      at: START,
    });
  await send('fund', [terms, lane, counter], terms.amount);
  assert.deepEqual(await read(there, 'stateOf', [terms, lane, counter]), [1n, START]);
  await send('claimMany', [[legOf(escrow, SECRET)]]);
  assert.deepEqual(await read(there, 'stateOf', [terms, lane, counter]), [2n, START]);
});

test('a leg has no room for times of more than 64 bits', () => {
  const { terms } = escrowOf();
  const times = ['timelock', 'fundBefore'] as const;
  for (const time of times) {
    const most = escrowOf({ terms: { ...terms, [time]: 2n ** 64n - 1n } });
    assert.doesNotThrow(() => legOf(most, SECRET));
    const more = escrowOf({ terms: { ...terms, [time]: 2n ** 64n } });
    assert.throws(() => legOf(more, SECRET), RangeError);
  }
});

test('the README and the decision repeat the recorded figures', () => {
  const readme = text('README.md');
  const decision = text('../../docs/decisions/0012-one-contract-with-lanes.md');
  const gas = JSON.parse(text('gas.snapshot.json')).figures as Record<
    string,
    Record<string, { gas: number }>
  >;
  const energy = JSON.parse(text('energy.snapshot.json')).figures as Record<
    string,
    { energy: number }
  >;
  const written = (figure: number) => figure.toLocaleString('en-US');
  for (const [row, forks] of Object.entries(gas)) {
    if (row.endsWith('fund and claim')) continue;
    for (const each of Object.values(forks)) {
      assert.ok(readme.includes(written(each.gas)), `${row}: ${each.gas} is not in the README`);
    }
  }
  for (const [row, each] of Object.entries(energy)) {
    assert.ok(readme.includes(written(each.energy)), `${row}: ${each.energy}`);
  }
  const repeated = [
    'native fund',
    'native claim',
    'native refund',
    "native fund, a lane's first",
    'token fund, allowance standing',
    'token claim',
    'token refund',
    'token fund by permit, nothing prepared',
  ].flatMap((row) => Object.values(gas[row] ?? {}).map((each) => each.gas));
  const onTron = ['TRX fund', 'TRX claim', 'token fund, allowance of the amount', 'token claim'];
  for (const row of onTron) repeated.push(energy[row]?.energy ?? Number.NaN);
  for (const row of ['native fund and claim', 'token fund and claim']) {
    repeated.push(gas[row]?.prague?.gas ?? Number.NaN);
  }
  for (const figure of repeated) assert.ok(decision.includes(written(figure)), String(figure));
});
