import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js';
import { type Abi, encodeFunctionData, erc20Abi, type Hex } from 'viem';
import { escrowsAbi } from '../../contracts/escrows/artifacts/abi.ts';
import feeToken from '../../contracts/evm/artifacts/FeeToken.json' with { type: 'json' };
import zoo from '../../contracts/tron/artifacts/zoo.json' with { type: 'json' };
import type { DevToken } from '../../devnet/dev-chain.ts';
import { recorder } from '../../devnet/testing/start.ts';
import { type TronDevChain, tronChain } from '../../devnet/tron-chain.ts';
import { base58Address, parseAddress } from './protobuf.ts';
import { Refusal } from './refusal.ts';
import { faucetAddress } from './simulator.ts';

const AMOUNT = 1_000_000n;
const DAY = 86_400;
const payout: Hex = `0x${'ab'.repeat(20)}`;
const refund: Hex = `0x${faucetAddress.slice(2)}`;

let dir: string;
let chain: TronDevChain;
let offset = 0;

before(async () => {
  dir = await mkdtemp(join(tmpdir(), 'parley-zoo-'));
  const clock = { now: () => Math.floor(Date.now() / 1_000) + offset };
  chain = await tronChain('tron-dev', { dir, log: recorder().log, clock, solidityLag: 1 });
});

after(async () => {
  await chain.stop();
  await rm(dir, { recursive: true, force: true });
});

function tokenOf(contract: string): DevToken {
  const { tokens = [], hostileTokens = [] } = chain.info;
  const found = [...tokens, ...hostileTokens].find((each) => each.contract === contract);
  assert.ok(found, contract);
  return found;
}

const bare = (address: string): Hex => `0x${bytesToHex(parseAddress(address, true).subarray(1))}`;

type Outcome = 'done' | 'refused';

async function call(to: string, data: Hex): Promise<Outcome> {
  const contract = { contract_address: parseAddress(to, true), data: hexToBytes(data.slice(2)) };
  try {
    await chain.simulator.sendAsFaucet('TriggerSmartContract', contract);
    return 'done';
  } catch (error) {
    if (error instanceof Refusal && error.message.includes('REVERT')) return 'refused';
    throw error;
  }
}

const verb = (functionName: string, args: readonly unknown[]): Hex =>
  encodeFunctionData({ abi: escrowsAbi as Abi, functionName, args });

async function heldBy(owner: Hex, token: DevToken): Promise<bigint> {
  const data = encodeFunctionData({ abi: erc20Abi, functionName: 'balanceOf', args: [owner] });
  const response = await fetch(`${chain.info.rpcUrl}/wallet/triggerconstantcontract`, {
    method: 'POST',
    body: JSON.stringify({
      owner_address: faucetAddress,
      contract_address: bytesToHex(parseAddress(token.address, true)),
      data: data.slice(2),
    }),
  });
  const { constant_result } = (await response.json()) as { constant_result: [string] };
  return BigInt(`0x${constant_result[0]}`);
}

type Leg = { readonly secret: Hex; readonly placed: readonly unknown[] };

let lanes = 0;

function leg(token: DevToken): Leg {
  const secret = randomBytes(32);
  const timelock = BigInt(Math.floor(Date.now() / 1_000) + offset + DAY);
  const hashlock: Hex = `0x${bytesToHex(sha256(secret))}`;
  const base = { hashlock, payout, refund, token: bare(token.address), amount: AMOUNT, timelock };
  const terms = { ...base, fundBefore: timelock };
  lanes += 1;
  return { secret: `0x${secret.toString('hex')}`, placed: [terms, lanes, 1] };
}

const fund = ({ placed }: Leg) => call(chain.info.escrows, verb('fund', placed));
const claim = ({ placed, secret }: Leg) =>
  call(chain.info.escrows, verb('claim', [...placed, secret]));
const refundOf = ({ placed }: Leg) => call(chain.info.escrows, verb('refund', placed));

async function stocked(contract: string): Promise<DevToken> {
  const token = tokenOf(contract);
  const address = base58Address(hexToBytes(faucetAddress));
  await chain.give({ address, token: token.address, amount: 100n * AMOUNT });
  const args = [bare(chain.info.escrows), 2n ** 256n - 1n] as const;
  const approval = encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args });
  assert.equal(await call(token.address, approval), 'done');
  return token;
}

const abis: Readonly<Record<string, Abi>> = {
  ...Object.fromEntries(Object.entries(zoo).map(([name, { abi }]) => [name, abi as Abi])),
  FeeToken: feeToken.abi as Abi,
};

async function turn(token: DevToken, functionName: string, args: readonly unknown[]) {
  const data = encodeFunctionData({ abi: abis[token.contract] as Abi, functionName, args });
  assert.equal(await call(token.address, data), 'done');
}

async function pass(seconds: number): Promise<void> {
  offset += seconds;
  await chain.mine(1);
}

for (const name of ['DevDollar', 'DevTether', 'ReturnsFalse', 'Megabyte']) {
  test(`${name}: funded, claimed and refunded to the unit`, async () => {
    const token = await stocked(name);
    const [one, other] = [leg(token), leg(token)];
    const before = await heldBy(payout, token);
    assert.deepEqual([await fund(one), await fund(other)], ['done', 'done']);
    assert.equal(await heldBy(bare(chain.info.escrows), token), 2n * AMOUNT);
    assert.equal(await claim(one), 'done');
    assert.equal((await heldBy(payout, token)) - before, AMOUNT);
    await pass(DAY);
    assert.equal(await refundOf(other), 'done');
    assert.equal(await heldBy(bare(chain.info.escrows), token), 0n);
  });
}

for (const name of ['AnswersFalse', 'AnswersTrue', 'FeeToken']) {
  test(`${name}: does not bring the amount, so a funding is refused and nothing is taken`, async () => {
    const token = await stocked(name);
    const held = await heldBy(refund, token);
    assert.equal(await fund(leg(token)), 'refused');
    assert.equal(await heldBy(refund, token), held);
  });
}

const turnedOn: readonly [
  name: string,
  fault: readonly [on: readonly [string, readonly unknown[]], off: readonly unknown[]],
  whenOn: { readonly fund: Outcome; readonly claim: Outcome; readonly refund: Outcome },
][] = [
  [
    'Blacklist',
    [
      ['set', [payout, true]],
      [payout, false],
    ],
    { fund: 'done', claim: 'refused', refund: 'done' },
  ],
  ['Pause', [['set', [true]], [false]], { fund: 'refused', claim: 'refused', refund: 'refused' }],
  ['Charge', [['set', [3n]], [0n]], { fund: 'done', claim: 'refused', refund: 'refused' }],
  [
    'Everything',
    [['set', [true]], [false]],
    { fund: 'refused', claim: 'refused', refund: 'refused' },
  ],
  ['NoBalance', [['set', [2n]], [0n]], { fund: 'refused', claim: 'refused', refund: 'refused' }],
  ['FeeToken', [['setFee', [100n]], [0n]], { fund: 'refused', claim: 'done', refund: 'done' }],
  [
    'Megabyte',
    [['set', [true]], [false]],
    { fund: 'refused', claim: 'refused', refund: 'refused' },
  ],
];

for (const [name, [[set, on], off], whenOn] of turnedOn) {
  test(`${name}, its fault turned on after funding: ${JSON.stringify(whenOn)}; off, all is paid`, async () => {
    const token = await stocked(name);
    await turn(token, set, off);
    const [late, claimed, refunded, beside] = [leg(token), leg(token), leg(token), leg(token)];
    for (const each of [claimed, refunded, beside]) assert.equal(await fund(each), 'done');
    await turn(token, set, on);
    assert.equal(await fund(late), whenOn.fund, 'fund');
    assert.equal(await claim(claimed), whenOn.claim, 'claim');
    await turn(token, set, off);
    if (whenOn.claim === 'refused') assert.equal(await claim(claimed), 'done');
    await pass(2 * DAY);
    await turn(token, set, on);
    assert.equal(await refundOf(refunded), whenOn.refund, 'refund');
    await turn(token, set, off);
    if (whenOn.refund === 'refused') assert.equal(await refundOf(refunded), 'done');
    if (whenOn.fund === 'done') assert.equal(await refundOf(late), 'done');
    assert.equal(await refundOf(beside), 'done');
    assert.equal(await heldBy(bare(chain.info.escrows), token), 0n);
  });
}

test('Rebase: who comes first is paid, and the last takes what is left', async () => {
  const token = await stocked('Rebase');
  const [first, last] = [leg(token), leg(token)];
  assert.deepEqual([await fund(first), await fund(last)], ['done', 'done']);
  await turn(token, 'set', [80n]);
  const before = await heldBy(payout, token);
  assert.equal(await claim(first), 'done');
  assert.equal((await heldBy(payout, token)) - before, AMOUNT);
  await pass(DAY);
  assert.equal(await refundOf(last), 'refused');
  const left = await heldBy(bare(chain.info.escrows), token);
  assert.equal(left, (AMOUNT * 6n) / 10n);
  const part = verb('refundPart', [...last.placed, left]);
  assert.equal(await call(chain.info.escrows, part), 'done');
});

test('Reenter: a claim from inside another verb is refused, and gains nothing', async () => {
  const token = await stocked('Reenter');
  const [victim, claimed, late] = [leg(token), leg(token), leg(token)];
  assert.deepEqual([await fund(victim), await fund(claimed)], ['done', 'done']);
  const inside = verb('claim', [...victim.placed, victim.secret]);
  await turn(token, 'arm', [bare(chain.info.escrows), inside]);
  assert.deepEqual([await fund(late), await claim(claimed)], ['done', 'done']);
  assert.equal(await heldBy(bare(chain.info.escrows), token), 2n * AMOUNT);
  await turn(token, 'arm', [`0x${'0'.repeat(40)}`, '0x']);
  assert.deepEqual([await claim(late), await claim(victim)], ['done', 'done']);
  assert.equal(await heldBy(bare(chain.info.escrows), token), 0n);
});
