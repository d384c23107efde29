// A Bitcoin leg of Taproot over HTTP: both sides ask for it, and its spends pass the same gates.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sharedWorld } from '../../settle/testing/shared.ts';
import {
  agree,
  agreeTaproot,
  askForm,
  bitcoin,
  claimLong,
  claimShort,
  type Deal,
  deepen,
  evm,
  fundBoth,
  swapOf,
} from '../../settle/testing/world.ts';
import { refused } from '../testing/edge.ts';

const world = sharedWorld();

const path = ({ id }: Deal) => `/v1/swaps/${id}/address`;
const p2tr = { form: 'p2tr' };

test('a leg is of Taproot once both sides ask, and of P2WSH again once one does not', async () => {
  const deal = await agree(world);
  const plain = (await swapOf(deal)).legs[deal.long];
  assert.deepEqual([plain.payoutForm, plain.refundForm], [null, null]);
  const half = await askForm(deal, 'initiator', p2tr);
  assert.deepEqual([half.payoutForm, half.refundForm], [null, 'p2tr']);
  assert.deepEqual([half.escrow, half.redeemScript], [plain.escrow, plain.redeemScript]);
  const whole = await askForm(deal, 'counterparty', p2tr);
  assert.match(whole.escrow, /^bcrt1p/);
  assert.match(whole.redeemScript, /^tr\(/);
  assert.deepEqual(await askForm(deal, 'counterparty', p2tr), whole, 'the same moves nothing');
  const back = await askForm(deal, 'counterparty');
  assert.deepEqual([back.escrow, back.payoutForm], [plain.escrow, null]);
  const { address } = deal.counterparty.evmAccount;
  const onEvm = await deal.counterparty.post(path(deal), { chain: evm, address, ...p2tr });
  refused(onEvm, '400 bad_field', /a form of Bitcoin/);
  const other = { chain: bitcoin, address: deal.initiator.pubkey, form: 'p2wsh' };
  refused(await deal.initiator.post(path(deal), other), '400 bad_field');
});

test('it is funded and claimed by its leaf, and its form is fixed from then on', async () => {
  const deal = await agreeTaproot(world);
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
