// Swaps on real chains from agreement to their end: bitcoind, anvil, PostgreSQL, HTTP.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ChainAdapter } from '@parley/chains/adapter.ts';
import type { BtcSighash } from '@parley/chains/interface/material.ts';
import type { WatchedEscrow } from '@parley/chains/interface/reading.ts';
import { ParleyError } from '@parley/core/errors.ts';
import { erc20Abi, type Hex } from 'viem';
import { type Swap, swapById } from '../db/swaps.ts';
import { haltChain, resumeChain } from '../market/halts.ts';
import { closeAsset, reopenAsset } from '../market/listing.ts';
import { currentEscrow } from './escrows.ts';
import { altered, emptyBlocks, endOf, legPath, refused, sharedWorld } from './testing/shared.ts';
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
  swapOf,
  told,
} from './testing/world.ts';

const world = sharedWorld();

const statusOf = async (deal: Deal) => (await swapOf(deal)).status;

test('a swap settles step by step, each emitted to both once final, and its escrow is paid no more', async () => {
  const deal = await agree(world, { taker: 'counterparty' });
  const late = await signedPayment(world, (await swapOf(deal)).legs[deal.long].escrow, deal.sats);
  await give(world, deal);
  await fundLong(world, deal);
  await look(world);
  const seen = await swapOf(deal);
  assert.deepEqual([seen.status, seen.legs[deal.long].status], ['agreed', 'seen']);
  await deepen(world);
  assert.equal(await statusOf(deal), 'initiator_funded');
  await fundShort(world, deal);
  await deepen(world);
  assert.equal(await statusOf(deal), 'counterparty_funded');
  await claimShort(world, deal);
  await look(world);
  const revealed = await swapOf(deal);
  assert.deepEqual([revealed.status, revealed.secret], ['initiator_claimed', deal.secret]);
  await claimLong(deal);
  // The depth of dev chains and six blocks, after which nothing is followed any more.
  await deepen(world, 8);
  const { status, legs, next } = await swapOf(deal);
  const ends = [status, legs.a.status, legs.b.status, next];
  assert.deepEqual(ends, ['counterparty_claimed', 'claimed', 'claimed', []]);
  const events = await told(world, deal);
  assert.deepEqual(events, [
    'swap.funded initiator_funded',
    'swap.funded counterparty_funded',
    'secret.revealed initiator_claimed',
    'swap.settled counterparty_claimed',
  ]);
  assert.deepEqual(await told(world, deal, deal.counterparty.accountId), events);
  const address = deal.asset.address as Hex;
  const account = deal.initiator.evmAccount.address;
  const balance = { address, abi: erc20Abi, functionName: 'balanceOf', args: [account] } as const;
  assert.equal(await world.evmClient.readContract(balance), deal.amount);

  assert.deepEqual(await endOf(world, deal), { done: true, due: false, open: 0 });
  refused(await send(deal.initiator, bitcoin, late.hex), 409, 'already_funded');
  assert.ok(!(await world.bitcoinRpc<string[]>('getrawmempool', [])).includes(late.txid));
});

test('a swap settles, and another is refunded, although its assets were closed and its chains halted after the agreement', async () => {
  const { btc, eth } = world.assets;
  const deals = [await agree(world, { asset: eth }), await agree(world, { asset: eth })] as const;
  const at = new Date(world.deps.now());
  const { db } = world.deps;
  const turn = async (isOpen: boolean) => {
    for (const { id: assetId } of [eth, btc]) {
      const change = { assetId, by: 'operator' as const, at, reasons: ['x'] };
      await db.transaction((tx) => (isOpen ? reopenAsset(tx, change) : closeAsset(tx, change)));
    }
    for (const chain of [evm, bitcoin]) {
      const reason = 'x';
      await db.transaction<unknown>((tx) =>
        isOpen ? resumeChain(tx, chain, at) : haltChain(tx, { chain, reason, at }),
      );
    }
  };
  await turn(false);
  try {
    for (const deal of deals) await fundBoth(world, deal);
    const [settles, refunds] = deals;
    await claimShort(world, settles);
    await look(world);
    await claimLong(settles);
    await deepen(world);
    assert.equal(await statusOf(settles), 'counterparty_claimed');
    const { refundAt } = (await swapOf(refunds)).deadlines;
    for (const leg of [refunds.short, refunds.long]) {
      await moveTo(world, refundAt[leg]);
      await refund(world, refunds, leg);
      await deepen(world);
    }
    assert.equal(await statusOf(refunds), 'refunded');
  } finally {
    await turn(true);
  }
});

test('a party with the secret for the long leg is served while the short chain is silent, and the initiator is notified', async () => {
  const builds = await agree(world);
  const sends = await agree(world);
  for (const deal of [builds, sends]) await fundBoth(world, deal);
  const failing = (code: 'chain_unavailable' | 'payout_would_fail') => async () => {
    throw new ParleyError(code, 'silent', {});
  };
  const silence = failing('chain_unavailable');
  const claimOf = (deal: Deal, by: 'initiator' | 'counterparty', leg: 'long' | 'short') =>
    deal[by].post(legPath(deal, leg, 'claim'), { secret: deal.secret });
  const own = world.deps.adapters.get(bitcoin) as ChainAdapter;
  const silent = {
    [evm]: () => ({ look: silence, preflight: silence }),
    // Nor does it wait for an estimate of the long leg's own node.
    [bitcoin]: () => ({ preflight: failing('payout_would_fail') }),
  };
  await altered(world, silent, async () => {
    // The claim that reveals is the short leg's: its own chain has to answer, and nothing is kept
    // of it.
    assert.equal((await claimOf(builds, 'initiator', 'short')).code, 'chain_unavailable');
    assert.equal((await claimOf(builds, 'initiator', 'long')).code, 'not_your_leg');
    assert.equal((await swapOf(builds)).secret, null);
    const material = must(await claimOf(builds, 'counterparty', 'long'));
    assert.deepEqual((await told(world, builds)).slice(2), ['secret.revealed initiator_claimed']);
    const spend = signedSpend(builds.counterparty, material, builds.secret);
    must(await send(builds.counterparty, bitcoin, spend));
    // Built elsewhere, and only sent through us.
    const swap = (await swapById(world.deps.db, sends.id)) as Swap;
    const escrow = currentEscrow(swap, sends.long) as WatchedEscrow;
    const input = { escrow, feeRateSatPerVbyte: null, isPublic: true };
    const built = await own.buildClaim(input, sends.secret, AbortSignal.timeout(60_000));
    const signed = signedSpend(sends.counterparty, built as BtcSighash, sends.secret);
    must(await send(sends.counterparty, bitcoin, signed));
    assert.deepEqual((await told(world, sends)).slice(2), ['secret.revealed initiator_claimed']);
  });
  // The other side has the secret: no last moment keeps the initiator from its leg any more.
  await moveTo(world, (await swapOf(builds)).deadlines.revealBy);
  must(await claimOf(builds, 'initiator', 'short'));
});

test('no funding is handed out before its trials have ended, though it is built', async () => {
  const deal = await agree(world);
  const built = Promise.withResolvers<void>();
  const late = {
    [bitcoin]: ({ buildFund }: ChainAdapter) => ({
      buildFund: async (...asked: Parameters<ChainAdapter['buildFund']>) => {
        const material = await buildFund(...asked);
        built.resolve();
        return material;
      },
    }),
    [evm]: () => ({
      preflight: async () => {
        await built.promise;
        throw new ParleyError('payout_would_fail', 'blocked', {});
      },
    }),
  };
  await altered(world, late, async () => {
    refused(await deal.initiator.post(legPath(deal, 'long', 'fund')), 409, 'payout_would_fail');
  });
  must(await deal.initiator.post(legPath(deal, 'long', 'fund')));
});

test('a reorganisation takes a funding back, and says so', async () => {
  const deal = await agree(world);
  await fundLong(world, deal);
  await world.dev.mine(bitcoin, 1);
  const bottom = await world.bitcoinRpc<string>('getbestblockhash');
  await world.dev.mine(bitcoin, 1);
  await look(world);
  assert.equal(await statusOf(deal), 'initiator_funded');
  const counted = async () => {
    const text = await world.deps.metrics.registry.metrics();
    return Number(/^parley_reorganisations_total (\d+)$/m.exec(text)?.[1]);
  };
  const before = await counted();
  // The payment waits in the mempool again.
  await world.bitcoinRpc('invalidateblock', [bottom]);
  await emptyBlocks(world, 3);
  await look(world);
  const back = await swapOf(deal);
  assert.deepEqual([back.status, back.legs[deal.long].status], ['agreed', 'seen']);
  assert.equal(await counted(), before + 1);
  await deepen(world);
  assert.deepEqual(await told(world, deal), [
    'swap.funded initiator_funded',
    'swap.reorged agreed',
    'swap.funded initiator_funded',
  ]);
});
