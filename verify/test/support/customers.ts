// The customers of a stage: wallets of all four families whose keys the test knows, funds, an
// account, a webhook, and sources of their own that no proxy stands before.

import type { Family } from '@parley/core/families.ts';
import {
  chainsOf,
  joined,
  type Keys,
  newKeys,
  type Person,
  walletsOf,
} from '@parley/dev/demo/people.ts';
import type { CoinName, Place } from '@parley/dev/demo/place.ts';
import { assetsOf } from '@parley/dev/demo/trades.ts';
import type { ParleyClient } from '@parley/sdk/client.ts';
import { memoryStore } from '@parley/sdk/stores/memory.ts';
import type { PinnedAsset } from '@parley/sdk/trade.ts';
import type { Ground } from './stage.ts';

export type Customer = Omit<Person, 'client'> & {
  /** After a restore another than before. */
  client: ParleyClient;
  key: string;
  readonly keys: Keys;
  readonly assets: Readonly<Record<CoinName, PinnedAsset>>;
  readonly hook: string;
};

const coinsEach = 6;
const brand = { productName: 'Parley', shortName: 'parley' };

/** `seen`: the nodes by which the customer sees the chains; the chains' own unless told. */
export async function newCustomer(
  ground: Ground,
  name: string,
  login: Family = 'evm',
  seen: Place = ground.place,
): Promise<Customer> {
  const keys = newKeys();
  const own = walletsOf(seen, keys);
  const { key, client } = await joined({ url: ground.url, brand }, own, login, name);
  const gifts = Object.values(ground.place.coins).flatMap((coin) => {
    const asset = coin.token === null ? {} : { asset: coin.token };
    const gift = { chain: coin.chain, address: own[coin.family].address, ...asset };
    if (coin.name !== 'BTC') return [{ ...gift, amount: coin.gift }];
    // A payment of another swap waits for a block: a coin each.
    return Array.from({ length: coinsEach }, () => ({ ...gift, amount: 5_000_000n }));
  });
  await Promise.all(gifts.map((gift) => ground.dev.faucet(gift)));
  const { userId } = await client.me();
  const hook = `/hook/${userId}`;
  if (ground.receiver !== undefined) {
    await register(ground.url, key, new URL(hook, ground.receiver.url).href);
  }
  const chains = chainsOf(seen, ground.now, own);
  const person = { name, userId, client, ...own, chains, store: memoryStore() };
  return { ...person, key, keys, hook, assets: await assetsOf(person, ground.place) };
}

async function register(market: string, key: string, url: string): Promise<void> {
  const reply = await fetch(`${market}/v1/webhooks`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ url }),
  });
  if (reply.status !== 201) throw new Error(`webhook ${reply.status}: ${await reply.text()}`);
}
