// A Bitcoin leg of Taproot over HTTP: both sides ask for it, and its spends pass the same gates.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { bitcoinNetworks } from '@parley/chains/bitcoin/networks.ts';
import { signedTogether } from '@parley/chains/bitcoin/testing/swaps.ts';
import { swapById } from '../../db/swaps.ts';
import { currentEscrow } from '../../settle/escrows.ts';
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
  give,
  must,
  send,
  startWorld,
  swapOf,
} from '../../settle/testing/world.ts';
import { refused } from '../testing/edge.ts';

const world = await startWorld();
after(() => world.close());

const path = ({ id }: Deal) => `/v1/swaps/${id}/address`;
const p2tr = { form: 'p2tr' };

/** The leg on Bitcoin, after a side has named its key, and asked for a form or not. */
async function asked(deal: Deal, name: 'initiator' | 'counterparty', how = {}) {
  const { pubkey: address } = deal[name];
  const answer = must(await deal[name].post(path(deal), { chain: bitcoin, address, ...how }));
  return answer.swap.legs[deal.long];
}

async function agreed(): Promise<Deal> {
  const deal = await agree(world);
  for (const name of ['initiator', 'counterparty'] as const) await asked(deal, name, p2tr);
  return deal;
}

test('a leg is of Taproot once both sides ask, and of P2WSH again once one does not', async () => {
  const deal = await agree(world);
  const plain = (await swapOf(deal)).legs[deal.long];
  assert.deepEqual([plain.payoutForm, plain.refundForm], [null, null]);
  const half = await asked(deal, 'initiator', p2tr);
  assert.deepEqual([half.payoutForm, half.refundForm], [null, 'p2tr']);
  assert.deepEqual([half.escrow, half.redeemScript], [plain.escrow, plain.redeemScript]);
  const whole = await asked(deal, 'counterparty', p2tr);
  assert.match(whole.escrow, /^bcrt1p/);
  assert.match(whole.redeemScript, /^tr\(/);
  assert.deepEqual(await asked(deal, 'counterparty', p2tr), whole, 'the same moves nothing');
  const back = await asked(deal, 'counterparty');
  assert.deepEqual([back.escrow, back.payoutForm], [plain.escrow, null]);
  const { address } = deal.counterparty.evmAccount;
  const onEvm = await deal.counterparty.post(path(deal), { chain: evm, address, ...p2tr });
  refused(onEvm, '400 bad_field', /a form of Bitcoin/);
  const other = { chain: bitcoin, address: deal.initiator.pubkey, form: 'p2wsh' };
  refused(await deal.initiator.post(path(deal), other), '400 bad_field');
});

test('it is funded and claimed by its leaf, and its form is fixed from then on', async () => {
  const deal = await agreed();
  await fundBoth(world, deal);
  const { pubkey: address } = deal.counterparty;
  const unasked = await deal.counterparty.post(path(deal), { chain: bitcoin, address });
  refused(unasked, '409 addresses_fixed');
  await claimShort(world, deal);
  await deepen(world);
  const txid = await claimLong(deal);
  await deepen(world);
  const swap = await swapOf(deal);
  assert.deepEqual([swap.status, swap.legs[deal.long].claimTx], ['counterparty_claimed', txid]);
});

test('what both sides signed is sent before the timelock, and shown as a refund', async () => {
  const deal = await agreed();
  await give(world, deal);
  await fundLong(world, deal);
  await deepen(world);
  const swap = await swapById(world.deps.db, deal.id);
  const escrow = swap && currentEscrow(swap, deal.long);
  const adapter = world.deps.adapters.get(bitcoin);
  assert.ok(escrow && adapter?.planTogether);
  const input = { escrow, feeRateSatPerVbyte: null, isPublic: false };
  const signal = AbortSignal.timeout(60_000);
  const planned = await adapter.planTogether(input, 'refund', signal);
  const keyOf = ({ btcKey: privateKey, pubkey }: Deal['initiator']) => ({ privateKey, pubkey });
  const parties = { claimer: keyOf(deal.counterparty), funder: keyOf(deal.initiator) };
  const of = { ...parties, terms: escrow.terms, escrow, secret: deal.secret };
  const { raw, txid } = await signedTogether(of, planned, bitcoinNetworks.regtest);
  assert.equal(must(await send(deal.initiator, bitcoin, raw)).txid, txid);
  await deepen(world);
  const shown = await swapOf(deal);
  assert.deepEqual([shown.status, shown.legs[deal.long].refundTx], ['refunded', txid]);
});
