import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Hex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { initCode } from '../../contracts/escrows/artifacts/abi.ts';
import { shardOf } from '../../contracts/escrows/shards.ts';
import { ParleyError, type RefusalCode } from '../../core/errors.ts';
import { legStatus, nothingSeen } from '../../core/facts.ts';
import type { EvmMaterial } from '../interface/material.ts';
import { type EvmAdapter, type EvmAdapterOptions, evmAdapter } from './adapter.ts';
import { claimCall, evmDeployment, fundCalls } from './plan.ts';
import { evmChains } from './policy.ts';
import { accounts, deploy, send, startAnvil, type TestChain } from './testing/anvil.ts';
import { hangingNode, lyingNode } from './testing/nodes.ts';
import {
  anyone,
  claim,
  deployToken,
  fund,
  funder,
  type Leg,
  later,
  mint,
  newLeg,
  receiver,
  refund,
} from './testing/swap.ts';

const { policy } = evmChains['evm-dev'];
const signal = () => AbortSignal.timeout(60_000);
let chain: TestChain;
let other: TestChain;
before(async () => {
  [chain, other] = await Promise.all([startAnvil(), startAnvil({ chainId: 31_338 })]);
});
after(() => Promise.all([chain.stop(), other.stop()]));

function adapterOf(over: Partial<EvmAdapterOptions> = {}): EvmAdapter {
  const rpcUrls = [chain.rpcUrl];
  return evmAdapter({ chain: 'evm-dev', chainId: 31_337, rpcUrls, policy, ...over });
}

const refuses = (code: RefusalCode, words = /./) => {
  return (error: unknown) => {
    assert.ok(error instanceof ParleyError, String(error));
    assert.equal(error.code, code, error.message);
    assert.match(error.message, words);
    return true;
  };
};

const mine = (blocks = 1) => chain.client.mine({ blocks });
const status = async (adapter: EvmAdapter, leg: Leg) =>
  legStatus(await adapter.readEscrow(leg.escrow, signal()));

test('a native leg is unfunded, seen, funded at depth, and claimed at depth', async () => {
  const adapter = adapterOf();
  const leg = await newLeg(chain);
  assert.deepEqual(await adapter.readEscrow(leg.escrow, signal()), nothingSeen);
  const fundTx = await fund(chain, leg);
  const seen = await adapter.readEscrow(leg.escrow, signal());
  assert.deepEqual(seen.funded, { txid: fundTx, confirmations: 1, deep: false });
  assert.equal(seen.balance, 1_000n);
  assert.equal(seen.empty, false);
  await mine();
  assert.equal(await status(adapter, leg), 'funded');
  const before = await chain.client.getBalance({ address: receiver.address });
  const claimTx = await claim(chain, leg);
  assert.equal(await chain.client.getBalance({ address: receiver.address }), before + 1_000n);
  const claimed = await adapter.readEscrow(leg.escrow, signal());
  assert.deepEqual(claimed.claimed, { txid: claimTx, confirmations: 1, deep: false });
  assert.equal(claimed.funded?.deep, true);
  assert.equal(claimed.secret, leg.secret);
  assert.equal(claimed.empty, false);
  await mine();
  const settled = await adapter.readEscrow(leg.escrow, signal());
  assert.equal(legStatus(settled), 'claimed');
  assert.deepEqual([settled.balance, settled.empty], [0n, false], 'it is deep, and not final');
  adapter.watch([leg.escrow]);
  await adapter.changes(signal());
  assert.deepEqual((await adapter.changes(signal())).touched, []);
  await mine();
  assert.deepEqual((await adapter.changes(signal())).touched, [leg.escrow.address]);
  assert.equal((await adapter.readEscrow(leg.escrow, signal())).empty, true);
  await mine();
  assert.deepEqual((await adapter.changes(signal())).touched, []);
});

test('a refunded leg is refunded, and an adapter that starts only now reads the same', async () => {
  const leg = await newLeg(chain);
  await fund(chain, leg);
  await later(chain, 7_200);
  const refundTx = await refund(chain, leg);
  await mine(3);
  const facts = await adapterOf().readEscrow(leg.escrow, signal());
  assert.deepEqual(facts.refunded, { txid: refundTx, confirmations: 4, deep: true });
  assert.equal(facts.claimed, null);
  assert.equal(facts.secret, null);
  assert.deepEqual([facts.balance, facts.empty], [0n, true]);
});

for (const name of ['DevDollar', 'DevTether', 'ReturnsFalse'] as const) {
  test(`${name}: funded by the material as built, claimed and refunded by it`, async () => {
    const adapter = adapterOf();
    const token = await deployToken(chain, name);
    await mint(chain, token, funder.address, 10_000n);
    const claimed = await newLeg(chain, { token });
    const refunded = await newLeg(chain, { token, amount: 2_000n });
    const rate = { feeRateSatPerVbyte: null, isPublic: false };
    for (const [leg, calls] of [
      [claimed, 2],
      [refunded, 3],
    ] as const) {
      if (leg === refunded) {
        // An allowance that is too small, which USDT wants at zero before it changes.
        const some = { ...leg.terms, amount: 5n };
        await send(chain, funder, fundCalls(some, evmDeployment(31_337), 0n)[0]!);
      }
      await adapter.preflight(leg.terms, 'funding', signal());
      const built = await adapter.buildFund({ escrow: leg.escrow, ...rate }, signal());
      const material = built as EvmMaterial;
      const allowed = leg === refunded ? 5n : 0n;
      assert.deepEqual(material.txs, fundCalls(leg.terms, evmDeployment(31_337), allowed));
      assert.equal(material.txs.length, calls);
      assert.equal(material.from, funder.address);
      for (const call of material.txs) await send(chain, funder, call);
      await mine();
      assert.equal(await status(adapter, leg), 'funded');
      const again = adapter.buildFund({ escrow: leg.escrow, ...rate }, signal());
      await assert.rejects(again, refuses('already_funded'));
    }
    const claiming = { escrow: claimed.escrow, ...rate };
    const build = await adapter.buildClaim(claiming, claimed.secret, signal());
    const { txs } = build as EvmMaterial;
    assert.deepEqual(txs, [claimCall(claimed.terms, evmDeployment(31_337), claimed.secret)]);
    for (const call of txs) await send(chain, accounts[5]!, call);
    await later(chain, 7_200);
    const back = await adapter.buildRefund({ escrow: refunded.escrow, ...rate }, signal());
    for (const call of (back as EvmMaterial).txs) await send(chain, accounts[5]!, call);
    await mine();
    assert.equal(await status(adapter, claimed), 'claimed');
    assert.equal(await status(adapter, refunded), 'refunded');
    const empty = adapter.buildRefund({ escrow: refunded.escrow, ...rate }, signal());
    await assert.rejects(empty, refuses('nothing_there', /holds nothing: refunded/));
    const spent = adapter.buildClaim(claiming, claimed.secret, signal());
    await assert.rejects(spent, refuses('nothing_there'));
  });
}

test('a claim is not built with another secret, and nothing of an escrow that is not there', async () => {
  const adapter = adapterOf();
  const leg = await newLeg(chain);
  const input = { escrow: leg.escrow, feeRateSatPerVbyte: null, isPublic: false };
  const wrong = adapter.buildClaim(input, 'ab'.repeat(32), signal());
  await assert.rejects(wrong, refuses('wrong_secret'));
  await assert.rejects(adapter.buildClaim(input, leg.secret, signal()), refuses('nothing_there'));
  await assert.rejects(adapter.buildRefund(input, signal()), refuses('nothing_there'));
});

test('a signed transaction is read, sent, and sent again with the same txid', async () => {
  const adapter = adapterOf();
  const leg = await newLeg(chain);
  adapter.watch([leg.escrow]);
  const sign = async (call: { to: string; data: string; value: string }, chainId = 31_337) =>
    funder.signTransaction({
      to: call.to as Hex,
      data: call.data as Hex,
      value: BigInt(call.value),
      chainId,
      nonce: await chain.client.getTransactionCount({ address: funder.address }),
      gas: 300_000n,
      maxFeePerGas: 10n ** 10n,
      maxPriorityFeePerGas: 1n,
    });
  const call = fundCalls(leg.terms, evmDeployment(31_337), 0n)[0]!;
  const raw = await sign(call);
  const read = await adapter.readSigned(raw, signal());
  const touch = { escrow: leg.escrow.address, verb: 'fund', secret: null };
  assert.deepEqual(read.touches, [touch]);
  assert.equal(await adapter.broadcast(read, signal()), read.txid);
  assert.equal(await adapter.broadcast(read, signal()), read.txid);
  await mine();
  const shown = await adapter.readEscrow(leg.escrow, signal());
  assert.equal(shown.funded?.txid, read.txid);
  const claimRaw = await sign(
    (
      (await adapter.buildClaim(
        { escrow: leg.escrow, feeRateSatPerVbyte: null, isPublic: false },
        leg.secret,
        signal(),
      )) as EvmMaterial
    ).txs[0]!,
  );
  const claims = await adapter.readSigned(claimRaw.slice(2), signal());
  assert.deepEqual(claims.touches, [{ ...touch, verb: 'claim', secret: leg.secret }]);
  const foreign = await sign(call, 31_338);
  const refused = adapter.readSigned(foreign, signal());
  await assert.rejects(refused, refuses('bad_transaction', /31338.*31337/));
});

/** Signed by `from`, ready to be sent. */
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

test('a secret in bytes that the node refuses stays unknown', async () => {
  const adapter = adapterOf();
  const leg = await newLeg(chain);
  adapter.watch([leg.escrow]);
  const poor = privateKeyToAccount(`0x${'17'.repeat(32)}`);
  const raw = await signedBy(poor, claimCall(leg.terms, evmDeployment(31_337), leg.secret));
  const read = await adapter.readSigned(raw, signal());
  await assert.rejects(adapter.broadcast(read, signal()), refuses('refused_by_node'));
  assert.equal((await adapter.readEscrow(leg.escrow, signal())).secret, null);
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

test('two chains are two adapters; a node of the wrong chain is not used', async () => {
  const second = adapterOf({ chain: 'evm-dev-2', chainId: 31_338, rpcUrls: [other.rpcUrl] });
  const leg = await newLeg(other, { chain: 'evm-dev-2' });
  await fund(other, leg);
  await other.client.mine({ blocks: 1 });
  assert.equal(await status(second, leg), 'funded');
  assert.equal(await status(adapterOf(), leg), 'unfunded');
  const crossed = adapterOf({ rpcUrls: [other.rpcUrl] });
  await assert.rejects(crossed.heads(signal()), refuses('chain_unavailable', /31338, not 31337/));
  const mixed = adapterOf({ rpcUrls: [chain.rpcUrl, other.rpcUrl] });
  await assert.rejects(mixed.heads(signal()), refuses('chain_unavailable', /31338, not 31337/));
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

test('a node that hangs ends in chain_timeout, one that is gone in chain_unavailable', async () => {
  const hanging = await hangingNode();
  const leg = await newLeg(chain);
  try {
    const slow = adapterOf({ rpcUrls: [hanging.url] });
    const soon = AbortSignal.timeout(300);
    await assert.rejects(slow.readEscrow(leg.escrow, soon), refuses('chain_timeout'));
    const rpc = { attemptTimeoutMs: 100, rounds: 1 };
    const bounded = adapterOf({ rpcUrls: [hanging.url], rpc });
    await assert.rejects(bounded.heads(signal()), refuses('chain_timeout'));
    const backed = adapterOf({ rpcUrls: [hanging.url, chain.rpcUrl], rpc: { ...rpc, rounds: 2 } });
    assert.ok((await backed.heads(signal())).height > 0);
  } finally {
    await hanging.stop();
  }
  const gone = adapterOf({ rpcUrls: [hanging.url] });
  await assert.rejects(gone.heads(signal()), refuses('chain_unavailable', /ECONNREFUSED/));
});
