// A TRON wallet against the dev chain: what it signs, and when it calls a transaction dead.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { bytesToHex } from '@noble/hashes/utils.js';
import type { TronMaterial, TronTransaction } from '../../chains/interface/material.ts';
import { type TronAdapter, tronAdapter } from '../../chains/tron/adapter.ts';
import { readTronSigned } from '../../chains/tron/broadcast.ts';
import { tronDevPolicy } from '../../chains/tron/policy.ts';
import {
  funder,
  newLeg,
  receiver,
  startTron,
  type TestChain,
} from '../../chains/tron/testing/chain.ts';
import { type Lie, lyingNode } from '../../chains/tron/testing/nodes.ts';
import type { Kept } from '../stores/store.ts';
import { tronWallet } from './tron.ts';
import type { TronWallet } from './wallet.ts';

const signal = () => AbortSignal.timeout(30_000);
let chain: TestChain;
let adapter: TronAdapter;
before(async () => {
  chain = await startTron();
  adapter = tronAdapter({
    chain: 'tron-dev',
    deployment: chain.deployment,
    sources: [{ url: chain.url }],
    policy: tronDevPolicy,
  });
});
after(() => chain?.stop());

function walletOn(...urls: string[]): TronWallet {
  const privateKey = bytesToHex(funder.key);
  return tronWallet({ chain: 'tron-dev', sources: urls.map((url) => ({ url })), privateKey });
}

/** The unsigned funding of new terms. */
async function unsigned(): Promise<TronTransaction> {
  const { escrow } = newLeg(chain);
  const built = await adapter.buildFund({ escrow, feeRateSatPerVbyte: null }, signal());
  return (built as TronMaterial).transactions[0] as TronTransaction;
}

const kept = async () => walletOn(chain.url).sign(await unsigned(), signal());
const send = async ({ raw }: Kept) =>
  adapter.broadcast(await adapter.readSigned(raw, signal()), signal());
const stateOf = async (of: Kept, ...urls: string[]) =>
  (await walletOn(...urls).fate(of, signal())).state;

test('it signs the bytes, whatever id the transaction says, and nobody else’s', async () => {
  const wallet = walletOn(chain.url);
  const honest = await unsigned();
  const signed = await wallet.sign({ ...honest, txID: 'ab'.repeat(32) }, signal());
  assert.equal(signed.txid, honest.txID);
  assert.equal(readTronSigned(signed.raw).owner, funder.address);
  const { address: owner } = receiver;
  const privateKey = bytesToHex(receiver.key);
  const other = tronWallet({ chain: 'tron-dev', sources: [{ url: chain.url }], privateKey });
  assert.equal(other.address, owner);
  await assert.rejects(other.sign(honest, signal()), /owner|account|signature/i);
});

test('one that was never sent waits until a SOLID block is past its end, and is lost then', async () => {
  const funding = await kept();
  assert.equal(await stateOf(funding, chain.url), 'waiting');
  await chain.pass(700);
  assert.equal(await stateOf(funding, chain.url), 'waiting', 'the newest block can go away');
  await assert.rejects(send(funding), /expir/i);
  await chain.solidify();
  assert.equal(await stateOf(funding, chain.url), 'lost');
});

test('one in a block has succeeded, before and after its time', async () => {
  const funding = await kept();
  await send(funding);
  assert.equal(await stateOf(funding, chain.url), 'waiting', 'a pool is no block');
  await chain.dev.mine(1);
  assert.equal(await stateOf(funding, chain.url), 'succeeded');
  await chain.pass(700);
  await chain.solidify();
  assert.equal(await stateOf(funding, chain.url), 'succeeded');
  const later: Kept = { ...(await kept()), former: [funding.txid] };
  assert.equal(await stateOf(later, chain.url), 'succeeded', 'in any of its versions');
});

test('a second funding of the same terms fails, and counts as failed once that is solid', async () => {
  const { escrow } = newLeg(chain);
  const input = { escrow, feeRateSatPerVbyte: null, isPublic: false };
  const wallet = walletOn(chain.url);
  const both: Kept[] = [];
  for (const _ of [1, 2]) {
    const built = (await adapter.buildFund(input, signal())) as TronMaterial;
    both.push(await wallet.sign(built.transactions[0] as TronTransaction, signal()));
    await chain.pass(1);
  }
  const [first, second] = both as [Kept, Kept];
  assert.notEqual(first.txid, second.txid);
  await send(first);
  await send(second);
  await chain.dev.mine(1);
  assert.deepEqual(
    [await stateOf(first, chain.url), await stateOf(second, chain.url)],
    ['succeeded', 'waiting'],
  );
  await chain.solidify();
  assert.equal(await stateOf(second, chain.url), 'reverted');
});

test('the time of one node says nothing about the blocks of another', async () => {
  const funding = await kept();
  const before = { block: null as unknown };
  // Behind: it has not seen the funding, nor the blocks since.
  const behind: Lie = async ({ path }, forward) => {
    if (path.includes('info')) return { body: {} };
    if (!path.startsWith('walletsolidity/getnowblock')) return forward();
    before.block ??= (await forward()).body;
    return { body: before.block };
  };
  const slow = await lyingNode(chain.url, behind);
  // Ahead: it names its newest block and fails then.
  const ahead: Lie = ({ path }, forward) =>
    path.endsWith('getnowblock') ? forward() : { status: 503, body: {} };
  const failing = await lyingNode(chain.url, ahead);
  try {
    assert.equal(await stateOf(funding, slow.url), 'waiting');
    await send(funding);
    await chain.dev.mine(1);
    await chain.pass(700);
    await chain.solidify();
    assert.equal(await stateOf(funding, failing.url, slow.url), 'waiting');
    assert.equal(await stateOf(funding, failing.url, chain.url), 'succeeded');
    await assert.rejects(stateOf(funding, failing.url), /503/);
  } finally {
    await Promise.all([slow.stop(), failing.stop()]);
  }
});
