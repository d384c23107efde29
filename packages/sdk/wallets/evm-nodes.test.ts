// A wallet by several nodes: one that is gone, stands still or lies keeps no claim from being
// signed with a nonce and a fee that a block takes.

import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import { type Answer, lyingNode, type Request, within } from '@parley/chains/testing/nodes.ts';
import { type Hex, parseTransaction } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import type { Kept } from '../stores/store.ts';
import { evmWallet } from './evm.ts';
import { payableFees, togetherOf } from './evm-nodes.ts';
import type { TxOutcome } from './wallet.ts';

const gwei = 10n ** 9n;
const chainId = 31_337;
const privateKey: Hex = `0x${'11'.repeat(32)}`;
const hex = (value: number | bigint) => `0x${value.toString(16)}`;
const key = 'v2/0123456789abcdef';
const soon = () => AbortSignal.timeout(20_000);
const call = { to: `0x${'22'.repeat(20)}`, data: '0x', value: '0x0', gas: 50_000n };

type Says = {
  latest: number;
  pending: number;
  base: bigint;
  has: bigint;
  estimate: bigint;
  receipts: ReadonlySet<string>;
  isRevoked: boolean;
  height: number;
};

const mined = { status: '0x1', blockNumber: '0x1', blockHash: '0x', logs: [] };

async function nodeThat(context: TestContext, told: Partial<Says> = {}) {
  const counts = { latest: 5, pending: 5, height: 1_000 };
  const usual = { ...counts, base: gwei, has: 10n ** 18n, estimate: 21_000n };
  const says: Says = { ...usual, receipts: new Set(), isRevoked: false, ...told };
  const answer = ({ method, params: [first, second] }: Request): unknown => {
    const block = { number: hex(says.height), baseFeePerGas: hex(says.base), timestamp: '0x1' };
    switch (method) {
      case 'eth_getTransactionCount':
        if (second === 'pending') return hex(says.pending);
        return second === 'latest' ? hex(says.latest) : hex(Math.min(says.latest, 5));
      case 'eth_getBlockByNumber':
        return { ...block, hash: '0x', parentHash: '0x' };
      case 'eth_feeHistory':
        return { baseFeePerGas: [hex(says.base)], reward: [] };
      case 'eth_getBalance':
        return hex(says.has);
      case 'eth_estimateGas':
        return hex(says.estimate);
      case 'eth_getTransactionReceipt':
        if (!says.receipts.has(String(first))) return null;
        return { ...mined, transactionHash: first };
      default:
        return assert.fail(method);
    }
  };
  const lie = (request: Request): Answer => {
    if (!says.isRevoked) return { result: answer(request) };
    return { error: { code: -32_001, message: 'the API key was revoked' } };
  };
  const url = await within(context, lyingNode('', lie));
  return { url: `${url}/${key}`, says };
}

const read = ({ raw }: Kept) => parseTransaction(raw as Hex);
const walletBy = (...nodes: readonly { readonly url: string }[]) =>
  evmWallet({ rpcUrl: nodes.map(({ url }) => url), chainId, privateKey });

test('where the first of two nodes is gone, a transaction is signed, raised and looked after by the second', async (t) => {
  const first = await nodeThat(t, { isRevoked: true });
  const second = await nodeThat(t);
  const wallet = walletBy(first, second);
  const kept = await wallet.sign(chainId, call, soon());
  assert.equal(read(kept).nonce, 5);
  const waits = { state: 'waiting', next: true, gap: false };
  assert.deepEqual(await wallet.outcome(kept, soon()), waits);
  const raised = await wallet.raise(kept, { mostFeeWei: null }, soon());
  assert.deepEqual(raised?.former, [kept.txid]);
  assert.equal(await wallet.isNonceDeep(kept, 3, soon()), false);
});

test('a late or missing signature is nobody’s, and its nonce is given again', async (t) => {
  const { url: rpcUrl } = await nodeThat(t);
  const owner = privateKeyToAccount(privateKey);
  let signs = 0;
  const signTransaction: typeof owner.signTransaction = async (...args) => {
    signs += 1;
    if (signs === 1) await new Promise(() => {});
    return owner.signTransaction(...args);
  };
  const wallet = evmWallet({ rpcUrl, chainId, account: { ...owner, signTransaction } });
  const late = wallet.sign(chainId, call, AbortSignal.timeout(300));
  // A later signing is held up no longer than that.
  const next = wallet.sign(chainId, call, soon());
  await assert.rejects(late, { name: 'TimeoutError' });
  assert.equal(read(await next).nonce, 5);
});

test('with no node left the failure names neither address nor key', async (t) => {
  const wallet = walletBy(await nodeThat(t, { isRevoked: true }));
  const failure = await wallet.sign(chainId, call, soon()).then(
    () => assert.fail(),
    (error: Error) => error,
  );
  assert.match(failure.message, /the API key was revoked/);
  assert.doesNotMatch(`${failure.message} ${JSON.stringify(failure)}`, /127\.0\.0\.1|0123456789/);
});

test('a node that stands still gives neither its nonce nor its base fee of long ago', async (t) => {
  const stuck = await nodeThat(t, { latest: 3, pending: 3, base: gwei / 10n });
  const well = await nodeThat(t, { latest: 7, pending: 8, base: 9n * gwei });
  for (const nodes of [
    [stuck, well],
    [well, stuck],
  ] as const) {
    const { nonce, maxFeePerGas = 0n } = read(await walletBy(...nodes).sign(chainId, call, soon()));
    assert.equal(nonce, 8);
    assert.ok(maxFeePerGas >= 9n * gwei, `${maxFeePerGas}`);
  }
});

test('a fee that a node makes up is no more than the customer allows and the account can pay', () => {
  const at = (base: bigint, has: bigint | null = 10n ** 16n) => ({
    present: { base, tip: gwei },
    has,
  });
  const gas = 100_000n;
  const of = (looks: Parameters<typeof payableFees>[0], most = 500n * gwei) =>
    payableFees(looks, { gas, value: 0n, most });
  const usual = { maxFeePerGas: 21n * gwei, maxPriorityFeePerGas: gwei };
  assert.deepEqual(of([at(10n * gwei), at(10n ** 30n)]), usual);
  assert.deepEqual(of([at(10n * gwei), at(5n * gwei)]), usual, 'the dearest');
  assert.equal(of([at(10n * gwei)], 15n * gwei).maxFeePerGas, 15n * gwei);
  assert.equal(of([at(60n * gwei)]).maxFeePerGas, 100n * gwei, 'all that it has');
  assert.equal(of([at(60n * gwei, null)]).maxFeePerGas, 121n * gwei);
  assert.equal(of([at(300n * gwei)]).maxFeePerGas, 500n * gwei, 'the node says what it lacks');
});

test('a nonce that a node makes up is left once it has led nowhere, and those after it too', async (t) => {
  const liar = await nodeThat(t, { latest: 1_000_000, pending: 1_000_000 });
  const honest = await nodeThat(t);
  const wallet = walletBy(liar, honest);
  const lost = await wallet.sign(chainId, call, soon());
  assert.equal(read(lost).nonce, 1_000_000);
  const outcome = await wallet.outcome(lost, soon());
  assert.ok(outcome.state === 'waiting' && outcome.isDisputed, 'the honest one finds a gap');
  wallet.forget(true);
  const kept = await wallet.sign(chainId, call, soon());
  assert.equal(read(kept).nonce, 5);
  const fresh = walletBy(honest);
  honest.says.pending = 1_000_000;
  await fresh.sign(chainId, call, soon());
  honest.says.pending = 6;
  assert.equal(read(await fresh.sign(chainId, call, soon())).nonce, 6, 'no count leads there');
});

test('one node that calls a transaction mined, lost or deep ends nothing while another differs', async (t) => {
  const liar = await nodeThat(t, { latest: 9 });
  const honest = await nodeThat(t);
  const wallet = walletBy(liar, honest);
  const kept = await wallet.sign(chainId, call, soon());
  const waiting = { state: 'waiting', next: true, gap: false } as const;
  const outcome = () => wallet.outcome(kept, soon());
  assert.deepEqual(await outcome(), { ...waiting, isDisputed: true });
  liar.says.receipts = new Set([kept.txid]);
  assert.deepEqual(await outcome(), { state: 'succeeded', doubt: waiting });
  honest.says.latest = 6;
  honest.says.receipts = new Set([kept.txid]);
  assert.deepEqual(await outcome(), { state: 'succeeded' });
});

test('the words of nodes about one transaction come to one outcome', () => {
  const waits = (next: boolean, gap: boolean): TxOutcome => ({ state: 'waiting', next, gap });
  const lost: TxOutcome = { state: 'lost' };
  assert.deepEqual(togetherOf([lost, lost]), lost);
  assert.deepEqual(togetherOf([lost, { state: 'reverted' }]), { state: 'reverted' });
  assert.deepEqual(togetherOf([{ state: 'reverted' }, { state: 'succeeded' }]), {
    state: 'succeeded',
  });
  assert.deepEqual(togetherOf([waits(false, true), waits(false, true)]), waits(false, true));
  const disputed = { state: 'waiting', next: false, gap: false, isDisputed: true };
  assert.deepEqual(togetherOf([waits(false, true), waits(false, false)]), disputed);
  assert.deepEqual(togetherOf([lost, waits(false, true)]), disputed);
});

test('gas that a node dreams of is no more than a transaction may have', async (t) => {
  const { gas: _, ...untried } = call;
  const usual = await nodeThat(t);
  const dreams = await nodeThat(t, { estimate: 2n ** 60n });
  assert.equal(read(await walletBy(usual).sign(chainId, untried, soon())).gas, 26_250n);
  assert.equal(read(await walletBy(usual, dreams).sign(chainId, untried, soon())).gas, 2n ** 24n);
});

test('a price and a balance that a node makes up keep no claim out of every block', async (t) => {
  const liar = await nodeThat(t, { base: 300n * gwei, has: 10n ** 30n });
  const honest = await nodeThat(t, { base: gwei, has: 10n ** 15n });
  const offered = (kept: Kept) => read(kept).maxFeePerGas ?? 0n;
  const isTaken = (kept: Kept) => offered(kept) > gwei && offered(kept) * call.gas <= 10n ** 15n;
  for (const nodes of [
    [liar, honest],
    [honest, liar],
  ]) {
    for (const has of [10n ** 30n, call.gas * 499n * gwei, call.gas]) {
      Object.assign(liar.says, { has, base: has < gwei ? 0n : 300n * gwei });
      const wallet = walletBy(...nodes);
      let kept = await wallet.sign(chainId, call, soon());
      const versions = [kept];
      for (let times = 0; times < 5; times += 1) {
        const raised = await wallet.raise(kept, { mostFeeWei: null }, soon());
        if (raised === null) break;
        kept = raised;
        versions.push(kept);
      }
      assert.ok(versions.some(isTaken), versions.map(offered).join());
    }
  }
  // An offer that each says the account can pay is raised as ever.
  const kept = await walletBy(honest).sign(chainId, call, soon());
  const raised = await walletBy(honest).raise(kept, { mostFeeWei: null }, soon());
  assert.ok(raised && offered(raised) > offered(kept));
});
