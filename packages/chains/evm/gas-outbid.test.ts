import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import type { Lie } from '../testing/nodes.ts';
import { refuses } from '../testing/refusals.ts';
import { feesBy, outbidAt, type Present, reachBlocks } from './gas-fees.ts';
import { claimOf, strangerOn } from './testing/gas.ts';
import { fund, newLeg } from './testing/swap.ts';
import { evmWorld } from './testing/world.ts';

const gwei = 10n ** 9n;
const policy = { mostTip: 20n * gwei };
const market = (base: bigint, tip = 1n): Present => ({
  base: base * gwei,
  tip: tip * gwei,
});
const offered = (maxFee: bigint, tip: bigint) => ({ maxFee: maxFee * gwei, tip: tip * gwei });

for (const [what, present, offer, blocks, refused, wanted] of [
  ['no block came', market(2n), offered(3n, 1n), 0, false, null],
  ['one came, which takes as much', market(2n), offered(3n, 1n), 1, false, null],
  ['one came, and takes more', market(3n), offered(3n, 1n), 1, false, 'price'],
  ['two came without it', market(2n), offered(3n, 1n), 2, false, null],
  ['three came without it', market(2n), offered(3n, 1n), 3, false, 'passed over'],
  ['a node behind is asked', market(2n), offered(3n, 1n), -9, false, null],
  ['it was kept without its block', market(2n), offered(3n, 1n), null, false, 'passed over'],
  ['no node takes it', market(2n), offered(3n, 1n), 0, true, 'passed over'],
  ['its tip is at its bound', market(2n), offered(90n, 18n), 9, false, null],
  ['its tip is at its bound and refused', market(2n), offered(90n, 18n), 0, true, null],
  ['at the bound fees outgrow it', market(90n), offered(90n, 18n), 1, false, 'price'],
] as const) {
  test(`paying more: ${what}`, () => {
    assert.equal(outbidAt(present, offer, { blocks, refused }, policy), wanted);
  });
}

const { chain, urlOf, signal, mine } = await evmWorld();

afterEach(async () => {
  await chain.client.setAutomine(true);
  await baseFee(gwei);
});

const baseFee = async (baseFeePerGas: bigint) => {
  await chain.client.setNextBlockBaseFeePerGas({ baseFeePerGas });
  await mine();
};
const funded = async () => {
  const leg = await newLeg(chain);
  await fund(chain, leg);
  return claimOf(leg);
};
const strangerOver = (...rpcUrls: string[]) => strangerOn(chain, {}, { rpcUrls });

/** Signed, and not sent: the answers about it of nodes that make no blocks unless asked. */
async function unsent(...rpcUrls: string[]) {
  const { sign, account } = await strangerOver(...(rpcUrls.length ? rpcUrls : [chain.rpcUrl]));
  const work = await funded();
  await chain.client.setAutomine(false);
  const { raw, height = null } = await sign(work);
  const outbid = (more = {}) =>
    account.outbid?.({ raw, height, refused: false, ...more }, signal());
  return { sign, work, raw, height: height ?? assert.fail(), outbid };
}

test('on a chain: nothing without blocks, more once they come without it or take more', async () => {
  const { sign, work, raw, height, outbid } = await unsent();
  assert.equal(height, Number(await chain.client.getBlockNumber()));
  assert.equal(await outbid(), null);
  assert.equal(await outbid({ refused: true }), 'passed over');
  await mine(2);
  assert.equal(await outbid(), null);
  await mine();
  assert.equal(await outbid(), 'passed over');
  // A best block that cannot be is not what blocks are counted from.
  assert.equal(await outbid({ height: 2 ** 53 - 1 }), 'passed over');
  assert.equal(await outbid({ height: height + 3 + reachBlocks }), null, 'a node that is behind');
  await baseFee(50n * gwei);
  assert.equal(await outbid({ height: height + 4 }), 'price');
  const above = { raw, offer: 0n };
  await assert.rejects(sign(work, { above, mostCost: 1n }), refuses('fee_above_limit'));
  assert.ok((await sign(work, { above })).offer > 50n * gwei);
});

test("the highest of the nodes' costs counts, and an answer that is no number does not", async () => {
  const lies = (cost: string) =>
    urlOf(async ({ method }, forward) => {
      const answer = await forward();
      if (method !== 'eth_getTransactionReceipt' || !('result' in answer)) return answer;
      return { result: { ...(answer.result as object), effectiveGasPrice: cost } };
    });
  const odd = await lies('-0x1');
  const { account, send } = await strangerOver(await lies('0x0'), odd, chain.rpcUrl);
  const work = await funded();
  const had = await account.balance(signal());
  const { txid } = await send(work);
  const cost = had - (await account.balance(signal()));
  assert.ok(cost > 0n);
  assert.deepEqual(await account.paid?.(txid, signal()), { cost, said: 2 });
  const alone = await strangerOver(odd);
  assert.equal(await alone.account.paid?.(txid, signal()), null);
});

const at = (base: bigint, height = 100) => {
  const present: Present = { base, tip: 1n };
  return { present, height };
};

for (const [what, said, bases, height] of [
  ['one node', [at(5n)], [5n], 100],
  ['of two the dearer, then the other', [at(5n, 90), at(9n)], [9n, 5n], 100],
  ['of three the second', [at(5n), at(10n ** 30n), at(6n)], [6n, 5n], 100],
  ['the second, too, where one has stopped', [at(1n, 9), at(7n), at(6n)], [6n, 1n], 100],
  ['of three the second best block', [at(5n, 2 ** 50), at(5n), at(5n)], [5n, 5n], 100],
  ['two so far apart tell no block', [at(5n), at(5n, 101 + reachBlocks)], [5n, 5n], null],
  ['two within reach do', [at(5n), at(5n, 100 + reachBlocks)], [5n, 5n], 100 + reachBlocks],
  ['three far apart', [at(1n, 1), at(1n, 1_000), at(1n, 2_000)], [1n, 1n], null],
] as const) {
  test(`fees by what nodes say: ${what}`, () => {
    const fees = feesBy(said);
    assert.deepEqual(
      fees.presents.map((each) => each.base),
      bases,
    );
    assert.equal(fees.height, height);
  });
}

/** Answers of the best block as they were when `stop` was called. */
function stalling() {
  const said = new Map<string, unknown>();
  let hasStopped = false;
  const lie: Lie = async ({ method, params }, forward) => {
    if (!/^eth_(getBlockByNumber|feeHistory)$/.test(method)) return forward();
    const name = `${method} ${JSON.stringify(params)}`;
    if (hasStopped && said.has(name)) return { result: said.get(name) };
    const answer = await forward();
    if ('result' in answer) said.set(name, answer.result);
    return answer;
  };
  const stop = () => {
    hasStopped = true;
  };
  return { lie, stop };
}

test('a node that has stopped and is asked first keeps nothing from following the fees', async () => {
  const { lie, stop } = stalling();
  const { sign, work, raw, height, outbid } = await unsent(await urlOf(lie), chain.rpcUrl);
  stop();
  assert.equal(await outbid(), null);
  await mine(3);
  assert.equal(await outbid(), 'passed over');
  await baseFee(50n * gwei);
  assert.equal(await outbid(), 'price');
  const next = await sign(work, { above: { raw, offer: 0n } });
  assert.ok(next.offer > 50n * gwei, `${next.offer}`);
  assert.equal(next.height, height + 4);
});

test('beside one that names fees beyond all bounds it is signed at those of the other', async () => {
  const dear = `0x${(10n ** 24n).toString(16)}`;
  const liar = await urlOf(async ({ method }, forward) => {
    const answer = await forward();
    if (!('result' in answer)) return answer;
    const result = answer.result as Record<string, unknown>;
    if (method === 'eth_getBlockByNumber') {
      return { result: { ...result, number: '0x1fffffffffffff', baseFeePerGas: dear } };
    }
    if (method !== 'eth_feeHistory') return answer;
    return { result: { ...result, baseFeePerGas: [dear], reward: [[dear]] } };
  });
  const cheap = await urlOf(async ({ method }, forward) => {
    const answer = await forward();
    if (method !== 'eth_feeHistory' || !('result' in answer)) return answer;
    return { result: { ...(answer.result as object), baseFeePerGas: ['0x1'], reward: [['0x0']] } };
  });
  const work = await funded();
  for (const other of [liar, cheap]) {
    for (const rpcUrls of [
      [other, chain.rpcUrl],
      [chain.rpcUrl, other],
    ]) {
      const { sign } = await strangerOver(...rpcUrls);
      const { offer, mostCost } = await sign(work, { mostCost: 10n ** 16n });
      assert.ok(offer > gwei / 2n && mostCost <= 10n ** 16n, `${offer}, ${mostCost}`);
    }
  }
});
