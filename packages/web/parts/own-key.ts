// The Bitcoin key of the phrase as a wallet of the account: it signs in this page, without a prompt.
// It is made and shown to the market before anything can be lost; an acceptance asks for a phrase
// that is kept (phrase-panel.tsx).

import { type Family, families } from '@parley/core/families.ts';
import { linkWallet, type MessageSigner } from '@parley/sdk/keys.ts';
import type { WalletsOfFamily } from '@parley/sdk/types.ts';
import { isRefused, type Purpose, type SignedIn, signInBy } from '../market/account.ts';
import { lookAgain } from '../market/session.ts';
import { market, queries } from '../market/site.ts';
import { recalled, remember } from '../texts/remembered.ts';
import { text } from '../texts/texts.ts';

type Wallets = Readonly<Record<Family, WalletsOfFamily>>;

const remembered = 'parley.own-key';

/** Whether the key of this browser is a login, as far as this browser knows. */
export function ownKeySignsIn(): boolean {
  return recalled('localStorage', remembered) !== null;
}

/** With a phrase that is made where there is none. */
export async function ownSigner(): Promise<MessageSigner> {
  const engine = await openedEngine();
  await engine.vault.make({ isUnasked: true });
  return engine.bitcoinSigner();
}

const openedEngine = async () => (await import('../engine/page.ts')).pageEngine();

/** As a wallet signs: to sign in, as a further login, or to be fresh again. */
export async function signInByOwnKey(purpose: Purpose): Promise<SignedIn> {
  const signer = await ownSigner();
  // Another phrase is here by now: its key would make an account of its own.
  if (purpose !== 'add' && signer.address !== recalled('localStorage', remembered)) {
    throw new Error(text('own_key.gone'));
  }
  // An answer may be lost: it counts as a login from the request on.
  await (await openedEngine()).vault.signsIn();
  const done = await signInBy(signer, purpose);
  remember('localStorage', remembered, signer.address);
  return done;
}

export function hasWallets(wallets: Wallets): boolean {
  return families.some((family) => isOfAccount(wallets[family]));
}

export function isOfAccount({ login, proven }: WalletsOfFamily): boolean {
  return login !== null || proven.length > 0;
}

/**
 * The account may give Bitcoin from now on. An account without any wallet signs in with the key
 * too: the first wallet is paid at once, and authorizes others (docs/people.md).
 */
export async function showOwnKey(wallets: Wallets): Promise<void> {
  try {
    if (hasWallets(wallets)) await linkWallet(market, await ownSigner());
    else await signInByOwnKey('add');
  } catch (error) {
    if (!isRefused(error, 'wallet_taken', 'login_taken')) throw error;
    throw new Error(text('own_key.taken'), { cause: error });
  }
  await walletsChanged();
}

export async function walletsChanged(): Promise<void> {
  const keys = [['me'], ['payouts']];
  await Promise.all([
    lookAgain(),
    ...keys.map((queryKey) => queries.invalidateQueries({ queryKey })),
  ]);
}

/** A key of this browser that signs in authorizes the wallet too, without a prompt. */
export async function proveWallet(wallet: MessageSigner, loginIds: readonly string[]) {
  const own = ownKeySignsIn() ? await ownSigner() : null;
  const isLogin = own !== null && loginIds.includes(`${own.family}:${own.address}`);
  await linkWallet(market, wallet, isLogin ? own : undefined);
  await walletsChanged();
}
