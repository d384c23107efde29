// Bitcoin paid by hand: a person is told to pay while the leg may be funded, and not a second
// later. On chains in memory, with a wallet that has no coins.

import assert from 'node:assert/strict';
import test from 'node:test';
import { paymentUri } from '@parley/chains/bitcoin/plan.ts';
import { nothingSeen } from '@parley/core/facts.ts';
import { stubAdapter } from '@parley/verify/test/support/adapter.ts';
import type { ParleyClient } from '../client.ts';
import type { Progress } from '../settle.ts';
import { memoryStore } from '../stores/memory.ts';
import { bitcoinOf, bitcoinView, evmOf, evmView, keptRecord, secret } from '../testing/honest.ts';
import type { Wallet } from '../wallets/wallet.ts';
import { contextOf } from './context.ts';
import { fund } from './fund.ts';

const record = keptRecord('taker');
const { swap } = record;
const last = swap.deadlines.initiatorFundBy;

type When = 'the market builds' | 'the chains are read' | 'it is kept';

/** The words for a taker whose clock is a second past the last moment from then on. */
async function toldWhere(late: When | null) {
  let wall = last;
  const now = (when: When) => {
    if (when === late) wall = last + 1;
  };
  const told: Progress[] = [];
  const { address, terms } = swap.legs.b.escrow ?? assert.fail('no escrow');
  const material = {
    chain: 'bitcoin-regtest',
    family: 'bitcoin',
    sign: 'btc-payment',
    escrow: address,
    payTo: address,
    amountSats: `${terms.amount}`,
    uri: paymentUri(address, terms.amount),
  };
  const build = async () => {
    now('the market builds');
    return material;
  };
  const look = async () => {
    if (told.length === 0) now('the chains are read');
    return { heads: { height: 9, hash: '9', clock: wall }, facts: [nothingSeen] };
  };
  const preflight = async () => {};
  const sourceOf = (view: typeof bitcoinView | typeof evmView) => ({
    view,
    adapter: stubAdapter(view.chain, view.family, { look, preflight, policy: view.policy }),
  });
  const store = memoryStore();
  await store.putSecret(swap.hashlock, secret);
  await store.putSwap(record);
  const { putSwap } = store;
  const slow = async (...kept: Parameters<typeof putSwap>) => {
    await putSwap(...kept);
    now('it is kept');
  };
  const coinless = { ...bitcoinOf('taker'), family: 'bitcoin' };
  const paid = { ...evmOf('taker'), family: 'evm' };
  const context = contextOf({
    swapId: swap.id,
    store: { ...store, putSwap: slow },
    now: () => wall,
    client: { fund: build } as unknown as ParleyClient,
    chains: {
      [bitcoinView.chain]: { source: sourceOf(bitcoinView), wallet: coinless as Wallet },
      [evmView.chain]: { source: sourceOf(evmView), wallet: paid as unknown as Wallet },
    },
    onProgress: (each) => void told.push(each),
  });
  await context.store.getSwap(swap.id);
  const code = await fund(context).then(
    () => null,
    (error: { code?: string }) => error.code ?? error,
  );
  const isTold = told.some(({ step }) => step === 'pay_by_hand');
  return { code, isTold, isKept: context.record.byHand === true };
}

test('a person is told to pay in the last second, once that is kept', async () => {
  assert.deepEqual(await toldWhere(null), { code: null, isTold: true, isKept: true });
});

for (const [late, isKept] of [
  ['the market builds', false],
  ['the chains are read', false],
  ['it is kept', true],
] as const) {
  test(`a party is not told to pay where its time is over once ${late}`, async () => {
    const code = 'too_late_to_fund';
    assert.deepEqual(await toldWhere(late), { code, isTold: false, isKept });
  });
}
