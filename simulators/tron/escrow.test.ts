import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { TronWeb } from 'tronweb';
import { type Abi, decodeFunctionResult, encodeFunctionData, type Hex } from 'viem';
import { escrowsAbi, initCode } from '../../contracts/escrows/artifacts/abi.ts';
import snapshot from '../../contracts/escrows/energy.snapshot.json' with { type: 'json' };
import { recorder } from '../../devnet/testing/start.ts';
import { type TronDevChain, tronChain } from '../../devnet/tron-chain.ts';
import { RefusedRequest } from '../../host/failure.ts';

const ZERO: Hex = `0x${'0'.repeat(40)}`;
const SECRET: Hex = `0x${'5e'.repeat(32)}`;
const DAY = 86_400;
const waitLimitMs = 20_000;
const approveAbi = [
  {
    type: 'function',
    name: 'approve',
    inputs: [
      { name: 'spender', type: 'address' },
      { name: 'value', type: 'uint256' },
    ],
    outputs: [],
    stateMutability: 'nonpayable',
  },
] as const;

let dir: string;
let chain: TronDevChain;
let tronWeb: TronWeb;
let offset = 0;

const hexOf = (address: string): Hex => `0x${tronWeb.address.toHex(address).slice(2)}`;

before(async () => {
  dir = await mkdtemp(join(tmpdir(), 'parley-tron-'));
  const clock = { now: () => Math.floor(Date.now() / 1_000) + offset };
  chain = await tronChain('tron-dev', { dir, log: recorder().log, clock, solidityLag: 3 });
  tronWeb = new TronWeb({ fullHost: chain.info.rpcUrl, privateKey: '11'.repeat(32) });
  const address = tronWeb.defaultAddress.base58 as string;
  await chain.give({ address, token: null, amount: null });
  await chain.give({ address, token: tokenAddress(), amount: null });
});

after(async () => {
  await chain.stop();
  await rm(dir, { recursive: true, force: true });
});

function tokenAddress(): string {
  const [token] = chain.info.tokens ?? [];
  assert.equal(token?.contract, 'ReturnsFalse');
  return token?.address as string;
}

async function rpc<T>(method: string, ...params: unknown[]): Promise<T> {
  const response = await fetch(`${chain.info.rpcUrl}/jsonrpc`, {
    method: 'POST',
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  });
  const { result, error } = (await response.json()) as { result: T; error?: { message: string } };
  if (error) throw new Error(error.message);
  return result;
}

async function send(to: string, data: Hex, callValue = 0) {
  const options = { input: data.slice(2), callValue, feeLimit: 100_000_000 };
  const { transaction } = await tronWeb.transactionBuilder.triggerSmartContract(
    to,
    '',
    options,
    [],
  );
  const sent = await tronWeb.trx.sendRawTransaction(await tronWeb.trx.sign(transaction));
  assert.equal(sent.result, true, JSON.stringify(sent));
  for (const until = Date.now() + waitLimitMs; Date.now() < until; await sleep(20)) {
    const info = await tronWeb.trx.getUnconfirmedTransactionInfo(transaction.txID);
    if ('id' in info) return info;
  }
  throw new Error('in no block');
}

const verb = (functionName: string, args: readonly unknown[]): Hex =>
  encodeFunctionData({ abi: escrowsAbi as Abi, functionName, args });

function termsOf(token: Hex, timelock: number) {
  const hash = createHash('sha256')
    .update(Buffer.from(SECRET.slice(2), 'hex'))
    .digest('hex');
  const refund = hexOf(tronWeb.defaultAddress.base58 as string);
  return {
    hashlock: `0x${hash}` as Hex,
    payout: `0x${'ab'.repeat(20)}` as Hex,
    refund,
    token,
    amount: 1_000_000n,
    timelock: BigInt(timelock),
    fundBefore: BigInt(timelock - 3_600),
  };
}

/** Each timelock of each token has a lane of its own. */
const placed = (terms: ReturnType<typeof termsOf>) =>
  [terms, 2n * terms.timelock + (terms.token === ZERO ? 0n : 1n), 1] as const;

async function stateOf(terms: ReturnType<typeof termsOf>): Promise<readonly bigint[]> {
  const to = hexOf(chain.info.escrows);
  const call = { to, data: verb('stateOf', placed(terms)) };
  const data = await rpc<Hex>('eth_call', call, 'latest');
  const abi = escrowsAbi as Abi;
  return decodeFunctionResult({ abi, functionName: 'stateOf', data }) as readonly bigint[];
}

function used(info: { receipt: { energy_usage_total?: number; result?: string } }): number {
  assert.equal(info.receipt.result, 'SUCCESS');
  return info.receipt.energy_usage_total ?? 0;
}

test('the code on chain is the pinned one', async () => {
  const { value: created } = await chain.simulator.chain.look('head', async ({ state }) => ({
    value: JSON.parse(state.get(`contract/${hexOf(chain.info.escrows).slice(2)}`) ?? '{}'),
  }));
  assert.equal(`0x${created.bytecode}`, initCode);
  assert.equal(await rpc('eth_chainId'), `0x${chain.info.chainId?.toString(16)}`);
});

test('TRX and a token that answers false are funded, claimed and refunded within the figures', async () => {
  const { escrows } = chain.info;
  const { figures } = snapshot;
  const extra = figures["TRX fund, a lane's first"].energy - figures['TRX fund'].energy;
  const token = hexOf(tokenAddress());
  const approve = () => {
    const args = [hexOf(escrows), 1_000_000n] as const;
    const data = encodeFunctionData({ abi: approveAbi, functionName: 'approve', args });
    return send(tokenAddress(), data);
  };
  const { time } = await chain.head();
  for (const asset of [ZERO, token]) {
    const isTrx = asset === ZERO;
    const terms = termsOf(asset, time + DAY);
    const later = termsOf(asset, time + DAY + 1);
    const value = isTrx ? 1_000_000 : 0;
    if (!isTrx) await approve();
    const funded = await send(escrows, verb('fund', placed(terms)), value);
    const again = isTrx ? 'TRX fund' : 'token that answers false, fund, held none';
    const fundLimit = figures[again].energy + extra;
    if (isTrx) assert.equal(used(funded), figures["TRX fund, a lane's first"].energy);
    assert.ok(used(funded) <= fundLimit, `fund took ${used(funded)}`);
    const fundedAt = BigInt(Math.floor(funded.blockTimeStamp / 1_000));
    assert.deepEqual(await stateOf(terms), [1n, fundedAt]);
    if (!isTrx) await approve();
    await send(escrows, verb('fund', placed(later)), value);
    const claimed = await send(escrows, verb('claim', [...placed(terms), SECRET]));
    const toNewcomer = isTrx
      ? 'TRX claim, payout not activated'
      : 'token that answers false, claim, held none';
    const claimLimit = figures[toNewcomer].energy;
    assert.ok(used(claimed) <= claimLimit, `claim took ${used(claimed)}`);
    assert.equal((await stateOf(terms))[0], 2n);
  }
  offset += 2 * DAY;
  await chain.moveTo(0);
  for (const asset of [ZERO, token]) {
    const later = termsOf(asset, time + DAY + 1);
    const refunded = await send(escrows, verb('refund', placed(later)));
    const { energy } = figures[asset === ZERO ? 'TRX refund' : 'token refund'];
    assert.ok(used(refunded) <= energy, `refund took ${used(refunded)}`);
    assert.equal((await stateOf(later))[0], 3n);
  }
});

test('a claim is found by its logs, and its receipt says the same', async () => {
  const to = hexOf(chain.info.escrows);
  type RpcLog = { transactionHash: Hex; data: Hex; topics: Hex[] };
  const range = { fromBlock: 'earliest', toBlock: 'latest', address: to };
  const all = await rpc<RpcLog[]>('eth_getLogs', range);
  assert.equal(all.length, 8);
  const claims = all.filter(({ data }) => data === SECRET);
  assert.equal(claims.length, 2);
  const [claim] = claims as [RpcLog];
  const topics = [null, claim.topics[1]];
  const same = await rpc<RpcLog[]>('eth_getLogs', { ...range, topics });
  assert.equal(same.length, 2); // funded and claimed
  const info = await tronWeb.trx.getUnconfirmedTransactionInfo(claim.transactionHash.slice(2));
  assert.equal(`0x${info.log?.[0]?.address}`, to);
  assert.equal(`0x${info.log?.[0]?.data}`, SECRET);
});

test('a constant call uses the energy that the call then takes', async () => {
  const terms = termsOf(ZERO, (await chain.head()).time + DAY);
  const owner = tronWeb.defaultAddress.hex as string;
  const options = { input: verb('fund', placed(terms)).slice(2), callValue: 1_000_000 };
  const { energy_used } = await tronWeb.transactionBuilder.triggerConstantContract(
    chain.info.escrows,
    '',
    options,
    [],
    owner,
  );
  const funded = await send(chain.info.escrows, verb('fund', placed(terms)), 1_000_000);
  assert.equal(energy_used, used(funded));
});

test('after something happened ticks make blocks until it is solid, and no more', async () => {
  const { simulator } = chain;
  const numbers = () => ({
    head: simulator.chain.tip('head').header.number,
    solid: simulator.chain.tip('solid').header.number,
  });
  const address = tronWeb.defaultAddress.base58 as string;
  await chain.give({ address, token: null, amount: 1n });
  const { head } = numbers();
  await chain.setAutomatic(false);
  await chain.tick();
  assert.equal(numbers().head, head);
  await chain.setAutomatic(true);
  for (let n = 0; n < 9; n++) await chain.tick();
  assert.deepEqual(numbers(), { head: head + 3, solid: head });
});

test('the faucet refuses what it cannot give', async () => {
  const address = tronWeb.defaultAddress.base58 as string;
  const wrong = [
    { address: ZERO, token: null, amount: null },
    { address: address.slice(0, -1), token: null, amount: null },
    { address, token: null, amount: 10n ** 15n },
    { address, token: address, amount: null },
  ];
  for (const gift of wrong) await assert.rejects(chain.give(gift), RefusedRequest);
});
