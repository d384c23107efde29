// The parts that a command works with: the profile, the account at its market, keys where they are
// needed, chains as they are used, and the store of swaps.

import { join } from 'node:path';
import type { ChainSource } from '@parley/sdk/chains.ts';
import type { ParleyClient } from '@parley/sdk/client.ts';
import type { PhraseKeys } from '@parley/sdk/rescue/derive.ts';
import type { PhraseStore } from '@parley/sdk/rescue/store.ts';
import { type Escrow, escrowKey, type OwnWallet, walletOf } from './chains.ts';
import { Failure, needsYou } from './failures.ts';
import { type Cli, passphraseOf } from './io.ts';
import type { Sealed } from './keys/keystore.ts';
import { type Keys, keysOf } from './keys/words.ts';
import { chosenProfile, mustBePrivate, type Places, placesOf, readUpTo } from './places.ts';
import { type Profile, type ProfileChain, readProfile } from './profile.ts';
import { type Now, openSource } from './sources.ts';

/** The account at the market, in the clear: it can agree for the account, and moves no coin. */
export type Account = {
  readonly market: string;
  readonly userId: string;
  readonly key: string;
  readonly prefix: string;
  readonly expiresAt: string;
  /** By chain: where the wallet's own coins are. */
  readonly addresses: Readonly<Record<string, string>>;
};

export type Session = {
  readonly places: Places;
  readonly profile: Profile;
  readonly now: Now;
  /** Throws Failure `unknown_chain`. */
  chain(name: string): ProfileChain;
  /** One a chain; closed with the session. */
  source(chain: string): Promise<ChainSource>;
  close(): Promise<void>;
};

const controlMs = 5_000;
const clockMs = 5_000;
const mostAccountBytes = 16_384;

export async function openSession(cli: Cli): Promise<Session> {
  const places = placesOf(cli.env, await chosenProfile(cli.env, cli.profile));
  const text = await readUpTo(places.profileFile);
  if (text === null) {
    const sentence = `there is no profile "${places.profile}": make it with "parley init"`;
    throw needsYou('no_profile', sentence);
  }
  const profile = await withControl(cli, readProfile(text, places.profileFile));
  const clock = await clockOf(profile.dev);
  const { now } = clock;
  const isDev = profile.network === 'dev';
  const sources = new Map<string, Promise<ChainSource>>();
  const chain = (name: string): ProfileChain => {
    const found = Object.hasOwn(profile.chains, name) ? profile.chains[name] : undefined;
    if (found !== undefined) return found;
    const known = Object.keys(profile.chains).join(', ');
    throw new Failure('usage', 'unknown_chain', `the profile has no chain "${name}": ${known}`);
  };
  return {
    places,
    profile,
    now,
    chain,
    source: (name) => {
      const known = sources.get(name) ?? openSource(name, chain(name), { isDev, now });
      sources.set(name, known);
      return known;
    },
    close: async () => {
      clock.stop();
      for (const each of await Promise.allSettled(sources.values())) {
        if (each.status === 'fulfilled') await each.value.adapter.close();
      }
    },
  };
}

/** The announcement that a market on this machine wrote when it was ready. */
export async function announced({ env, cwd }: Pick<Cli, 'env' | 'cwd'>) {
  const home = env.PARLEY_HOME ?? join(cwd, '.parley');
  try {
    const text = await readUpTo(join(home, 'ready.json'));
    return JSON.parse(text ?? '{}') as { readonly url?: string; readonly dev?: string };
  } catch {
    return {};
  }
}

/** A dev network has another control address after each start. */
async function withControl(cli: Cli, profile: Profile): Promise<Profile> {
  if (profile.dev === undefined) return profile;
  const { url, dev } = await announced(cli);
  return url === profile.market && dev !== undefined ? { ...profile, dev } : profile;
}

/** Runs it, and closes what it opened whatever comes of it. */
export async function inSession<T>(cli: Cli, work: (session: Session) => Promise<T>): Promise<T> {
  const session = await openSession(cli);
  try {
    return await work(session);
  } finally {
    await session.close();
  }
}

/** The dev network's own status (docs/devnet.md). */
export async function devStatus(control: string): Promise<unknown> {
  try {
    const answer = await fetch(new URL('/status', control), {
      signal: AbortSignal.timeout(controlMs),
    });
    return await answer.json();
  } catch (cause) {
    const sentence = `the dev network at ${control} does not answer: is "npm start" running?`;
    throw new Failure('chain_unavailable', 'chain_unavailable', sentence, { cause });
  }
}

/** The machine's; a dev network has moved its own, and may move it at any time. */
async function clockOf(control: string | undefined): Promise<{ now: Now; stop: () => void }> {
  let offset = 0;
  const read = async (from: string) => {
    const { clockOffsetSeconds } = (await devStatus(from)) as { clockOffsetSeconds?: number };
    offset = clockOffsetSeconds ?? 0;
  };
  const now = () => Math.floor(Date.now() / 1_000) + offset;
  if (control === undefined) return { now, stop: () => {} };
  await read(control);
  const timer = setInterval(() => {
    // A dev network that is gone keeps the last one that it said.
    read(control).catch(() => {});
  }, clockMs);
  return { now, stop: () => clearInterval(timer) };
}

/** Without a key, for what needs none. */
export async function marketOf({ profile }: Pick<Session, 'profile'>, key?: string) {
  const { parleyClient } = await import('@parley/sdk/client.ts');
  const { market: baseUrl, productName, shortName } = profile;
  return parleyClient({ baseUrl, productName, shortName, ...(key === undefined ? {} : { key }) });
}

/** null: no account has logged in, or only at another market. */
export async function accountOf({ places, profile }: Session): Promise<Account | null> {
  const text = await readUpTo(places.account, mostAccountBytes);
  if (text === null) return null;
  await mustBePrivate(places.account);
  const account = readAccount(text, places.account);
  return account.market === profile.market ? account : null;
}

function readAccount(text: string, file: string): Account {
  try {
    const account = JSON.parse(text) as Account;
    Object.keys(account.addresses);
    return account;
  } catch (cause) {
    const sentence = `${file} is damaged: "parley login" writes it anew`;
    throw new Failure('local', 'bad_account', sentence, { cause });
  }
}

export type SignedIn = { readonly client: ParleyClient; readonly account: Account };

/** Throws Failure `not_signed_in`. */
export async function signedIn(session: Session): Promise<SignedIn> {
  const account = await accountOf(session);
  if (account === null) {
    const sentence = `no account is signed in at ${session.profile.market}: run "parley login"`;
    throw needsYou('not_signed_in', sentence);
  }
  return { account, client: await marketOf(session, account.key) };
}

/** As the keystore or the key file has them. Throws Failure `no_keys`, `wrong_passphrase`. */
export async function keysIn(cli: Cli, session: Session): Promise<Keys> {
  const { places, profile } = session;
  const { words, imported } = await sealedIn(cli, { places, profile });
  return keysOf(words, profile.network, imported);
}

export async function sealedIn(
  cli: Cli,
  { places, profile }: Pick<Session, 'places' | 'profile'>,
): Promise<Sealed> {
  const { mostKeystoreBytes, opened } = await import('./keys/keystore.ts');
  const file = profile.keyFile ?? places.keystore;
  const text = await readUpTo(file, mostKeystoreBytes);
  if (text === null) {
    const sentence = `${file} is missing: "parley login" makes a keystore`;
    throw needsYou('no_keys', sentence);
  }
  await mustBePrivate(file);
  if (profile.keyFile !== undefined) return { words: text.trim().replace(/\s+/g, ' ') };
  return opened(text, await passphraseOf(cli, `Passphrase of ${file}: `));
}

export type Unlocked = {
  readonly keys: Keys;
  readonly phrase: PhraseKeys;
  readonly store: PhraseStore;
  /** The words were typed for this once: the profile may have others. */
  readonly isTyped: boolean;
  /** One object a chain, and on Bitcoin one a key of the phrase. */
  wallet(chain: string, escrow?: Partial<Escrow>): Promise<OwnWallet>;
};

export async function unlocked(cli: Cli, session: Session): Promise<Unlocked> {
  return unlockedBy(session, await keysIn(cli, session));
}

export async function unlockedBy(session: Session, keys: Keys, isTyped = false): Promise<Unlocked> {
  const { phraseKeys } = await import('@parley/sdk/rescue/derive.ts');
  const { storeWith } = await import('@parley/sdk/rescue/store.ts');
  const phrase = await phraseKeys(keys.rescue, session.profile.network);
  const wallets = new Map<string, Promise<OwnWallet>>();
  return {
    keys,
    phrase,
    isTyped,
    store: storeWith(phrase, await storeIn(session), session.now),
    wallet: (chain, escrow = {}) => {
      const { index = escrowKey } = escrow;
      const key = `${chain} ${index} ${escrow.payout ?? ''}`;
      const of = { keys: phrase, ...escrow, index };
      const known = wallets.get(key) ?? walletOf(chain, session.chain(chain), keys, of);
      wallets.set(key, known);
      return known;
    },
  };
}

export async function storeIn({ places }: Pick<Session, 'places'>) {
  const { fileStore } = await import('@parley/sdk/stores/file.ts');
  return fileStore(places.store);
}
