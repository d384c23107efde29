import assert from 'node:assert/strict';
import { after, afterEach, test } from 'node:test';
import { type Hex, parseTransaction } from 'viem';
import { deployContracts } from '../../contracts/escrows/deploy.ts';
import { shardOf } from '../../contracts/escrows/ids.ts';
import { hashlockOf } from '../../core/hashlock.ts';
import { answerOf, type Lie, lyingNode, untilTested } from '../testing/nodes.ts';
import { refuses } from '../testing/refusals.ts';
import { offerIn, replacing } from './gas-fees.ts';
import { dearestGas } from './gas-policy.ts';
import { evmDeployment, evmEscrow, fundCalls } from './plan.ts';
import { lentOpen } from './simulate.ts';
import { accounts, send, startAnvil } from './testing/anvil.ts';
import { claimOf, devGas, refundOf, type Stranger, signal, strangerOn } from './testing/gas.ts';
import { deployToken, fund, funder, newLeg } from './testing/swap.ts';

const chain = await startAnvil();
after(() => chain.stop());
const lying = untilTested((lie: Lie) => lyingNode(chain.rpcUrl, lie));
afterEach(async () => {
  await chain.client.setAutomine(true);
  await chain.client.setNextBlockBaseFeePerGas({ baseFeePerGas: 10n ** 9n });
  await chain.client.mine({ blocks: 1 });
});

const mine = (blocks = 1) => chain.client.mine({ blocks });
const fate = ({ account }: Stranger, sent: Parameters<typeof account.fate>[0]) =>
  account.fate(sent, signal());

test('a secret or a hashlock with another contract’s address in it keeps no gas key from its work', async () => {
  const shard = shardOf(1).address;
  await deployContracts({ rpcUrl: chain.rpcUrl, account: accounts[4]! }, 1);
  const stranger = await strangerOn(chain, {}, { shards: [shard] });
  const secret = `${shard.slice(2).toLowerCase()}${'5b'.repeat(12)}`;
  const [poisoned, honest] = [
    await newLeg(chain, { hashlock: hashlockOf(secret) }),
    await newLeg(chain),
  ];
  for (const leg of [poisoned, honest]) await fund(chain, leg);
  const { terms } = poisoned;
  for (const isPublic of [true, false]) {
    await stranger.sign({ verb: 'claim', terms, secret, isPublic });
  }
  const legs = [
    { terms, secret },
    { terms: honest.terms, secret: honest.secret },
  ];
  await stranger.send({ verb: 'batch', batch: { verb: 'claim', legs } });
  for (const { escrow } of [poisoned, honest]) {
    const facts = await stranger.adapter.readEscrow(escrow, signal());
    assert.notEqual(facts.claimed, null);
  }
});

test('what waits is replaced by one that offers an eighth more in both fields; the former is gone', async () => {
  const stranger = await strangerOn(chain);
  const leg = await newLeg(chain);
  await fund(chain, leg);
  await chain.client.setAutomine(false);
  const first = await stranger.send(claimOf(leg));
  assert.equal(await fate(stranger, first), 'pending');
  const second = await stranger.send(claimOf(leg), { above: first });
  const [was, is] = [offerIn(first.raw), offerIn(second.raw)];
  assert.ok(is.maxFee >= replacing(was.maxFee) && is.tip >= replacing(was.tip));
  assert.ok(is.maxFee * 1_000n >= was.maxFee * 1_125n && is.tip * 1_000n >= was.tip * 1_125n);
  assert.equal(second.nonce, first.nonce);
  assert.equal(await fate(stranger, first), 'unknown');
  await mine();
  assert.equal(await fate(stranger, second), 'mined');
  assert.equal(await fate(stranger, first), 'gone');
});

test('a nonce that nothing needs is taken by a transfer of nothing to itself', async () => {
  const stranger = await strangerOn(chain);
  const leg = await newLeg(chain);
  await fund(chain, leg);
  await chain.client.setAutomine(false);
  const useless = await stranger.send(claimOf(leg));
  const spent = await stranger.send({ verb: 'void' }, { above: useless });
  await mine();
  assert.equal(await fate(stranger, spent), 'mined');
  assert.equal(await fate(stranger, useless), 'gone');
  const { to, value = 0n, data } = parseTransaction(spent.raw as Hex);
  const own = stranger.account.address.toLowerCase();
  assert.deepEqual([to?.toLowerCase(), value, data], [own, 0n, undefined]);
  assert.deepEqual(spent.touches, []);
});

test('a claim whose secret is unseen is never tried with the money of others', async () => {
  const stranger = await strangerOn(chain);
  const others = await newLeg(chain);
  await fund(chain, others);
  const empty = await newLeg(chain);
  await assert.rejects(stranger.sign(claimOf(empty, false)), refuses('nothing_there', /"never"/));
  // Of a token of which the contract holds less than it owes.
  const token = await deployToken(chain, 'DevDollar');
  const leg = await newLeg(chain, { token });
  const { contract } = evmDeployment(chain.chainId);
  const lent = lentOpen(leg.terms, evmDeployment(chain.chainId))[contract]?.stateDiff ?? {};
  for (const [index, value] of Object.entries(lent)) {
    await chain.client.setStorageAt({
      address: contract as Hex,
      index: index as Hex,
      value: value as Hex,
    });
  }
  const seized = stranger.sign(claimOf(leg, false));
  await assert.rejects(seized, refuses('payout_would_fail', /the token refuses the transfer/));
  const deaf = await lying(({ method, params }, forward) =>
    params.length > 2 && /^eth_(call|estimateGas)$/.test(method)
      ? { error: { code: -32_602, message: 'too many arguments' } }
      : forward(),
  );
  const blind = await strangerOn(chain, {}, { rpcUrls: [deaf.url] });
  const untried = blind.sign(claimOf(leg, false));
  await assert.rejects(untried, refuses('nothing_there', /holds 0 of 1000/));
});

test('a node that lends nothing to an estimate, and does not say so, gets the most gas', async () => {
  const leg = await newLeg(chain);
  await fund(chain, leg);
  const forgetful = await lying(async ({ method, params }, forward) => {
    if (method !== 'eth_estimateGas' || params.length < 3) return forward();
    return answerOf(chain.rpcUrl, method, params.slice(0, 2));
  });
  const stranger = await strangerOn(chain, {}, { rpcUrls: [forgetful.url] });
  const signed = await stranger.sign(claimOf(leg, false));
  assert.equal(parseTransaction(signed.raw as Hex).gas, devGas.mostGas);
});

test('the key calls the contract that its adapter is told of', async () => {
  const account = accounts[9]!;
  const { contract } = await deployContracts({ rpcUrl: chain.rpcUrl, account }, 3);
  const other = { chainId: chain.chainId, contract };
  const leg = await newLeg(chain);
  const [funding] = fundCalls(leg.terms, other, 0n);
  await send(chain, funder, funding ?? assert.fail());
  const stranger = await strangerOn(chain, {}, { contract });
  const sent = await stranger.send(claimOf(leg));
  assert.equal(parseTransaction(sent.raw as Hex).to, contract.toLowerCase());
  assert.deepEqual(sent.touches, [
    { escrow: evmEscrow(leg.terms, other).address, verb: 'claim', secret: leg.secret },
  ]);
  assert.equal(await fate(stranger, sent), 'mined');
});

test('a receipt of a block that the chain left is not believed', async () => {
  const leg = await newLeg(chain);
  await fund(chain, leg);
  const stranger = await strangerOn(chain);
  const sent = await stranger.send(claimOf(leg));
  await mine(4);
  const stale = await lying(async ({ method }, forward) => {
    const answer = await forward();
    if (method !== 'eth_getTransactionReceipt' || !('result' in answer)) return answer;
    return { result: { ...(answer.result as object), blockHash: `0x${'5'.repeat(64)}` } };
  });
  const deceived = await strangerOn(chain, {}, { rpcUrls: [stale.url] });
  assert.equal(await deceived.account.fate({ ...sent, nonce: 9 }, signal()), 'pending');
  const both = await strangerOn(chain, {}, { rpcUrls: [stale.url, chain.rpcUrl] });
  await stranger.send({ verb: 'void' });
  // The nonce is taken, by it or another: every node is asked before it is called gone.
  const account = { ...stranger.account, fate: both.account.fate };
  assert.equal(await account.fate({ ...sent, nonce: -1 }, signal()), 'deep');
});

test('a funding that was taken back makes a claim fail', async () => {
  const stranger = await strangerOn(chain);
  const leg = await newLeg(chain);
  const fork = await chain.client.snapshot();
  await fund(chain, leg);
  const sent = await stranger.sign(claimOf(leg));
  await chain.client.revert({ id: fork });
  await stranger.broadcast(sent);
  const receipt = await chain.client.waitForTransactionReceipt({ hash: sent.txid as Hex });
  assert.equal(receipt.status, 'reverted');
  assert.equal(await fate(stranger, sent), 'failed');
});

test('what could cost more than the limit is not signed; less is offered where less will do', async () => {
  const stranger = await strangerOn(chain);
  const leg = await newLeg(chain);
  await fund(chain, leg);
  await chain.client.setNextBlockBaseFeePerGas({ baseFeePerGas: 10n ** 10n });
  await mine();
  const free = await stranger.sign(claimOf(leg));
  const mostCost = (free.mostCost * 3n) / 4n;
  const tight = await stranger.sign(claimOf(leg), { mostCost });
  assert.ok(tight.offer < free.offer && tight.mostCost <= mostCost);
  const little = { mostCost: free.mostCost / 3n };
  await assert.rejects(stranger.sign(claimOf(leg), little), refuses('fee_above_limit', /wei/));
  const bumped = stranger.sign(claimOf(leg), { above: free, mostCost: free.mostCost });
  await assert.rejects(bumped, refuses('fee_above_limit'));
  await assert.rejects(stranger.sign(claimOf(leg), { mostCost: 0n }), refuses('fee_above_limit'));
});

test('what must be at hand is more than it costs now, and never less than the policy says', async () => {
  const stranger = await strangerOn(chain);
  const leg = await newLeg(chain);
  const unfunded = await stranger.account.reserve(claimOf(leg), signal());
  await fund(chain, leg);
  const reserve = await stranger.account.reserve(claimOf(leg), signal());
  assert.equal(reserve, unfunded);
  assert.equal(reserve, dearestGas('prague', 'native') * devGas.reserveFeePerGas);
  const early = await stranger.account.reserve(refundOf(leg), signal());
  assert.equal(early, reserve);
  await chain.client.setNextBlockBaseFeePerGas({ baseFeePerGas: devGas.reserveFeePerGas });
  await mine();
  const dear = await stranger.account.reserve(claimOf(leg), signal());
  assert.ok(dear > 2n * reserve, `${dear} after ${reserve}`);
  assert.ok((await stranger.sign(claimOf(leg))).mostCost <= dear);
});

test('nor is an unseen secret told to a node that lends nothing, which gets the most gas', async () => {
  const heard: string[] = [];
  const deaf = await lying(({ method, params }, forward) => {
    heard.push(JSON.stringify(params));
    const lends = params.length > 2 && /^eth_(call|estimateGas)$/.test(method);
    if (lends) return { error: { code: -32_602, message: 'too many arguments' } };
    return forward();
  });
  const stranger = await strangerOn(chain, {}, { rpcUrls: [deaf.url] });
  const leg = await newLeg(chain);
  await fund(chain, leg);
  const signed = await stranger.sign(claimOf(leg, false));
  assert.equal(parseTransaction(signed.raw as Hex).gas, devGas.mostGas);
  assert.ok(heard.length > 5 && heard.every((each) => !each.includes(leg.secret)));
});

test('on a chain without a base fee one price is offered', async () => {
  const old = await lying(async ({ method }, forward) => {
    if (method === 'eth_feeHistory') return { error: { code: -32_601, message: 'no such method' } };
    const answer = await forward();
    if (method !== 'eth_getBlockByNumber' || !('result' in answer)) return answer;
    const { baseFeePerGas: _, ...rest } = answer.result as Record<string, unknown>;
    return { result: rest };
  });
  const policy = { ...devGas, hasBaseFee: false };
  const stranger = await strangerOn(chain, { policy }, { rpcUrls: [old.url] });
  const leg = await newLeg(chain);
  await fund(chain, leg);
  await chain.client.setAutomine(false);
  const first = await stranger.send(claimOf(leg));
  assert.equal(parseTransaction(first.raw as Hex).type, 'legacy');
  const second = await stranger.send(claimOf(leg), { above: first });
  assert.ok(second.offer * 1_000n >= first.offer * 1_125n);
  await mine();
  assert.equal(await fate(stranger, second), 'mined');
});

test("on an OP chain Ethereum's fee is part of what it may cost", async () => {
  const l1FeeOracle = '0x420000000000000000000000000000000000000F';
  // Answers 2^40.
  const bytecode = '0x6501000000000060005260206000f3';
  await chain.client.setCode({ address: l1FeeOracle, bytecode });
  const [plain, op] = [
    await strangerOn(chain),
    await strangerOn(chain, { policy: { ...devGas, l1FeeOracle } }),
  ];
  const leg = await newLeg(chain);
  await fund(chain, leg);
  const signed = await op.sign(claimOf(leg));
  const { gas = 0n } = parseTransaction(signed.raw as Hex);
  assert.equal(signed.mostCost, gas * signed.offer + 2n * 2n ** 40n);
  const tight = op.sign(claimOf(leg), { mostCost: 2n * 2n ** 40n });
  await assert.rejects(tight, refuses('fee_above_limit'));
  const [without, withL1] = [
    await plain.account.reserve(claimOf(leg), signal()),
    await op.account.reserve(claimOf(leg), signal()),
  ];
  assert.equal(withL1 - without, 6n * 2n ** 40n);
});
