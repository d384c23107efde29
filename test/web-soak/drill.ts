// Bitcoin paid by hand in the app, on real chains: too little, too much, twice, late. Then the
// browser profile is deleted, and the market is asked no more: a saved copy claims and refunds all
// of it by phrase, rescue file and nodes. `npm run soak -- web`.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { rpcTo } from '../../devnet/rpc.ts';
import { type Person, startWeb, type Web } from '../support/web.ts';
import {
  collects,
  drill,
  type Of,
  type On,
  rescued,
  rescuePayout,
  sats,
  savedBy,
  show,
  title,
  until,
} from '../support/web-rescue.ts';

let web: Web;
before(async () => {
  web = await startWeb();
});
after(() => web?.close());

const names = ['little', 'much', 'twice', 'late'] as const;
type Name = (typeof names)[number];

const now = () => Math.floor(Date.now() / 1_000);

type Swaps = { readonly on: On; readonly swaps: Readonly<Record<Name, Of>> };

test('paid by hand wrongly, then without browser and market: all of it comes back', async (t) => {
  const { home, on, alice, maker, context, page, phrase, agree } = await drill(t, web, {
    // The market gets no refunds that it could send: what comes back is the copy's work.
    prepare: (profile) => profile.route('**/refund/scheduled', (route) => route.abort()),
  });
  const agreed = await Promise.all(names.map(async (name) => [name, await agree(maker)] as const));
  const swaps = Object.fromEntries(agreed) as Record<Name, Of>;
  const all = { on, swaps };
  await page.goto(`${web.url}/swaps`);
  await page
    .getByRole('link', { name: /BTC for/ })
    .first()
    .waitFor();
  await paidWrongly(page, all);

  const past = async (at: number) => {
    const { clockOffsetSeconds } = await web.dev.status();
    const seconds = at - now() - clockOffsetSeconds + 60;
    maker.moves(seconds);
    await web.dev.time(seconds);
    return clockOffsetSeconds + seconds;
  };
  const { deadlines } = await alice.client.swap(swaps.late.id);
  const offset = await past(deadlines.initiatorFundBy);
  await paidLate(page, all);
  const saved = await savedBy(page, home);
  await context.close();

  const profile = await web.browser.newContext();
  t.after(() => profile.close());
  await profile.clock.install({ time: (now() + offset) * 1_000 });
  const copy = await rescued(profile, { ...saved, on, phrase, alice, many: names.length });
  await collected(copy.page, alice, all);
  await past(deadlines.refundAt.b);
  await profile.clock.fastForward((deadlines.refundAt.b + 60 - now() - offset) * 1_000);
  await refunded(on);
  // As deep as what no reorganisation is looked for behind.
  await web.dev.mine(on.btc.chain, 10);
  await ended(copy.page, all);
  assert.deepEqual(copy.wrong, []);
});

async function paidWrongly(page: Page, { on, swaps }: Swaps): Promise<void> {
  for (const name of names) {
    await show(page, swaps[name]);
    await page.locator('.swap-pay .swap-address', { hasText: swaps[name].escrow }).waitFor();
  }
  const pay = (name: Name, amount: bigint) =>
    web.dev.faucet({ chain: on.btc.chain, address: swaps[name].escrow, amount });
  await pay('little', 990_000n);
  await pay('twice', sats);
  await show(page, swaps.twice);
  // Any of these: blocks of a dev chain come at once.
  await title(page, /was seen|are locked|Collecting/);
  assert.equal(await page.locator('svg.qr').count(), 0, 'a second payment is invited');
  await pay('much', 1_500_000n);
  await pay('twice', sats);
  await title(page, 'You paid more than agreed: decide');
  await show(page, swaps.much);
  await title(page, 'You paid more than agreed: decide');
  await page.getByText('0.005 BTC of it are more than agreed').waitFor();
  await show(page, swaps.little);
  await title(page, 'Too little has arrived');
  await page.getByText('Not part of the swap. It comes back').waitFor();
}

async function paidLate(page: Page, { on, swaps: { late } }: Swaps): Promise<void> {
  await show(page, late);
  await title(page, 'Ended. No payment arrived in time');
  // Not mined yet: a dev chain makes it final at once.
  await web.dev.mining(on.btc.chain, false);
  await rpcTo(`${on.btc.rpcUrl}/wallet/faucet`)('sendtoaddress', [late.escrow, 0.01]);
  await page.reload();
  await title(page, 'Your payment came late');
  await web.dev.mining(on.btc.chain, true);
}

/** What a second word and the person's own wallet are needed for. */
async function collected(page: Page, alice: Person, { on, swaps }: Swaps): Promise<void> {
  await page.locator('li.panel', { hasText: swaps.much.id }).getByRole('link').click();
  await title(page, 'You paid more than agreed: decide');
  await page.getByText('Go on, and risk 0.005').click();
  await page.getByRole('dialog').getByText('Go on, and risk').click();
  await collects(page, alice, on);
  // Its wallet is there now, and is not to be asked before the second word.
  await page.getByRole('link', { name: 'My swaps' }).click();
  await page.locator(`a[href*="${swaps.twice.id}"]`).click();
  await title(page, 'You paid more than agreed: decide');
}

async function refunded({ btc }: On): Promise<void> {
  const paid = [0.0099, 0.01, 0.02];
  const back = await until('a refund of each', async () => {
    const { unspents } = await rpcTo(btc.rpcUrl)<{ unspents: { amount: number }[] }>(
      'scantxoutset',
      ['start', [`addr(${rescuePayout})`]],
    );
    return unspents.length >= paid.length ? unspents.map(({ amount }) => amount).sort() : null;
  });
  for (const [at, amount] of back.entries()) {
    const fee = (paid[at] ?? 0) - amount;
    assert.ok(fee > 0 && fee < 0.0005, `${amount} of ${paid[at]}`);
  }
}

/** What the copy says of each in the end: too little was never part of its swap. */
async function ended(page: Page, { swaps }: Swaps): Promise<void> {
  for (const [name, text] of [
    ['little', 'Ended. No payment arrived in time'],
    ['late', 'Ended. You have'],
    ['twice', 'Ended. You have'],
  ] as const) {
    await page.getByRole('link', { name: 'My swaps' }).click();
    await page.locator(`a[href*="${swaps[name].id}"]`).click();
    await title(page, text);
    await page.getByText('Sent back to you').first().waitFor();
  }
}
