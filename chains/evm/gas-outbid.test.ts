import assert from 'node:assert/strict';
import { after, afterEach, test } from 'node:test';
import { ParleyError } from '../../core/errors.ts';
import { type Lie, lyingNode, type TestNode } from '../testing/nodes.ts';
import {
  feesBy,
  type Offer,
  offerAt,
  outbidAt,
  type Present,
  priceOf,
  reachBlocks,
  replacing,
} from './gas-fees.ts';
import { startAnvil } from './testing/anvil.ts';
import { claimOf, devGas, signal, strangerOn } from './testing/gas.ts';
import { fund, newLeg } from './testing/swap.ts';

const gwei = 10n ** 9n;
const policy = { mostTip: 20n * gwei };
const market = (base: bigint, tip = 1n): Present => ({
  kind: 'market',
  base: base * gwei,
  tip: tip * gwei,
});
const legacy = (price: bigint): Present => ({ kind: 'legacy', price: price * gwei });
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
  ['one price, and twice of it is offered', legacy(5n), offered(10n, 10n), 9, false, null],
  ['one price, passed over', legacy(5n), offered(8n, 8n), 3, false, 'passed over'],
] as const) {
  test(`paying more: ${what}`, () => {
    assert.equal(outbidAt(present, offer, { blocks, refused }, policy), wanted);
  });
}

function pushed(first: Offer, looks: number, at: (look: number) => [Present, number]): Offer[] {
  const made = [first];
  let signedAt = 0;
  for (let look = 0; look < looks; look += 1) {
    const [present, height] = at(look);
    const last = made.at(-1) as Offer;
    const since = { blocks: height - signedAt, refused: false };
    if (outbidAt(present, last, since, policy) === null) continue;
    const next = offerAt(present, last, 10n ** 30n, policy);
    if (next === null) continue;
    made.push(next);
    signedAt = height;
  }
  return made;
}

const start = (present: Present) => offerAt(present, null, 10n ** 30n, policy) as Offer;

test('a node without peers makes nothing dearer, however often it is asked', () => {
  const quiet = market(1n);
  assert.equal(pushed(start(quiet), 200, () => [quiet, 0]).length, 1);
});

test('a node that swallows what it takes makes the tip no higher than a first offer’s may be', () => {
  const quiet = market(1n);
  const last = pushed(start(quiet), 2_000, (look) => [quiet, look]).at(-1) as Offer;
  assert.ok(last.tip > 10n * gwei && last.tip <= policy.mostTip, `${last.tip}`);
});

test('fees that rise are followed, two thousandfold, and the tip stays within four of its bounds', () => {
  let base = 1n;
  const rising = (look: number): [Present, number] => {
    if (look % 8 === 0) base = (base * 9n) / 8n + 1n;
    return [market(base), look];
  };
  const begun = start(market(1n, 20n));
  const made = pushed(begun, 600, rising);
  assert.ok(base > 2_000n);
  const last = made.at(-1) as Offer;
  assert.ok(last.maxFee >= priceOf(market(base)), 'blocks take what it offers');
  assert.ok(last.tip <= 4n * policy.mostTip && made.length < 16, `${made.length} of ${last.tip}`);
});

test('a replacement that would have to tip beyond all bounds is not made', () => {
  const above = { maxFee: 900n * gwei, tip: 72n * gwei };
  assert.equal(offerAt(market(900n), above, 10n ** 30n, policy), null);
  const lower = { ...above, tip: 71n * gwei };
  const made = offerAt(market(900n), lower, 10n ** 30n, policy);
  assert.equal(made?.tip, replacing(lower.tip));
  assert.equal(offerAt(legacy(5n), offered(9n, 9n), 10n ** 30n, policy), null);
});

const chain = await startAnvil();
after(() => chain.stop());
afterEach(() => chain.client.setAutomine(true));

test('on a chain: nothing without blocks, more once they come without it or take more', async () => {
  const stranger = await strangerOn(chain);
  const leg = await newLeg(chain);
  await fund(chain, leg);
  await chain.client.setAutomine(false);
  const { raw, height = null } = await stranger.sign(claimOf(leg));
  assert.equal(height, Number(await chain.client.getBlockNumber()));
  const outbid = (more = {}) =>
    stranger.account.outbid?.({ raw, height, refused: false, ...more }, signal());
  assert.equal(await outbid(), null);
  assert.equal(await outbid({ refused: true }), 'passed over');
  await chain.client.mine({ blocks: 2 });
  assert.equal(await outbid(), null);
  await chain.client.mine({ blocks: 1 });
  assert.equal(await outbid(), 'passed over');
  await chain.client.setNextBlockBaseFeePerGas({ baseFeePerGas: 50n * gwei });
  await chain.client.mine({ blocks: 1 });
  assert.equal(await outbid({ height: height === null ? null : height + 4 }), 'price');
  const above = { raw, offer: 0n };
  const little = { above, mostCost: 1n };
  const code = (error: unknown) => error instanceof ParleyError && error.code === 'fee_above_limit';
  await assert.rejects(stranger.sign(claimOf(leg), little), code);
  assert.ok((await stranger.sign(claimOf(leg), { above })).offer > 50n * gwei);
});

test('of what nodes say that it has cost the highest counts, and what is no number does not', async () => {
  const lies = (cost: string) =>
    lyingNode(chain.rpcUrl, async ({ method }, forward) => {
      const answer = await forward();
      if (method !== 'eth_getTransactionReceipt' || !('result' in answer)) return answer;
      return { result: { ...(answer.result as object), effectiveGasPrice: cost } };
    });
  const [free, odd] = [await lies('0x0'), await lies('-0x1')];
  try {
    const rpcUrls = [free.url, odd.url, chain.rpcUrl];
    const stranger = await strangerOn(chain, { policy: devGas }, { rpcUrls });
    await chain.client.setNextBlockBaseFeePerGas({ baseFeePerGas: gwei });
    const leg = await newLeg(chain);
    await fund(chain, leg);
    const had = await stranger.account.balance(signal());
    const sent = await stranger.send(claimOf(leg));
    const cost = had - (await stranger.account.balance(signal()));
    assert.ok(cost > 0n);
    assert.deepEqual(await stranger.account.paid?.(sent.txid, signal()), { cost, said: 2 });
    const alone = await strangerOn(chain, {}, { rpcUrls: [odd.url] });
    assert.equal(await alone.account.paid?.(sent.txid, signal()), null);
  } finally {
    await Promise.all([free.stop(), odd.stop()]);
  }
});

const at = (base: bigint, height = 100) => {
  const present: Present = { kind: 'market', base, tip: 1n };
  return { present, height };
};

const onePrice = (price: bigint, height = 100) => {
  const present: Present = { kind: 'legacy', price };
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
  ['one that leaves the base fee out', [onePrice(10n ** 30n), at(5n)], [5n], 100],
] as const) {
  test(`fees by what nodes say: ${what}`, () => {
    const fees = feesBy(said);
    assert.deepEqual(
      fees.presents.map((each) => (each.kind === 'market' ? each.base : null)),
      bases,
    );
    assert.equal(fees.height, height);
  });
}

const liars: TestNode[] = [];

afterEach(async () => {
  await chain.client.setAutomine(true);
  await chain.client.setNextBlockBaseFeePerGas({ baseFeePerGas: gwei });
  await chain.client.mine({ blocks: 1 });
  await Promise.all(liars.splice(0).map((each) => each.stop()));
});

const lying = async (lie: Lie): Promise<string> => {
  const node = await lyingNode(chain.rpcUrl, lie);
  liars.push(node);
  return node.url;
};

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
  const rpcUrls = [await lying(lie), chain.rpcUrl];
  const stranger = await strangerOn(chain, {}, { rpcUrls });
  const leg = await newLeg(chain);
  await fund(chain, leg);
  await chain.client.setAutomine(false);
  const { raw, height = null } = await stranger.sign(claimOf(leg));
  stop();
  const outbid = () => stranger.account.outbid?.({ raw, height, refused: false }, signal());
  assert.equal(await outbid(), null);
  await chain.client.mine({ blocks: 3 });
  assert.equal(await outbid(), 'passed over');
  await chain.client.setNextBlockBaseFeePerGas({ baseFeePerGas: 50n * gwei });
  await chain.client.mine({ blocks: 1 });
  assert.equal(await outbid(), 'price');
  const next = await stranger.sign(claimOf(leg), { above: { raw, offer: 0n } });
  assert.ok(next.offer > 50n * gwei, `${next.offer}`);
  assert.equal(next.height, (height ?? 0) + 4);
});

test('a best block that cannot be is not what blocks are counted from', async () => {
  const stranger = await strangerOn(chain);
  const leg = await newLeg(chain);
  await fund(chain, leg);
  await chain.client.setAutomine(false);
  const { raw } = await stranger.sign(claimOf(leg));
  const outbid = (height: number) =>
    stranger.account.outbid?.({ raw, height, refused: false }, signal());
  assert.equal(await outbid(2 ** 53 - 1), 'passed over');
  const best = Number(await chain.client.getBlockNumber());
  assert.equal(await outbid(best + reachBlocks), null, 'a node that is behind');
});

test('beside one that names fees beyond all bounds it is signed at those of the other', async () => {
  const dear = `0x${(10n ** 24n).toString(16)}`;
  const liar = await lying(async ({ method }, forward) => {
    const answer = await forward();
    if (!('result' in answer)) return answer;
    const result = answer.result as Record<string, unknown>;
    if (method === 'eth_getBlockByNumber') {
      return { result: { ...result, number: '0x1fffffffffffff', baseFeePerGas: dear } };
    }
    if (method !== 'eth_feeHistory') return answer;
    return { result: { ...result, baseFeePerGas: [dear], reward: [[dear]] } };
  });
  const cheap = await lying(async ({ method }, forward) => {
    const answer = await forward();
    if (method !== 'eth_feeHistory' || !('result' in answer)) return answer;
    return { result: { ...(answer.result as object), baseFeePerGas: ['0x1'], reward: [['0x0']] } };
  });
  const leg = await newLeg(chain);
  await fund(chain, leg);
  for (const other of [liar, cheap]) {
    for (const rpcUrls of [
      [other, chain.rpcUrl],
      [chain.rpcUrl, other],
    ]) {
      const stranger = await strangerOn(chain, {}, { rpcUrls });
      const { offer, mostCost } = await stranger.sign(claimOf(leg), { mostCost: 10n ** 16n });
      assert.ok(offer > gwei / 2n && mostCost <= 10n ** 16n, `${offer}, ${mostCost}`);
    }
  }
});

test('a node that hangs over fees costs a signature less than half a second of its time', async () => {
  const hangs = (method: string) => /^eth_(getBlockByNumber|feeHistory)$/.test(method);
  let isOpen = false;
  const silent = await lying(({ method }, forward) =>
    isOpen && hangs(method) ? undefined : forward(),
  );
  const stranger = await strangerOn(chain, {}, { rpcUrls: [chain.rpcUrl, silent] });
  const leg = await newLeg(chain);
  await fund(chain, leg);
  await stranger.sign(claimOf(leg));
  isOpen = true;
  const slot = await stranger.slot();
  const begun = performance.now();
  await stranger.account.sign(claimOf(leg), slot, AbortSignal.timeout(4_000));
  const tookMs = performance.now() - begun;
  assert.ok(tookMs < 2_500, `${tookMs} ms`);
});
