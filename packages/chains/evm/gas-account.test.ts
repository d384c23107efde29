import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import type { EscrowTerms } from '@parley/core/terms.ts';
import { type Hex, parseTransaction } from 'viem';
import { answerOf, type Lie } from '../testing/nodes.ts';
import { refuses } from '../testing/refusals.ts';
import type { EvmGasOptions } from './gas-account.ts';
import { offerIn, replacing } from './gas-fees.ts';
import { dearestGas } from './gas-policy.ts';
import { claimOf, devGas, refundOf, type Stranger, strangerOn } from './testing/gas.ts';
import { deployToken, fund, newLeg, openByStorage } from './testing/swap.ts';
import { evmWorld } from './testing/world.ts';

const { chain, urlOf, mine, signal } = await evmWorld();
afterEach(async () => {
  await chain.client.setAutomine(true);
  await baseFee(10n ** 9n);
});

const baseFee = async (baseFeePerGas: bigint) => {
  await chain.client.setNextBlockBaseFeePerGas({ baseFeePerGas });
  await mine();
};
const outcome = ({ account }: Stranger, sent: Parameters<typeof account.outcome>[0]) =>
  account.outcome(sent, signal());
const funded = async (over: Partial<EscrowTerms> = {}) => {
  const leg = await newLeg(chain, over);
  await fund(chain, leg);
  return leg;
};
const strangerBehind = async (lie: Lie, over: Partial<EvmGasOptions> = {}) =>
  strangerOn(chain, over, { rpcUrls: [await urlOf(lie)] });
const reserve = ({ account }: Stranger, work: Parameters<typeof account.reserve>[0]) =>
  account.reserve(work, signal());

test('what waits is replaced by one that offers an eighth more in both fields; the former is gone', async () => {
  const stranger = await strangerOn(chain);
  const leg = await funded();
  await chain.client.setAutomine(false);
  const first = await stranger.send(claimOf(leg));
  assert.equal(await outcome(stranger, first), 'pending');
  const second = await stranger.send(claimOf(leg), { above: first });
  const was = offerIn(first.raw);
  const is = offerIn(second.raw);
  assert.ok(is.maxFee >= replacing(was.maxFee) && is.tip >= replacing(was.tip));
  assert.ok(is.maxFee * 1_000n >= was.maxFee * 1_125n && is.tip * 1_000n >= was.tip * 1_125n);
  assert.equal(second.nonce, first.nonce);
  assert.equal(await outcome(stranger, first), 'unknown');
  await mine();
  assert.equal(await outcome(stranger, second), 'mined');
  assert.equal(await outcome(stranger, first), 'gone');
});

test('a nonce that nothing needs is taken by a transfer of nothing to itself', async () => {
  const stranger = await strangerOn(chain);
  const leg = await funded();
  await chain.client.setAutomine(false);
  const useless = await stranger.send(claimOf(leg));
  const spent = await stranger.send({ verb: 'void' }, { above: useless });
  await mine();
  assert.deepEqual(
    [await outcome(stranger, spent), await outcome(stranger, useless)],
    ['mined', 'gone'],
  );
  const { to, value = 0n, data } = parseTransaction(spent.raw as Hex);
  const own = stranger.account.address.toLowerCase();
  assert.deepEqual([to?.toLowerCase(), value, data], [own, 0n, undefined]);
  assert.deepEqual(spent.touches, []);
});

const lendsNothing = { error: { code: -32_602, message: 'too many arguments' } };

test('a claim whose secret is unseen is never tried with the money of others', async () => {
  const stranger = await strangerOn(chain);
  await funded();
  const empty = await newLeg(chain);
  await assert.rejects(stranger.sign(claimOf(empty, false)), refuses('nothing_there', /"never"/));
  // A leg with a token whose contract holds less than it owes.
  const leg = await newLeg(chain, { token: await deployToken(chain, 'DevDollar') });
  await openByStorage(chain, leg.terms);
  const seized = stranger.sign(claimOf(leg, false));
  await assert.rejects(seized, refuses('payout_would_fail', /the token refuses the transfer/));
});

test('a node that lends to no estimate, and says so or not, hears no unseen secret and gets the most gas', async () => {
  const leg = await funded();
  const seized = await newLeg(chain, { token: await deployToken(chain, 'DevDollar') });
  await openByStorage(chain, seized.terms);
  for (const doesSay of [true, false]) {
    const heard: string[] = [];
    const stranger = await strangerBehind(({ method, params }, forward) => {
      heard.push(JSON.stringify(params));
      if (method !== 'eth_estimateGas') return forward();
      return doesSay ? lendsNothing : answerOf(chain.rpcUrl, method, params.slice(0, 2));
    });
    const signed = await stranger.sign(claimOf(leg, false));
    assert.equal(parseTransaction(signed.raw as Hex).gas, devGas.mostGas);
    assert.ok(heard.length > 5 && heard.every((each) => !each.includes(leg.secret)));
    await assert.rejects(stranger.sign(claimOf(seized, false)), refuses('payout_would_fail'));
  }
});

test('a receipt of a block that the chain left is not believed', async () => {
  const leg = await funded();
  const stranger = await strangerOn(chain);
  const sent = await stranger.send(claimOf(leg));
  await mine(4);
  const stale = await urlOf(async ({ method }, forward) => {
    const answer = await forward();
    if (method !== 'eth_getTransactionReceipt' || !('result' in answer)) return answer;
    return { result: { ...(answer.result as object), blockHash: `0x${'5'.repeat(64)}` } };
  });
  const deceived = await strangerOn(chain, {}, { rpcUrls: [stale] });
  assert.equal(await outcome(deceived, { ...sent, nonce: 9 }), 'pending');
  const both = await strangerOn(chain, {}, { rpcUrls: [stale, chain.rpcUrl] });
  await stranger.send({ verb: 'void' });
  // The nonce is taken, by it or another: every node is asked before it is called gone.
  const account = { ...stranger.account, outcome: both.account.outcome };
  assert.equal(await outcome({ ...stranger, account }, { ...sent, nonce: -1 }), 'deep');
});

test('what must be at hand is more than it costs now, and never less than the policy says', async () => {
  const stranger = await strangerOn(chain);
  const leg = await newLeg(chain);
  const least = dearestGas('prague', 'native') * devGas.reserveFeePerGas;
  assert.equal(await reserve(stranger, claimOf(leg)), least);
  await fund(chain, leg);
  for (const work of [claimOf(leg), refundOf(leg)]) {
    assert.equal(await reserve(stranger, work), least);
  }
  await baseFee(devGas.reserveFeePerGas);
  const dear = await reserve(stranger, claimOf(leg));
  assert.ok(dear > 2n * least, `${dear} after ${least}`);
  assert.ok((await stranger.sign(claimOf(leg))).mostCost <= dear);
});

test("on an OP chain Ethereum's fee is part of what it may cost", async () => {
  const l1FeeOracle = '0x420000000000000000000000000000000000000F';
  const l1Fee = 2n ** 40n;
  const bytecode = '0x6501000000000060005260206000f3';
  await chain.client.setCode({ address: l1FeeOracle, bytecode });
  const plain = await strangerOn(chain);
  const op = await strangerOn(chain, { policy: { ...devGas, l1FeeOracle } });
  const work = claimOf(await funded());
  const signed = await op.sign(work);
  const { gas = 0n } = parseTransaction(signed.raw as Hex);
  assert.equal(signed.mostCost, gas * signed.offer + 2n * l1Fee);
  const tight = op.sign(work, { mostCost: 2n * l1Fee });
  await assert.rejects(tight, refuses('fee_above_limit'));
  assert.equal((await reserve(op, work)) - (await reserve(plain, work)), 6n * l1Fee);
});
