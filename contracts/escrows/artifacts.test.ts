import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import {
  type Abi,
  concat,
  decodeFunctionResult,
  encodeFunctionData,
  getAddress,
  getCreate2Address,
  type Hex,
  keccak256,
  parseSignature,
  toHex,
  zeroAddress,
} from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { deployment, escrowsAbi, initCode } from './artifacts/abi.ts';
import { type Chain, createChain } from './bench/chain.ts';
import {
  type Consent,
  consentOf,
  domainOf,
  type Escrow,
  escrowId,
  firstLaneOfPayee,
  keyOf,
  legOf,
} from './ids.ts';

const START = 1_800_000_000n;
const SECRET: Hex = `0x${'5e'.repeat(32)}`;
const FUNDER = getAddress(`0x${'f0'.repeat(20)}`);
const payee = privateKeyToAccount(`0x${'aa'.repeat(32)}`);
const PAYOUT = payee.address;
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

async function settling(escrow: Escrow) {
  const there = await deployed();
  const { terms, lane, counter } = escrow;
  const own = [terms, lane, counter] as const;
  const send = (functionName: string, args: unknown[], value = 0n, at = START) =>
    there.chain.send({
      from: FUNDER,
      to: there.at,
      data: encodeFunctionData({ abi, functionName, args }),
      value,
      at,
    });
  const domain = [there.chain.chainId, getAddress(there.at)] as const;
  const sign = async (consent: Consent) => {
    const { r, s, yParity } = parseSignature(
      await payee.signTypedData(consentOf(consent, ...domain, escrow)),
    );
    return { v: yParity + 27, r, s };
  };
  const state = async () => {
    const [word = 0n] = (await read(there, 'lanesOf', [[keyOf(escrow)]])) as bigint[];
    const said = await read(there, 'stateOf', [...own]);
    assert.equal(said, (word >> 30n) & 3n, 'the word of its key');
    return said;
  };
  return { send, sign, own, state };
}

test('a leg computed away from the contract is settled in a batch, in either lane', async () => {
  for (const lane of [firstLaneOfPayee - 1n, firstLaneOfPayee]) {
    for (const verb of ['claim', 'refund'] as const) {
      const escrow = escrowOf({ lane });
      const { terms } = escrow;
      const { send, sign, own, state } = await settling(escrow);
      if (lane < firstLaneOfPayee) await send('fund', [...own], terms.amount);
      else await send('fundInLane', [...own, await sign('OpenInMyLane')], terms.amount);
      assert.equal(await state(), 1n);
      const legs = [legOf(escrow, verb, verb === 'claim' ? SECRET : terms.hashlock)];
      const group = { token: terms.token, to: verb === 'claim' ? PAYOUT : FUNDER, legs };
      const at = verb === 'claim' ? START : terms.timelock;
      await send(`${verb}Many`, [[group], 300_000n], 0n, at);
      assert.equal(await state(), verb === 'claim' ? 2n : 3n);
    }
  }
});

test('a consent as wallets sign it brings the coins back', async () => {
  const escrow = escrowOf({ lane: 5n });
  const { send, sign, own, state } = await settling(escrow);
  await send('fund', [...own], escrow.terms.amount);
  const lent = await sign('OpenInMyLane');
  const given = await sign('GiveUpClaim');
  const bytes = ({ v, r, s }: typeof given) => concat([r, s, toHex(v)]);
  await assert.rejects(send('refundEarly', [...own, bytes(lent)]));
  await send('refundEarly', [...own, bytes(given)]);
  assert.equal(await state(), 3n);
});

test('a leg has no room for times of more than 40 bits and amounts of more than 144', () => {
  const { terms } = escrowOf();
  for (const [field, bits] of [
    ['timelock', 40n],
    ['fundBefore', 40n],
    ['amount', 144n],
  ] as const) {
    const most = escrowOf({ terms: { ...terms, [field]: 2n ** bits - 1n } });
    assert.doesNotThrow(() => legOf(most, 'claim', SECRET));
    const more = escrowOf({ terms: { ...terms, [field]: 2n ** bits } });
    assert.throws(() => legOf(more, 'claim', SECRET), RangeError);
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
