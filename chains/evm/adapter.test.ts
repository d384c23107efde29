import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Hex } from 'viem';
import { initCode } from '../../contracts/escrows/artifacts/abi.ts';
import { shardOf } from '../../contracts/escrows/ids.ts';
import type { EvmMaterial } from '../interface/material.ts';
import { lyingNode } from '../testing/nodes.ts';
import { refuses } from '../testing/refusals.ts';
import type { EvmAdapterOptions } from './adapter.ts';
import { claimCall, evmDeployment, fundCalls } from './plan.ts';
import { accounts, deploy, send, startAnvil, type TestChain } from './testing/anvil.ts';
import {
  adapterOn,
  anyone,
  deployToken,
  fund,
  funder,
  mint,
  newLeg,
  receiver,
} from './testing/swap.ts';

const signal = () => AbortSignal.timeout(60_000);
let chain: TestChain;
let other: TestChain;
before(async () => {
  [chain, other] = await Promise.all([startAnvil(), startAnvil({ chainId: 31_338 })]);
});
after(() => Promise.all([chain.stop(), other.stop()]));

const adapterOf = (over: Partial<EvmAdapterOptions> = {}) => adapterOn(chain, over);

const mine = (blocks = 1) => chain.client.mine({ blocks });

test('what is built is what the plan makes, an allowance in the way taken back first', async () => {
  const adapter = adapterOf();
  const token = await deployToken(chain, 'DevTether');
  await mint(chain, token, funder.address, 10_000n);
  const leg = await newLeg(chain, { token });
  const deployment = evmDeployment(31_337);
  // An allowance that is too small, which USDT wants at zero before it changes.
  await send(chain, funder, fundCalls({ ...leg.terms, amount: 5n }, deployment, 0n)[0]!);
  const input = { escrow: leg.escrow, feeRateSatPerVbyte: null, isPublic: false };
  const material = (await adapter.buildFund(input, signal())) as EvmMaterial;
  assert.deepEqual(material.txs, fundCalls(leg.terms, deployment, 5n));
  assert.deepEqual([material.txs.length, material.from], [3, funder.address]);
  for (const call of material.txs) await send(chain, funder, call);
  const build = await adapter.buildClaim(input, leg.secret, signal());
  const { txs } = build as EvmMaterial;
  assert.deepEqual(txs, [claimCall(leg.terms, deployment, leg.secret)]);
  await send(chain, accounts[5]!, txs[0]!);
  const empty = adapter.buildRefund(input, signal());
  await assert.rejects(empty, refuses('nothing_there', /holds nothing: claimed/));
});

test('a transaction of another chain is none', async () => {
  const raw = await receiver.signTransaction({
    to: funder.address,
    chainId: 31_338,
    gas: 21_000n,
    maxFeePerGas: 10n ** 10n,
  });
  const reading = adapterOf().readSigned(raw, signal());
  await assert.rejects(reading, refuses('bad_transaction', /31338.*31337/));
});

async function signedBy(
  from: Pick<typeof funder, 'address' | 'signTransaction'>,
  call: { to: string; data: string; value?: string },
) {
  return from.signTransaction({
    to: call.to as Hex,
    data: call.data as Hex,
    value: BigInt(call.value ?? 0),
    chainId: 31_337,
    nonce: await chain.client.getTransactionCount({ address: from.address }),
    gas: 300_000n,
    maxFeePerGas: 10n ** 10n,
    maxPriorityFeePerGas: 1n,
  });
}

test('a secret that was broadcast is known at once, with a pending block and without', async () => {
  const silent = await lyingNode(chain.rpcUrl, ({ method, params }, forward) =>
    method === 'eth_getBlockByNumber' && params[0] === 'pending' ? { result: null } : forward(),
  );
  await chain.client.setAutomine(false);
  try {
    for (const url of [chain.rpcUrl, silent.url]) {
      await chain.client.setAutomine(true);
      const adapter = adapterOf({ rpcUrls: [url] });
      const leg = await newLeg(chain);
      await fund(chain, leg);
      adapter.watch([leg.escrow]);
      await adapter.changes(signal());
      assert.deepEqual((await adapter.changes(signal())).touched, []);
      await chain.client.setAutomine(false);
      const raw = await signedBy(anyone, claimCall(leg.terms, evmDeployment(31_337), leg.secret));
      const read = await adapter.readSigned(raw, signal());
      assert.equal((await adapter.readEscrow(leg.escrow, signal())).secret, null, 'only read');
      await adapter.broadcast(read, signal());
      assert.equal((await adapter.readEscrow(leg.escrow, signal())).secret, leg.secret);
      assert.deepEqual((await adapter.changes(signal())).touched, [leg.escrow.address]);
    }
  } finally {
    await chain.client.setAutomine(true);
    await mine();
    await silent.stop();
  }
});

test('bytes are known while they wait and once they are mined, and others are not', async () => {
  const adapter = adapterOf();
  const call = { to: receiver.address, data: '0x' };
  const read = await adapter.readSigned(await signedBy(anyone, call), signal());
  assert.equal(await adapter.isKnown(read, signal()), false);
  await chain.client.setAutomine(false);
  try {
    await adapter.broadcast(read, signal());
    assert.equal(await adapter.isKnown(read, signal()), true, 'waiting');
  } finally {
    await chain.client.setAutomine(true);
  }
  await mine(3);
  assert.equal(await adapter.isKnown(read, signal()), true, 'mined');
  const next = await adapter.readSigned(await signedBy(anyone, call), signal());
  assert.equal(await adapter.isKnown(next, signal()), false, 'the same again, signed anew');
});

test("the node's own refusal is answered with its words", async () => {
  const adapter = adapterOf();
  const poor = accounts[8]!;
  const raw = await poor.signTransaction({
    to: funder.address,
    value: 10n ** 30n,
    chainId: 31_337,
    nonce: 0,
    gas: 21_000n,
    maxFeePerGas: 10n ** 10n,
  });
  const read = await adapter.readSigned(raw, signal());
  const sent = adapter.broadcast(read, signal());
  await assert.rejects(sent, refuses('refused_by_node', /insufficient funds/i));
});

test('an amount worth less than the gas of its claim is too small, a token amount is not', async () => {
  const adapter = adapterOf();
  const price = await chain.client.getGasPrice();
  const worth = 50_000n * price;
  await adapter.checkAmount(null, 2n * worth, signal());
  const small = adapter.checkAmount(null, worth / 2n, signal());
  await assert.rejects(small, refuses('amount_too_small'));
  await adapter.checkAmount(receiver.address, 1n, signal());
  const none = adapter.checkAmount(receiver.address, 0n, signal());
  await assert.rejects(none, refuses('amount_too_small'));
});

test('a chain without the contract, or with a copy of another chain’s, is not used', async () => {
  const missing = adapterOf({ contract: shardOf(2).address });
  await assert.rejects(missing.open(signal()), refuses('chain_unavailable', /no escrow contract/));
  const strange = adapterOf({ contract: receiver.address });
  await assert.rejects(strange.open(signal()), refuses('chain_unavailable', /none of shard 0 to/));
  const elsewhere = await other.client.getCode({ address: evmDeployment(31_338).contract as Hex });
  const { address } = shardOf(2);
  await chain.client.setCode({ address, bytecode: elsewhere as Hex });
  const copied = adapterOf({ contract: address });
  await assert.rejects(copied.open(signal()), refuses('chain_unavailable', /another chain id/));
  await chain.client.setCode({ address, bytecode: '0x' });
  // The very code, made by who could have made it write open escrows first.
  const made = adapterOf({ contract: await deploy(chain, initCode) });
  await assert.rejects(
    made.open(signal()),
    refuses('chain_unavailable', /none of shard 0 to 255 of the pinned/),
  );
  const two = adapterOf({ shards: [shardOf(1).address] });
  await assert.rejects(two.open(signal()), refuses('chain_unavailable', /no escrow contract/));
});
