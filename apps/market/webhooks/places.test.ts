// A receiver that hangs takes places from its own account.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { waitUntil } from '@parley/verify/test/support/waiting.ts';
import { webhookMarket } from './testing/market.ts';

const { account, webhook, agreed, delivering } = webhookMarket();

/** Accounts with that many webhooks each, each at a host of its own below this name. */
async function owners(count: number, each: number, host: string): Promise<string[]> {
  const accounts: string[] = [];
  while (accounts.length < count) {
    const accountId = await account();
    for (let n = 0; n < each; n += 1) {
      await webhook(accountId, `https://w${n}.a${accounts.length}.${host}.example/`);
    }
    accounts.push(accountId);
  }
  return accounts;
}

/** `dead` hosts hang from when they are told to; the others answer. */
function hangingWhen(isHanging: () => boolean) {
  const held = Promise.withResolvers<number>();
  let hanging = 0;
  const { sent, ...rest } = delivering(({ url }) => {
    if (!url.includes('dead') || !isHanging()) return 200;
    hanging += 1;
    return held.promise;
  });
  const hears = async (count: number) => {
    const heard = () => sent.filter(({ url }) => url.includes('alive')).length;
    await waitUntil(() => heard() === count);
  };
  return { ...rest, hears, hanging: () => hanging, release: () => held.resolve(500) };
}

test('three accounts of new receivers that hang leave most places of the new to others', async () => {
  for (const each of await owners(3, 20, 'dead')) await agreed(each, 3);
  const { start, stop, hears, hanging, release } = hangingWhen(() => true);
  start();
  try {
    await waitUntil(() => hanging() >= 36);
    const [alive = ''] = await owners(1, 1, 'alive');
    await agreed(alive, 30);
    await hears(30);
    assert.equal(hanging(), 36);
  } finally {
    release();
    await stop();
  }
});
