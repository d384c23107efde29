// The rescue drill: a browser profile is deleted in the middle of a swap, and the market is asked
// no more. Phrase, rescue file and nodes bring it back in the saved rescue page, from a disk.
// Refunds, and what was paid wrongly, are in the soak (test/web-soak/drill.ts).

import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { sharedWeb, type Web } from './support/web.ts';
import {
  agreeing,
  chainsOf,
  collects,
  engineModules,
  type Modules,
  makerOn,
  rescued,
  sats,
  savedBy,
  until,
} from './support/web-rescue.ts';

const opened = sharedWeb();
let web: Web;
let modules: Modules;
const over = new AbortController();
before(async () => {
  [web, modules] = await Promise.all([opened(), engineModules()]);
});
after(() => over.abort());

test('profile deleted and market gone: the secret of the phrase collects from a disk', async (t) => {
  const home = await mkdtemp(join(tmpdir(), 'parley-copy-'));
  t.after(() => rm(home, { recursive: true, force: true }));
  const on = await chainsOf(web);
  const [alice, maker] = await Promise.all([web.person(), makerOn(web, on, over.signal)]);
  await web.dev.faucet({ chain: on.evm.chain, address: alice.address });
  const context = await web.browser.newContext({ serviceWorkers: 'block', acceptDownloads: true });
  t.after(() => context.close());
  const page = await web.open(t, '/help', { as: alice, context });
  const { phrase, agree } = await agreeing(page, modules, alice, on);
  const { id, escrow } = await agree(maker);
  await page.goto(`${web.url}/swaps/${id}`);
  await page.locator('.swap-pay .swap-address', { hasText: escrow }).waitFor();
  await web.dev.faucet({ chain: on.btc.chain, address: escrow, amount: sats });
  const saved = await savedBy(page, home);
  await context.close();

  const profile = await web.browser.newContext();
  t.after(() => profile.close());
  const copy = await rescued(profile, { ...saved, on, phrase, alice, many: 1 });
  await copy.page.getByRole('link', { name: 'Look at it' }).click();
  await collects(copy.page, alice, on);
  // The other side was paid too, by the secret that the copy has shown.
  await until('the claim of the other side', async () => {
    const { claimTx } = (await alice.client.swap(id)).legs.b;
    return claimTx;
  });
  assert.deepEqual(copy.wrong, []);
});
