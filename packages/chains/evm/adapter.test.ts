import assert from 'node:assert/strict';
import { test } from 'node:test';
import { initCode } from '@parley/contracts/escrows/artifacts/abi.ts';
import { shardOf } from '@parley/contracts/escrows/ids.ts';
import type { Hex } from 'viem';
import type { EvmMaterial } from '../interface/material.ts';
import { answerOf } from '../testing/nodes.ts';
import { refuses } from '../testing/refusals.ts';
import { claimCall, domainOf, evmDeployment, fundCalls } from './plan.ts';
import { accounts, deploy, send } from './testing/anvil.ts';
import { anyone, deployToken, fund, funder, mint, newLeg, receiver } from './testing/swap.ts';
import { evmWorld } from './testing/world.ts';

const { chain, adapterOf, adapterOver, signal } = await evmWorld();
const deployment = evmDeployment(31_337);

test('the adapter builds what the plan makes, an allowance in the way taken back first', async () => {
  const adapter = adapterOf();
  const token = await deployToken(chain, 'DevTether');
  await mint(chain, token, funder.address, 10_000n);
  const { terms, escrow, secret } = await newLeg(chain, { token });
  // An allowance that is too small, which USDT wants at zero before it changes.
  await send(chain, funder, fundCalls({ ...terms, amount: 5n }, deployment, 0n)[0]!);
  const input = { escrow, feeRateSatPerVbyte: null, isPublic: false };
  const funding = (await adapter.buildFund(input, signal())) as EvmMaterial;
  assert.deepEqual(funding.txs, fundCalls(terms, deployment, 5n));
  assert.deepEqual([funding.txs.length, funding.from], [3, funder.address]);
  for (const call of funding.txs) await send(chain, funder, call);
  const { txs } = (await adapter.buildClaim(input, secret, signal())) as EvmMaterial;
  assert.deepEqual(txs, [claimCall(terms, deployment, secret)]);
  await send(chain, accounts[5]!, txs[0]!);
  const empty = adapter.buildRefund(input, signal());
  await assert.rejects(empty, refuses('nothing_there', /holds nothing: claimed/));
});

type Tx = { to: string; data: string; value?: string };

const signedBy = async (from: typeof anyone, { to, data, value = '0' }: Tx, chainId = 31_337) =>
  from.signTransaction({
    to: to as Hex,
    data: data as Hex,
    value: BigInt(value),
    chainId,
    nonce: await chain.client.getTransactionCount({ address: from.address }),
    gas: 300_000n,
    maxFeePerGas: 10n ** 10n,
    maxPriorityFeePerGas: 1n,
  });
const nothing = { to: receiver.address, data: '0x' };

test('a transaction of another chain is none', async () => {
  const reading = adapterOf().readSigned(await signedBy(anyone, nothing, 31_338), signal());
  await assert.rejects(reading, refuses('bad_transaction', /31338.*31337/));
});

test('a node that takes no state overrides, or ignores them from one day on, tries no payment and is used', async () => {
  const token = await deployToken(chain, 'DevDollar');
  for (const words of [/too many arguments/, /no state overrides/]) {
    let doesLend = true;
    const adapter = await adapterOver(async ({ method, params }, forward) => {
      if (method !== 'eth_call' || params.length <= 2 || doesLend) return forward();
      if (words.test('no state overrides'))
        return answerOf(chain.rpcUrl, method, params.slice(0, 2));
      return { error: { code: -32_602, message: 'too many arguments' } };
    });
    await adapter.open(signal());
    const unopened = await newLeg(chain);
    await adapter.preflight(unopened.terms, 'payout', signal());
    const coins = await newLeg(chain);
    await fund(chain, coins);
    const short = await newLeg(chain, { token });
    doesLend = false;
    for (const [{ terms }, about] of [
      [unopened, 'payout'],
      [unopened, 'funding'],
      [short, 'payout'],
      [short, 'funding'],
      [coins, 'claim'],
    ] as const) {
      const tried = adapter.preflight(terms, about, signal());
      await assert.rejects(tried, refuses('chain_unavailable', words), about);
    }
    const { escrow, terms, secret } = coins;
    const input = { escrow, feeRateSatPerVbyte: null, isPublic: true };
    const { txs } = (await adapter.buildClaim(input, secret, signal())) as EvmMaterial;
    assert.deepEqual(txs, [claimCall(terms, deployment, secret)]);
  }
});

test('a chain without the contract, or with a copy of another chain’s, is not used', async () => {
  const refused = (over: Parameters<typeof adapterOf>[0], words: RegExp) =>
    assert.rejects(adapterOf(over).open(signal()), refuses('chain_unavailable', words));
  const { address } = shardOf(2);
  await refused({ contract: address }, /no escrow contract/);
  await refused({ shards: [address] }, /no escrow contract/);
  await refused({ contract: receiver.address }, /none of shard 0 to/);
  const code = (await chain.client.getCode({ address: deployment.contract as Hex })) ?? '0x';
  const [own, other] = [31_337, 31_338].map((id) => domainOf(evmDeployment(id)).slice(2));
  const copied = code.replaceAll(own ?? '', other ?? '') as Hex;
  assert.notEqual(copied, code);
  await chain.client.setCode({ address, bytecode: copied });
  await refused({ contract: address }, /another chain id/);
  await chain.client.setCode({ address, bytecode: '0x' });
  // The very code, made by who could have made it write open escrows first.
  const made = await deploy(chain, initCode);
  await refused({ contract: made }, /none of shard 0 to 255 of the pinned/);
});
