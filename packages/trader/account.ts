// The account of a profile: keys in a file, and an API key that its wallets sign in for.

import type { Family } from '@parley/core/families.ts';
import { linkWallet, type MessageSigner, mintKey } from '@parley/sdk/keys.ts';
import type { ApiKey, Scope } from '@parley/sdk/types.ts';
import { coinsAt } from './chains.ts';
import { misused } from './failures.ts';
import type { Cli } from './io.ts';
import { keysOf, mustBeSecret, newWords } from './keys/words.ts';
import { writePrivate } from './places.ts';
import { writeProfile } from './profile.ts';
import { type Account, marketOf, type Session, sealedIn, type Unlocked } from './session.ts';

const allScopes: readonly Scope[] = ['read', 'taker', 'maker'];

export type Minting = {
  /** The family of the wallet that signs in; default EVM, else the first one there is. */
  readonly by?: Family | undefined;
  readonly scopes?: readonly Scope[] | undefined;
  /** Shown by the market beside the key. */
  readonly name?: string | undefined;
};

/** Words in the clear, which the profile names from then on. `isNew`: they are drawn. */
export async function takeKeyFile(cli: Cli, session: Session, file: string, isNew: boolean) {
  const { places, profile } = session;
  if (isNew) await writePrivate(file, `${newWords()}\n`, { isNew: true });
  const named = { ...profile, keyFile: file };
  const { words } = await sealedIn(cli, { places, profile: named });
  mustBeSecret(words, profile.network);
  const keys = await keysOf(words, profile.network);
  await writePrivate(places.profileFile, writeProfile(named));
  return keys;
}

/**
 * The place of a family among those that sign in, the first of a profile's families being the one.
 * It never changes: another wallet of the same person would sign in to a new account.
 */
const loginPlace: Readonly<Record<Family, number>> = { evm: 0, bitcoin: 1, tron: 2, solana: 3 };

/** The family that signs in where a person names none; undefined without a chain. */
export function loginFamily(of: Iterable<Family>): Family | undefined {
  return [...of].toSorted((one, other) => loginPlace[one] - loginPlace[other])[0];
}

/** An API key by one wallet; the others are linked, and vouched for by it. */
export async function minted(
  session: Session,
  own: Pick<Unlocked, 'wallet'>,
  { by, scopes = allScopes, name }: Minting = {},
): Promise<Account> {
  const { places, profile } = session;
  const signers = new Map<Family, MessageSigner>();
  const addresses: Record<string, string> = {};
  for (const [chain, { family }] of Object.entries(profile.chains)) {
    const wallet = await own.wallet(chain);
    if (!signers.has(family)) signers.set(family, wallet);
    addresses[chain] = coinsAt(wallet);
  }
  const family = by ?? loginFamily(signers.keys()) ?? 'evm';
  const login = signers.get(family);
  if (login === undefined) throw misused(`the profile has no chain of ${family}`);
  const { market: baseUrl, productName, shortName } = profile;
  const options = { baseUrl, productName, shortName };
  const how = { scopes, ...(name === undefined ? {} : { name }) };
  const key: ApiKey = await mintKey(options, login, how);
  const client = await marketOf(session, key.key);
  const { userId, wallets } = await client.me();
  for (const [family, wallet] of signers) {
    const { login: first, proven } = wallets[family];
    if (wallet === login || first === wallet.address || proven.includes(wallet.address)) continue;
    await linkWallet(client, wallet, login);
  }
  const { prefix, expiresAt } = key;
  const account = { market: baseUrl, userId, key: key.key, prefix, expiresAt, addresses };
  await writePrivate(places.account, `${JSON.stringify(account, null, 2)}\n`);
  return account;
}
