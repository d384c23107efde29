// Swaps on real chains from agreement to their end: bitcoind, anvil, PostgreSQL, HTTP.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { ChainAdapter } from '../../chains/adapter.ts';
import type { BtcSighash } from '../../chains/interface/material.ts';
import type { WatchedEscrow } from '../../chains/interface/reading.ts';
import { ParleyError } from '../../core/errors.ts';
import { type Swap, swapById } from '../db/swaps.ts';
import { haltChain, resumeChain } from '../market/halts.ts';
import { closeAsset, reopenAsset } from '../market/listing.ts';
import { currentEscrow } from './escrows.ts';
import {
  agree,
  bitcoin,
  claimLong,
  claimShort,
  type Deal,
  deepen,
  evm,
  fundBoth,
  fundLong,
  fundShort,
  give,
  look,
  moveTo,
  must,
  refund,
  send,
  signedPayment,
  signedSpend,
  startWorld,
  swapOf,
  told,
  type World,
} from './testing/world.ts';

/** Blocks until nothing is looked after any more: the depth of dev chains, and six. */
const furthest = 8;
let world: World;
before(async () => {
  world = await startWorld();
});
after(async () => {
  await world?.close();
});

for (const taker of ['initiator', 'counterparty'] as const) {
  test(`settles when the ${taker} asked for the quote`, async () => {
    const deal = await agree(world, { taker });
    await give(world, deal);
    await fundLong(world, deal);
    await look(world);
    assert.equal((await swapOf(deal)).legs[deal.long].status, 'seen');
    assert.equal((await swapOf(deal)).status, 'agreed');
    await deepen(world);
    assert.equal((await swapOf(deal)).status, 'initiator_funded');
    await fundShort(world, deal);
    await deepen(world);
    assert.equal((await swapOf(deal)).status, 'counterparty_funded');
    await claimShort(world, deal);
    await look(world);
    const revealed = await swapOf(deal);
    assert.equal(revealed.status, 'initiator_claimed');
    assert.equal(revealed.secret, deal.secret);
    await claimLong(deal);
    await deepen(world);
    const settled = await swapOf(deal);
    assert.equal(settled.status, 'counterparty_claimed');
    assert.equal(settled.legs.a.status, 'claimed');
    assert.equal(settled.legs.b.status, 'claimed');
    assert.deepEqual(settled.next, []);
    assert.deepEqual(await told(world, deal), [
      'swap.funded initiator_funded',
      'swap.funded counterparty_funded',
      'secret.revealed initiator_claimed',
      'swap.settled counterparty_claimed',
    ]);
    assert.deepEqual(await told(world, deal, deal.counterparty.accountId), await told(world, deal));
    assert.equal(
      await world.evmClient.readContract({
        address: deal.asset.address as `0x${string}`,
        abi: [
          {
            type: 'function',
            name: 'balanceOf',
            stateMutability: 'view',
            inputs: [{ name: 'of', type: 'address' }],
            outputs: [{ name: '', type: 'uint256' }],
          },
        ],
        functionName: 'balanceOf',
        args: [deal.initiator.evmAccount.address],
      }),
      deal.amount,
    );
  });
}

test('native coin against bitcoin settles too', async () => {
  const deal = await agree(world, { asset: world.assets.eth });
  await fundBoth(world, deal);
  await claimShort(world, deal);
  await look(world);
  await claimLong(deal);
  await deepen(world);
  assert.equal((await swapOf(deal)).status, 'counterparty_claimed');
});

test('a swap settles, and another is refunded, although its assets were closed and its chains halted after the agreement', async () => {
  const { btc, eth } = world.assets;
  const deals = [await agree(world, { asset: eth }), await agree(world, { asset: eth })] as const;
  const change = () => ({
    by: 'operator' as const,
    at: new Date(world.deps.now()),
    reasons: ['x'],
  });
  const { db } = world.deps;
  for (const { id: assetId } of [eth, btc]) {
    await db.transaction((tx) => closeAsset(tx, { assetId, ...change() }));
  }
  for (const chain of [evm, bitcoin]) {
    const halt = { chain, reason: 'x', at: new Date(world.deps.now()) };
    await db.transaction((tx) => haltChain(tx, halt));
  }
  try {
    for (const deal of deals) await fundBoth(world, deal);
    const [settles, refunds] = deals;
    await claimShort(world, settles);
    await look(world);
    await claimLong(settles);
    await deepen(world);
    assert.equal((await swapOf(settles)).status, 'counterparty_claimed');
    const { refundAt } = (await swapOf(refunds)).deadlines;
    for (const leg of [refunds.short, refunds.long]) {
      await moveTo(world, refundAt[leg]);
      await refund(world, refunds, leg);
      await deepen(world);
    }
    assert.equal((await swapOf(refunds)).status, 'refunded');
  } finally {
    for (const { id: assetId } of [eth, btc]) {
      await db.transaction((tx) => reopenAsset(tx, { assetId, ...change() }));
    }
    for (const chain of [evm, bitcoin]) {
      await db.transaction((tx) => resumeChain(tx, chain, new Date()));
    }
  }
});

test('who brings the secret for the long leg is served while the short chain is silent, and the initiator is told', async () => {
  const [builds, sends] = [await agree(world), await agree(world)];
  for (const deal of [builds, sends]) await fundBoth(world, deal);
  const adapters = world.deps.adapters as Map<string, ChainAdapter>;
  const adapter = adapters.get(evm) as ChainAdapter;
  const silence = async () => {
    throw new ParleyError('chain_unavailable', 'silent', { chain: evm });
  };
  const own = adapters.get(bitcoin) as ChainAdapter;
  const refusal = async () => {
    throw new ParleyError('payout_would_fail', 'no estimate', {});
  };
  const claimOf = (deal: Deal, by: 'initiator' | 'counterparty', leg: 'a' | 'b') =>
    deal[by].post(`/v1/swaps/${deal.id}/legs/${leg}/claim`, { secret: deal.secret });
  adapters.set(evm, { ...adapter, look: silence, preflight: silence });
  // Nor does it wait for an estimate of the long leg's own node.
  adapters.set(bitcoin, { ...own, preflight: refusal });
  try {
    // What reveals is the short leg's: its own chain has to answer, and nothing is kept of it.
    assert.equal((await claimOf(builds, 'initiator', builds.short)).code, 'chain_unavailable');
    assert.equal((await claimOf(builds, 'initiator', builds.long)).code, 'not_your_leg');
    assert.equal((await swapOf(builds)).secret, null);
    const material = must(await claimOf(builds, 'counterparty', builds.long));
    assert.deepEqual((await told(world, builds)).slice(2), ['secret.revealed initiator_claimed']);
    const spend = signedSpend(builds.counterparty, material, builds.secret);
    must(await send(builds.counterparty, bitcoin, spend));
    // Built elsewhere, and only sent through us.
    const swap = (await swapById(world.deps.db, sends.id)) as Swap;
    const escrow = currentEscrow(swap, sends.long) as WatchedEscrow;
    const input = { escrow, feeRateSatPerVbyte: null, isPublic: true };
    const built = await own.buildClaim(input, sends.secret, AbortSignal.timeout(10_000));
    const signed = signedSpend(sends.counterparty, built as BtcSighash, sends.secret);
    must(await send(sends.counterparty, bitcoin, signed));
    assert.deepEqual((await told(world, sends)).slice(2), ['secret.revealed initiator_claimed']);
  } finally {
    adapters.set(evm, adapter);
    adapters.set(bitcoin, own);
  }
  // The other side has the secret: no last moment keeps the initiator from its leg any more.
  await moveTo(world, (await swapOf(builds)).deadlines.revealBy);
  must(await claimOf(builds, 'initiator', builds.short));
});

test('the initiator is refunded when the counterparty never funds', async () => {
  const deal = await agree(world);
  await fundLong(world, deal);
  await deepen(world);
  const { timelock } = (await swapOf(deal)).legs[deal.long];
  const early = await deal.initiator.post(`/v1/swaps/${deal.id}/legs/${deal.long}/refund`);
  assert.equal(early.code, 'too_early_to_refund');
  await moveTo(world, timelock);
  await deepen(world);
  const open = (await swapOf(deal)).next;
  assert.deepEqual(
    open.map((each: { by: string; action: string }) => `${each.by} ${each.action}`),
    ['initiator refund'],
  );
  await refund(world, deal, deal.long);
  await look(world);
  assert.equal((await swapOf(deal)).status, 'initiator_funded');
  await deepen(world);
  const ended = await swapOf(deal);
  assert.equal(ended.status, 'refunded');
  const again = await deal.initiator.post(`/v1/swaps/${deal.id}/legs/${deal.long}/refund`);
  assert.equal(again.code, 'already_refunded');
  assert.match(again.body.error, new RegExp(ended.legs[deal.long].refundTx));
  assert.deepEqual(await told(world, deal), [
    'swap.funded initiator_funded',
    'swap.refunded refunded',
  ]);
});

test('both are refunded when the secret is never revealed, an event a leg', async () => {
  const deal = await agree(world);
  await fundBoth(world, deal);
  const { revealBy, refundAt } = (await swapOf(deal)).deadlines;
  await moveTo(world, revealBy);
  const late = await deal.initiator.post(`/v1/swaps/${deal.id}/legs/${deal.short}/claim`, {
    secret: deal.secret,
  });
  assert.equal(late.code, 'too_late_to_reveal');
  await moveTo(world, refundAt[deal.short]);
  await refund(world, deal, deal.short);
  await deepen(world);
  assert.equal((await swapOf(deal)).status, 'refunded');
  await moveTo(world, refundAt[deal.long]);
  await refund(world, deal, deal.long);
  await deepen(world);
  const swap = await swapOf(deal);
  assert.equal(swap.status, 'refunded');
  assert.equal(swap.legs.a.status, 'refunded');
  assert.equal(swap.legs.b.status, 'refunded');
  await deepen(world, furthest);
  assert.deepEqual(await told(world, deal), [
    'swap.funded initiator_funded',
    'swap.funded counterparty_funded',
    'swap.refunded refunded',
    'swap.refunded refunded',
  ]);
  assert.equal(await isDone(deal), true);
});

test('an escrow whose swap has ended is paid no more', async () => {
  const deal = await agree(world);
  const { escrow } = (await swapOf(deal)).legs[deal.long];
  const late = await signedPayment(world, escrow, deal.sats);
  await fundBoth(world, deal);
  await claimShort(world, deal);
  await look(world);
  await claimLong(deal);
  await deepen(world, furthest);
  assert.equal(await isDone(deal), true);
  const body = { chain: 'bitcoin', signed: late.hex };
  const sent = await deal.initiator.post('/v1/tx/broadcast', body);
  assert.deepEqual([sent.status, sent.code], [409, 'already_funded']);
  const waiting = await world.bitcoinRpc('getrawmempool', []);
  assert.ok(!(waiting as string[]).includes(late.txid));
});

test('one leg claimed and the other refunded is half settled', async () => {
  const deal = await agree(world);
  await fundBoth(world, deal);
  await claimShort(world, deal);
  await deepen(world);
  const { refundAt } = (await swapOf(deal)).deadlines;
  await moveTo(world, refundAt[deal.long]);
  await refund(world, deal, deal.long);
  await deepen(world);
  assert.equal((await swapOf(deal)).status, 'half_settled');
  assert.deepEqual((await told(world, deal)).slice(2), [
    'secret.revealed initiator_claimed',
    'swap.refunded refunded',
    'swap.half_settled half_settled',
  ]);
});

test('a swap expires after its funding deadline and not before', async () => {
  const deal = await agree(world);
  const { initiatorFundBy, expiresAt } = (await swapOf(deal)).deadlines;
  await moveTo(world, initiatorFundBy - 60);
  await look(world);
  assert.equal((await swapOf(deal)).status, 'agreed');
  await moveTo(world, expiresAt);
  await look(world);
  const expired = await swapOf(deal);
  assert.equal(expired.status, 'expired');
  assert.deepEqual(expired.next, []);
  assert.deepEqual(await told(world, deal), []);
  assert.equal(await isDone(deal), false);
});

test('what is funded after expiry shows, may not go on, and is refunded', async () => {
  const deal = await agree(world);
  await give(world, deal);
  const before = await swapOf(deal);
  await moveTo(world, before.deadlines.expiresAt);
  await look(world);
  assert.equal((await swapOf(deal)).status, 'expired');
  const fund = await deal.initiator.post(`/v1/swaps/${deal.id}/legs/${deal.long}/fund`);
  assert.equal(fund.code, 'too_late_to_fund');
  const address = before.legs[deal.long].escrow;
  await world.dev.faucet({ chain: bitcoin, address, amount: deal.sats });
  await deepen(world);
  const funded = await swapOf(deal);
  assert.equal(funded.status, 'initiator_funded');
  const short = await deal.counterparty.post(`/v1/swaps/${deal.id}/legs/${deal.short}/fund`);
  assert.equal(short.code, 'too_late_to_fund');
  await moveTo(world, before.deadlines.refundAt[deal.long]);
  await refund(world, deal, deal.long);
  await deepen(world);
  assert.equal((await swapOf(deal)).status, 'refunded');
});

test('a reorganisation takes a bitcoin funding back, and says so', async () => {
  const deal = await agree(world);
  await fundLong(world, deal);
  await world.dev.mine(bitcoin, 1);
  const bottom = await world.bitcoinRpc<string>('getbestblockhash');
  await world.dev.mine(bitcoin, 1);
  await look(world);
  assert.equal((await swapOf(deal)).status, 'initiator_funded');
  await world.bitcoinRpc('invalidateblock', [bottom]);
  // Empty blocks, longer than what they replace: the payment waits in the mempool again.
  const elsewhere = await world.faucetRpc<string>('getnewaddress');
  for (let at = 0; at < 3; at += 1) {
    await world.bitcoinRpc('generateblock', [elsewhere, []]);
  }
  await look(world);
  const back = await swapOf(deal);
  assert.equal(back.status, 'agreed');
  assert.match(await world.deps.metrics.registry.metrics(), /^parley_reorganisations_total 1$/m);
  assert.equal(back.legs[deal.long].status, 'seen');
  await deepen(world);
  assert.equal((await swapOf(deal)).status, 'initiator_funded');
  assert.deepEqual(await told(world, deal), [
    'swap.funded initiator_funded',
    'swap.reorged agreed',
    'swap.funded initiator_funded',
  ]);
});

test('a reorganisation of the other chain takes its funding back too', async () => {
  const deal = await agree(world);
  await give(world, deal);
  await fundLong(world, deal);
  await deepen(world);
  await fundShort(world, deal);
  await deepen(world, 2);
  assert.equal((await swapOf(deal)).status, 'counterparty_funded');
  // Deep enough to take the funding and its approval, replaced by empty blocks.
  const { rpcUrl } = world.infos.evm;
  await evmRpc(rpcUrl, 'anvil_reorg', [3, []]);
  await look(world);
  assert.equal((await swapOf(deal)).status, 'initiator_funded');
  assert.equal((await told(world, deal)).at(-1), 'swap.reorged initiator_funded');
});

test('a secret seen in a block that is taken back stays seen', async () => {
  const deal = await agree(world);
  await fundBoth(world, deal);
  await claimShort(world, deal);
  await deepen(world, 2);
  const revealed = await swapOf(deal);
  assert.equal(revealed.legs[deal.short].status, 'claimed');
  await evmRpc(world.infos.evm.rpcUrl, 'anvil_reorg', [2, []]);
  await look(world);
  const swap = await swapOf(deal);
  assert.equal(swap.secret, deal.secret);
  assert.equal(swap.status, 'initiator_claimed');
  const events = await told(world, deal);
  assert.equal(events.filter((each) => each.startsWith('secret.revealed')).length, 1);
  await claimLong(deal);
  await deepen(world);
  assert.notEqual((await swapOf(deal)).legs[deal.long].claimTx, null);
});

test('a payment below the amount is visible, never counts, and is refundable', async () => {
  const deal = await agree(world);
  const { escrow, timelock } = (await swapOf(deal)).legs[deal.long];
  const small = await signedPayment(world, escrow, deal.sats - 1n);
  await world.bitcoinRpc('sendrawtransaction', [small.hex]);
  await deepen(world);
  const swap = await swapOf(deal);
  assert.equal(swap.legs[deal.long].status, 'unfunded');
  assert.equal(swap.legs[deal.long].balance, String(deal.sats - 1n));
  await moveTo(world, timelock);
  await refund(world, deal, deal.long);
  await deepen(world);
  assert.equal((await swapOf(deal)).legs[deal.long].balance, '0');
});

test('a token that takes a fee is refused before anybody has funded anything', async () => {
  const deal = await agree(world, { asset: world.assets.hostile.get('FEE')! });
  await give(world, deal);
  const path = `/v1/swaps/${deal.id}/legs/${deal.long}/fund`;
  const initiator = await deal.initiator.post(path);
  assert.deepEqual([initiator.status, initiator.code], [409, 'payout_would_fail']);
  const { address } = deal.initiator.evmAccount;
  const set = await deal.initiator.post(`/v1/swaps/${deal.id}/address`, { chain: evm, address });
  assert.deepEqual([set.status, set.code], [409, 'payout_would_fail']);
});

test('a token that returns false on success is paid', async () => {
  const deal = await agree(world, { asset: world.assets.hostile.get('FALSE')! });
  await fundBoth(world, deal);
  await claimShort(world, deal);
  await look(world);
  await claimLong(deal);
  await deepen(world);
  assert.equal((await swapOf(deal)).status, 'counterparty_claimed');
});

test('a funder whose coins have not arrived yet can build its funding all the same', async () => {
  const deal = await agree(world);
  await fundLong(world, deal);
  await deepen(world);
  const path = `/v1/swaps/${deal.id}/legs/${deal.short}/fund`;
  assert.equal((await deal.counterparty.post(path)).status, 200);
});

async function isDone(deal: Deal): Promise<boolean> {
  const [row] = await world.deps.db.rows<{ done: boolean }>({
    name: 'test_done',
    text: `select done from swaps where id = $1`,
    values: [deal.id],
  });
  return row?.done === true;
}

async function evmRpc(url: string, method: string, params: unknown[]): Promise<unknown> {
  const reply = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  });
  const answer = (await reply.json()) as { result?: unknown; error?: { message: string } };
  if (answer.error !== undefined) throw new Error(answer.error.message);
  return answer.result;
}
