// A wallet of the browser is asked for a payment once, by any of two tabs. Its answer is kept.

import assert from 'node:assert/strict';
import test from 'node:test';
import { WalletError } from '@parley/sdk/errors.ts';
import type { EscrowPayment } from '@parley/sdk/settle.ts';
import { waitUntil } from '@parley/verify/test/support/waiting.ts';
import { type ByWalletParts, byWalletOf } from './by-wallet.ts';
import { memoryKept } from './keeping.ts';
import type { Ask, PayingWallet, Problem, SwapView } from './types.ts';

const notAfter = 10_000;
const txid = '7e'.repeat(32);
const due: Ask = {
  kind: 'pay_by_hand',
  leg: 'b',
  address: 'bcrt1qescrow',
  amount: 1_000_000n,
  uri: 'bitcoin:',
  notAfter,
};

type Given = {
  readonly asks?: readonly Ask[];
  readonly problems?: readonly Problem[];
  readonly payments?: ByWalletParts['payments'];
  readonly at?: number;
  readonly isHeldUp?: boolean;
};

function tabs(given: Given = {}) {
  const { asks = [due], problems = [], payments, at = 1_000, isHeldUp = false } = given;
  const legs = { a: { isHeldUp }, b: {} };
  const view = { asks, problems, gives: 'b', legs } as unknown as SwapView;
  let clock = at;
  const parts: ByWalletParts = {
    kept: memoryKept(),
    now: () => clock,
    one: (id) => (id === 'swap' ? view : null),
    payments: payments ?? (async () => []),
  };
  const tab = byWalletOf(parts);
  return { tab, other: byWalletOf(parts), pass: (seconds: number) => (clock += seconds) };
}

/** Each prompt waits for what the test answers. */
function wallet(name = 'Verse') {
  const prompts: {
    paid: Parameters<PayingWallet['pay']>[0];
    says: PromiseWithResolvers<string>;
  }[] = [];
  const pay: PayingWallet['pay'] = (paid) => {
    const says = Promise.withResolvers<string>();
    prompts.push({ paid, says });
    return says.promise;
  };
  return { name, pay, prompts };
}

const prompted = async ({ prompts }: ReturnType<typeof wallet>, count = 1) => {
  await waitUntil(() => prompts.length >= count, { everyMs: 0 });
  return prompts[count - 1] ?? assert.fail();
};

const code = (wanted: string, words: RegExp) => (error: unknown) => {
  assert.match(String(error), words);
  assert.equal((error as { code: string }).code, wanted);
  return true;
};

test('a wallet is asked for exactly the amount, and its word is kept', async () => {
  const { tab, other, pass } = tabs();
  const verse = wallet();
  const paying = tab.pay('swap', verse);
  const { paid, says } = await prompted(verse);
  assert.deepEqual(paid, {
    payTo: 'bcrt1qescrow',
    amountSats: 1_000_000n,
    withinMs: 12_600_000,
  });
  const asked = { wallet: 'Verse', at: 1_000, is: 'asked', txid: null, why: null };
  const told = async (of: typeof tab) => {
    const {
      id: _,
      isLeft: __,
      ...rest
    } = (await of.of('swap')) as unknown as Record<string, unknown>;
    return rest;
  };
  assert.deepEqual(await told(other), asked);
  pass(7);
  says.resolve(txid);
  await paying;
  assert.deepEqual(await told(other), { ...asked, is: 'sent', at: 1_007, txid });
  assert.equal(await tab.of('another'), null);
});

test('two clicks and two tabs ask once, and after its word nobody is asked again', async () => {
  const { tab, other } = tabs();
  const verse = wallet();
  const leather = wallet('Leather');
  const paying = tab.pay('swap', verse);
  const again = /Verse was asked for this payment already/;
  await Promise.all([
    assert.rejects(tab.pay('swap', verse), code('asked_already', again)),
    assert.rejects(other.pay('swap', leather), code('asked_already', again)),
  ]);
  (await prompted(verse)).says.resolve(txid);
  await paying;
  await assert.rejects(other.pay('swap', leather), code('asked_already', again));
  assert.deepEqual([verse.prompts.length, leather.prompts.length], [1, 0]);
});

test('no is no, and it may be asked again; whatever else it says is held until a person lets go', async () => {
  const { tab } = tabs();
  const verse = wallet();
  const first = tab.pay('swap', verse);
  (await prompted(verse)).says.reject(new WalletError('declined', 'you declined it'));
  await assert.rejects(first, code('declined', /you declined it/));
  assert.equal(await tab.of('swap'), null);
  const second = tab.pay('swap', verse);
  (await prompted(verse, 2)).says.reject(new WalletError('failed', 'no answer of its node'));
  await second;
  const { is, why } = (await tab.of('swap')) ?? {};
  assert.deepEqual([is, why], ['failed', 'no answer of its node']);
  await assert.rejects(tab.pay('swap', verse), code('asked_already', /answer it there/));
  await tab.leave('swap');
  assert.equal(await tab.of('swap'), null);
});

test("a wallet's word after it was let go holds again", async () => {
  const { tab } = tabs();
  const verse = wallet();
  const paying = tab.pay('swap', verse);
  const { says } = await prompted(verse);
  await tab.leave('swap');
  says.resolve(txid);
  await paying;
  assert.equal((await tab.of('swap'))?.txid, txid);
});

test('no wallet is asked where nothing is due, could be seen, or is in time', async () => {
  const seen = (is: EscrowPayment['is']) => async () =>
    [{ txid, vout: 0, amount: 1_000_000n, confirmations: 0, is, spent: null }] as const;
  const node: Problem = { kind: 'node', leg: 'b', code: null, sentence: 'the node is silent' };
  const refusals: readonly (readonly [Given, RegExp])[] = [
    [{ asks: [] }, /no payment is due now/],
    [{ problems: [node] }, /the node is silent/],
    [{ isHeldUp: true }, /too little to begin by/],
    [{ problems: [{ ...node, kind: 'terms', leg: null, sentence: 'not yours' }] }, /not yours/],
    [{ at: notAfter + 1 }, /the time to pay ended 1 s ago/],
    [{ payments: seen('funding') }, /1000000 sats have arrived already, by transaction 7e7e/],
  ];
  for (const [given, words] of refusals) {
    const verse = wallet();
    await assert.rejects(tabs(given).tab.pay('swap', verse), code('not_to_pay', words));
    assert.equal(verse.prompts.length, 0, String(words));
  }
  const silent = async () => {
    throw new Error('no answer');
  };
  const verse = wallet();
  await assert.rejects(tabs({ payments: silent }).tab.pay('swap', verse), /no answer/);
  const paying = tabs({ payments: seen('too_little'), at: notAfter }).tab.pay('swap', verse);
  (await prompted(verse)).says.resolve(txid);
  await paying;
});
