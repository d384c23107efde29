// The rescue drill: a browser profile is deleted in the middle of a swap, and the market is asked
// no more. Phrase, rescue file and nodes bring it back in the saved rescue page, from a disk.
// Refunds, and payments that were wrong, are the rules of packages/sdk/rescue and packages/sdk/paid-elsewhere.test.ts.

import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { sharedWeb, type Web } from './support/web.ts';
import { collects, drill, rescued, sats, savedBy, until } from './support/web-rescue.ts';

const opened = sharedWeb();
let web: Web;
before(async () => {
  web = await opened();
});

test('profile deleted and market gone: the secret of the phrase collects from a disk', async (t) => {
  const { home, on, alice, maker, context, page, phrase, agree } = await drill(t, web);
  const { id, escrow } = await agree(maker);
  await page.goto(`${web.url}/swaps/${id}`);
  await page.locator('.swap-pay .swap-address', { hasText: escrow }).waitFor();
  await web.dev.faucet({ chain: on.btc.chain, address: escrow, amount: sats });
  const saved = await savedBy(page, home);
  await context.close();

  const profile = await web.browser.newContext();
  t.after(() => profile.close());
  const copy = await rescued(profile, { ...saved, on, phrase, alice });
  await copy.page.getByRole('link', { name: 'Look at it' }).click();
  await collects(copy.page, alice, on);
  // The other side was paid too, by the secret that the copy has shown.
  await until('the claim of the other side', async () => {
    const { claimTx } = (await alice.client.swap(id)).legs.b;
    return claimTx;
  });
  assert.deepEqual(copy.wrong, []);
});
