// The maker's account on the market: an API key by its login wallet's signature, kept in the store
// and renewed before it ends, its wallets, and its assets by the market's ids.

import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { Millis } from '@parley/core/nominal.ts';
import { type ParleyClient, parleyClient } from '@parley/sdk/client.ts';
import { codeOf, messageOf, ParleyApiError } from '@parley/sdk/errors.ts';
import { type HttpOptions, keyText } from '@parley/sdk/http.ts';
import { linkWallet, mintKey } from '@parley/sdk/keys.ts';
import { pin } from '@parley/sdk/pin.ts';
import type { PinnedAsset } from '@parley/sdk/trade.ts';
import type { Me } from '@parley/sdk/types.ts';
import type { OwnWallet } from '@parley/trader/chains.ts';
import { mustBePrivate, readUpTo, writePrivate } from '@parley/trader/places.ts';
import type { OwnChains } from './chains.ts';
import type { AssetConfig, MarketConfig } from './config/config.ts';
import type { Log } from './log.ts';

const keyName = 'Parley maker';
/** A key is renewed this long before it ends. */
const renewMs = 7 * 86_400_000;
/** Between two tries to sign in. */
const againMs = 5_000;

type Key = { readonly key: string; readonly url: string; readonly expiresAt: string };

export type Session = Awaited<ReturnType<typeof openSession>>;

/** The market is asked nothing yet. Throws Failure where others may read the kept key. */
export async function openSession(
  market: MarketConfig,
  store: string,
  chains: OwnChains,
  log: Log,
  heardClock: (aheadSeconds: number) => void = () => {},
) {
  const login = walletOf(chains, market.login);
  const options = {
    baseUrl: market.url,
    heardClock,
    ...(market.productName === undefined ? {} : { productName: market.productName }),
    ...(market.shortName === undefined ? {} : { shortName: market.shortName }),
  };
  const file = join(store, market.keyName);
  let current = await kept(file, market.url);
  const mint = async (): Promise<void> => {
    const scopes = ['read', 'maker'] as const;
    const { key, expiresAt, replaced } = await mintKey(options, login, { name: keyName, scopes });
    current = { key, url: market.url, expiresAt };
    await writePrivate(file, `${JSON.stringify(current)}\n`);
    log.info('key_minted', { expiresAt, replaced });
  };
  const byKey: HttpOptions = {
    ...options,
    fetch: (url, init) => {
      const authorization = `Bearer ${keyText(current?.key ?? '')}`;
      return fetch(url, { ...init, headers: { ...(init.headers as object), authorization } });
    },
  };
  const client = parleyClient(byKey);
  /** Once the wallets of this account were linked by this process or an earlier one. */
  let isKnown = current !== null;
  const me = async (): Promise<Me> => {
    if (current === null) await mint();
    try {
      return await client.me();
    } catch (error) {
      if (!(error instanceof ParleyApiError) || error.status !== 401) throw error;
      isKnown = false;
      await mint();
      return client.me();
    }
  };
  return {
    /** With the key of the moment. Without one the market refuses, and the chains alone are enough. */
    client,
    /** The same, which tries once: an overdue request is decided anew. */
    once: parleyClient({ ...byKey, tries: 1 }),
    /** The present key: a renewed one takes its place. */
    key: () => current?.key ?? '',
    /** Mints a key where there is none that is good, and links the wallets: the account's id. */
    signIn: async (): Promise<string> => {
      const { userId, wallets } = await me();
      // One that is proven need not be vouched for: only then may it be paid.
      const done = new Set([login.address, ...(isKnown ? provenIn(wallets) : [])]);
      for (const { wallet } of Object.values(chains)) {
        if (done.has(wallet.address)) continue;
        await linkWallet(client, wallet, login);
        done.add(wallet.address);
        log.info('wallet_linked', { family: wallet.family, address: wallet.address });
      }
      isKnown = true;
      return userId;
    },
    /** Mints another key where it is time; resolves to whether it did. */
    renew: async (nowMs: Millis): Promise<boolean> => {
      if (Date.parse(current?.expiresAt ?? '') - nowMs > renewMs) return false;
      await mint();
      return true;
    },
  };
}

function provenIn(wallets: Me['wallets']): string[] {
  return Object.values(wallets).flatMap(({ proven }) => proven);
}

function walletOf(chains: OwnChains, chain: string): OwnWallet {
  const found = chains[chain];
  if (found === undefined) throw new Error(`no wallet on "${chain}" to sign in with`);
  return found.wallet;
}

/** The key for the market at `url` of any file in the store, or null. */
export async function keyFor(store: string, url: string): Promise<string | null> {
  for (const name of await readdir(store)) {
    if (!/^market-key[a-z\d-]*\.json$/.test(name)) continue;
    const found = await kept(join(store, name), url);
    if (found !== null) return found.key;
  }
  return null;
}

/**
 * null: there is none for this market, or none that can be read: another one is minted. Throws
 * Failure `open_to_others`.
 */
async function kept(file: string, url: string): Promise<Key | null> {
  const text = await readUpTo(file).catch(() => null);
  if (text === null) return null;
  await mustBePrivate(file);
  try {
    const found = JSON.parse(text) as Key | null;
    return found?.url === url ? found : null;
  } catch {
    return null;
  }
}

type SigningIn = {
  readonly assets: readonly AssetConfig[];
  readonly log: Log;
  readonly signal: AbortSignal;
  /** Whether an asset that the market does not list as it is pinned ends it; else it is left out. */
  readonly needsAll: boolean;
  /** Whether an error is thrown; else it is tried again. */
  readonly ends: (error: unknown) => boolean;
};

/** Signs in, however long that takes: the account's id, and the market's ids of the assets. */
export async function signedIn(
  session: Pick<Session, 'signIn' | 'client'>,
  { assets, log, signal, needsAll, ends }: SigningIn,
) {
  const passed = (asset: string, why: string) => log.warn('asset_passed_over', { asset, why });
  for (;;) {
    signal.throwIfAborted();
    try {
      const userId = await session.signIn();
      const pinned = await pinAssets(session.client, assets, needsAll ? undefined : passed);
      return { userId, assets: pinned };
    } catch (error) {
      if (ends(error)) throw error;
      log.error('sign_in_failed', { code: codeOf(error), error: messageOf(error) });
    }
    await wait(againMs, undefined, { signal });
  }
}

/**
 * The assets as the settings pin them, by name. `passed`: told of each that this market does not
 * list as it is pinned, which is left out. Throws what `pin` throws; without `passed`, for those
 * too.
 */
async function pinAssets(
  client: ParleyClient,
  assets: readonly AssetConfig[],
  passed?: (name: string, why: string) => void,
): Promise<ReadonlyMap<string, PinnedAsset>> {
  const pinned = new Map<string, PinnedAsset>();
  for (const { name, chain, token, decimals, highValueFrom } of assets) {
    try {
      pinned.set(name, await pin(client, { chain, token, decimals, highValueFrom }));
    } catch (error) {
      if (passed === undefined || error instanceof ParleyApiError) throw error;
      passed(name, messageOf(error));
    }
  }
  return pinned;
}
