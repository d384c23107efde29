// A Solana wallet against the dev chain: what it signs, and when it calls a transaction dead.

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { base64 } from '@scure/base';
import type { SolanaMaterial } from '../../chains/interface/material.ts';
import { unsignedTransaction } from '../../chains/solana/message.ts';
import { lyingNode } from '../../chains/solana/testing/nodes.ts';
import {
  built,
  escrowIn,
  newWorld,
  seedOf,
  sendRaw,
  soon,
  type World,
  walletOf,
} from '../../chains/solana/testing/world.ts';
import { hashlockOf } from '../../core/hashlock.ts';
import type { Kept } from '../stores/store.ts';
import { solanaWallet } from './solana.ts';
import type { SolanaWallet } from './wallet.ts';

function walletOn(...rpcUrls: string[]): SolanaWallet {
  return solanaWallet({ chain: 'solana-dev', rpcUrls, secretKey: seedOf('funder') });
}

/** The unsigned funding of new terms. */
async function unsigned(world: World): Promise<SolanaMaterial> {
  const escrow = escrowIn(world, {
    hashlock: hashlockOf(crypto.randomUUID().padEnd(64, '0').replaceAll('-', '0')),
  });
  return (await world.adapter.buildFund(built(escrow), soon())) as SolanaMaterial;
}

const urlOf = ({ chain }: World): string => chain.info.rpcUrl;
const heightOf = async ({ chain }: World) =>
  Number(await chain.rpc.getBlockHeight({ commitment: 'processed' }).send());
const kept = async (world: World) => walletOn(urlOf(world)).sign(await unsigned(world), soon());
const send = async ({ adapter }: World, { raw }: Kept) =>
  adapter.broadcast(await adapter.readSigned(raw, soon()), soon());
const stateOf = async (of: Kept, ...urls: string[]) =>
  (await walletOn(...urls).fate(of, soon())).state;

test('it signs what it alone signs and pays for', async (context) => {
  const world = await newWorld(context);
  const material = await unsigned(world);
  const wallet = walletOn(urlOf(world));
  const { txid, raw } = await wallet.sign(material, soon());
  assert.equal((await world.adapter.readSigned(raw, soon())).txid, txid);
  const secretKey = seedOf('payee');
  const other = solanaWallet({ chain: 'solana-dev', rpcUrls: [urlOf(world)], secretKey });
  await assert.rejects(other.sign(material, soon()), /signs alone as/);
  const accounts = [{ address: walletOf('payee'), signs: true, writes: true }];
  const instruction = { program: walletOf('stranger'), accounts, data: new Uint8Array(1) };
  const { blockhash } = (await world.chain.rpc.getLatestBlockhash().send()).value;
  const message = unsignedTransaction(walletOf('funder'), [instruction], blockhash).subarray(65);
  const two = Uint8Array.of(2, ...new Uint8Array(128), ...message);
  const shared = { ...material, transaction: base64.encode(two) };
  await assert.rejects(wallet.sign(shared, soon()), /signs alone as .* not with 2/);
});

test('its end follows from what the own node knows of the blockhash, not from what is said', async (context) => {
  const world = await newWorld(context);
  const material = await unsigned(world);
  const height = await heightOf(world);
  for (const lastValidBlockHeight of [1, material.lastValidBlockHeight, 10 ** 12]) {
    const signed = await walletOn(urlOf(world)).sign({ ...material, lastValidBlockHeight }, soon());
    assert.equal(signed.lastValidBlockHeight, height + 150);
  }
  const behind = await lyingNode(context, urlOf(world), async ({ method }, forward) =>
    method === 'isBlockhashValid' ? { result: { context: { slot: 1 }, value: false } } : forward(),
  );
  const signed = await walletOn(behind).sign(material, soon());
  assert.equal(signed.lastValidBlockHeight, height + 450);
});

test('one that was never sent waits until a FINALIZED block is past its end, and is lost then', async (context) => {
  const world = await newWorld(context);
  const funding = await kept(world);
  const { lastValidBlockHeight = 0 } = funding;
  assert.equal(await stateOf(funding, urlOf(world)), 'waiting');
  await world.chain.mine(lastValidBlockHeight - (await heightOf(world)) + 1);
  assert.ok((await heightOf(world)) > lastValidBlockHeight);
  assert.equal(await stateOf(funding, urlOf(world)), 'waiting', 'the newest block can go away');
  await assert.rejects(send(world, funding), /blockhash/i);
  await world.chain.mine(40);
  assert.equal(await stateOf(funding, urlOf(world)), 'lost');
});

test('one in a block has succeeded, before and after its time', async (context) => {
  const world = await newWorld(context);
  const funding = await kept(world);
  await send(world, funding);
  await world.chain.mine(2);
  assert.equal(await stateOf(funding, urlOf(world)), 'succeeded');
  await world.chain.mine(200);
  assert.equal(await stateOf(funding, urlOf(world)), 'succeeded');
  const later: Kept = { ...(await kept(world)), former: [funding.txid] };
  assert.equal(await stateOf(later, urlOf(world)), 'succeeded', 'in any of its versions');
});

test('a second funding of the same terms fails, and counts as failed once that is final', async (context) => {
  const world = await newWorld(context);
  const escrow = escrowIn(world);
  const wallet = walletOn(urlOf(world));
  const both: Kept[] = [];
  for (const _ of [1, 2]) {
    const material = await world.adapter.buildFund(built(escrow), soon());
    both.push(await wallet.sign(material as SolanaMaterial, soon()));
    await world.chain.mine(2);
  }
  const [first, second] = both as [Kept, Kept];
  await send(world, first);
  await world.chain.mine(2);
  await sendRaw(world, second.raw);
  assert.deepEqual(
    [await stateOf(first, urlOf(world)), await stateOf(second, urlOf(world))],
    ['succeeded', 'waiting'],
  );
  await world.chain.mine(40);
  assert.equal(await stateOf(second, urlOf(world)), 'reverted');
});

test('the height of one node says nothing about the blocks of another', async (context: TestContext) => {
  const world = await newWorld(context);
  const funding = await kept(world);
  const height = await heightOf(world);
  const behind = await lyingNode(context, urlOf(world), ({ method }, forward) => {
    if (method === 'getBlockHeight') return { result: height };
    if (method !== 'getSignatureStatuses') return forward();
    return { result: { context: { slot: 1 }, value: [null] } };
  });
  const failing = await lyingNode(context, urlOf(world), ({ method }, forward) =>
    method === 'getBlockHeight' ? forward() : { error: { code: -32005, message: 'busy' } },
  );
  await send(world, funding);
  await world.chain.mine(200);
  assert.equal(await stateOf(funding, failing, behind), 'waiting');
  assert.equal(await stateOf(funding, failing, urlOf(world)), 'succeeded');
  await assert.rejects(stateOf(funding, failing), /busy/);
});
