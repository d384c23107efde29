// API keys by wallet signature. The key is shown once; the server keeps its SHA-256 and a prefix.

import { createHash } from 'node:crypto';
import { ParleyError } from '@parley/core/errors.ts';
import type { Family, Network } from '@parley/core/families.ts';
import type { Scope } from '@parley/core/scopes.ts';
import { insertAccount, lockAccount, lockIfLive, lockTrader, waitForLock } from '../db/accounts.ts';
import type { Tx } from '../db/database.ts';
import { countLiveKeys, insertKey, revokeKeys } from '../db/keys.ts';
import { insertOutbox } from '../db/outbox.ts';
import { findLogin, insertLogin } from '../db/wallets.ts';
import type { Deps } from '../ports/deps.ts';
import { type RandomBytes, uuidv7 } from '../ports/ids.ts';
import { checkMessage, clearText, keyTermsOf, mustName, nonceOf } from './messages.ts';
import { minting, withNonce } from './nonces.ts';
import { canonicalAddress, checkSignature, spellingIn } from './proofs.ts';

/** And the longest that may be asked for. */
export const keyLifeDays = 90;
export const mostBrowserKeys = 10;
const secretBytes = 32;
const prefixCharacters = 6;

type MintRequest = {
  readonly rail: Family;
  readonly address: string;
  readonly message: string;
  readonly signature: string;
};

export type MintedKey = {
  readonly id: string;
  readonly key: string;
  readonly prefix: string;
  readonly scopes: readonly Scope[];
  readonly name: string | null;
  readonly expiresAt: Date;
  readonly replaced: boolean;
  /** The note for the owner about the account's keys. */
  readonly note: string | null;
  readonly accountId: string;
};

/** Checks the proof, then makes the key in one transaction. `signal` bounds a contract's check. */
export async function mintKey(
  deps: Deps,
  request: MintRequest,
  signal: AbortSignal,
): Promise<MintedKey> {
  const { rail, message, signature } = request;
  const { network, productName, sites } = deps.settings;
  const address = canonicalAddress(rail, request.address, network);
  const text = clearText(message);
  // The nonce goes first: it has been presented, even if the text is wrong otherwise.
  const { pubkey, terms } = await withNonce(deps, nonceOf(text), minting, async () => {
    const addresses = mustName(rail, spellingIn(message, rail, address));
    checkMessage(text, { productName, sites, purpose: 'create an API key', addresses });
    const terms = keyTermsOf(text);
    const signed = { family: rail, address, message, signature };
    return { terms, ...(await checkSignature(deps, signed, signal)) };
  });
  return deps.db.transaction(async (tx) => {
    const accountId = await signIn(tx, deps, { family: rail, address, pubkey });
    return createKey(tx, deps, { accountId, madeBy: `${rail}:${address}`, ...terms });
  });
}

/** The number of the lock on who signs in with this wallet. */
export function loginLock(family: Family, address: string): bigint {
  const digest = createHash('sha256').update(`login ${family} ${address}`).digest();
  return digest.readBigInt64BE(0);
}

/** The account that the wallet signs in to, made on first use. */
async function signIn(
  tx: Tx,
  deps: Deps,
  wallet: { family: Family; address: string; pubkey: string | null },
): Promise<string> {
  const { family, address } = wallet;
  // Two first mints of one wallet at once make one account.
  await waitForLock(tx, loginLock(family, address));
  const known = await findLogin(tx, family, address);
  if (known !== null) {
    await lockIfLive(tx, known);
    // It may have been removed while the account was waited for.
    if ((await findLogin(tx, family, address)) !== null) return known;
  }
  const accountId = uuidv7(deps.now(), deps.randomBytes);
  const at = new Date(deps.now());
  await insertAccount(tx, { id: accountId, kind: 'wallet', createdAt: at });
  await insertLogin(tx, { accountId, ...wallet, at });
  deps.metrics.accountsMade.inc({ by: 'wallet' });
  return accountId;
}

/**
 * A new key of the account. A wallet-only account holds one: its others are revoked. One signed up in
 * the browser holds ten: throws `too_many_keys`.
 */
export async function createKey(
  tx: Tx,
  deps: Pick<Deps, 'settings' | 'now' | 'randomBytes'>,
  wanted: {
    accountId: string;
    name: string | null;
    scopes: readonly Scope[];
    /** The id of a session, or `family:address` of a wallet. */
    madeBy: string;
    lifeDays?: number | undefined;
  },
): Promise<MintedKey> {
  const { accountId, name, scopes, madeBy, lifeDays = keyLifeDays } = wanted;
  const kind = await lockAccount(tx, accountId);
  // A wallet-only account reaches its open swaps by a key, also while it is blocked.
  if (kind === 'browser') await lockTrader(tx, accountId);
  const createdAt = new Date(deps.now());
  const id = uuidv7(deps.now(), deps.randomBytes);
  let replaced = false;
  if (kind === 'wallet') {
    replaced = (await revokeKeys(tx, accountId, createdAt)) > 0;
  } else if ((await countLiveKeys(tx, accountId, createdAt)) >= mostBrowserKeys) {
    throw new ParleyError(
      'too_many_keys',
      `the account holds ${mostBrowserKeys} live keys already; revoke one in the browser first`,
    );
  }
  const { key, prefix } = newSecret(deps.settings, deps.randomBytes);
  const expiresAt = new Date(deps.now() + lifeDays * 86_400_000);
  const hash = createHash('sha256').update(key).digest();
  await insertKey(tx, { id, accountId, hash, prefix, name, scopes, createdAt, expiresAt, madeBy });
  // For the account's owner, never for its webhooks. The key itself is in no event.
  const payload = { keyId: id, prefix, name, scopes, expiresAt };
  await insertOutbox(tx, [{ topic: 'key.created', accountId, payload, at: createdAt }]);
  const note = kind === 'browser' ? noteFor(deps.settings) : null;
  return { id, key, prefix, scopes, name, expiresAt, replaced, note, accountId };
}

/** An account with ten keys is not rid of a leaked one by minting another. */
function noteFor({ people: { publicUrl } }: Deps['settings']): string {
  const place = publicUrl === null ? 'in the browser' : `in the browser, at ${publicUrl}`;
  return (
    `this account holds up to ${mostBrowserKeys} keys and the others stay good: ` +
    `a leaked key is revoked ${place}`
  );
}

function newSecret(
  settings: { shortName: string; network: Network },
  randomBytes: RandomBytes,
): { key: string; prefix: string } {
  const world = settings.network === 'mainnet' ? 'live' : 'test';
  const secret = base62(randomBytes(secretBytes));
  const start = `${settings.shortName}_${world}_`;
  return { key: start + secret, prefix: start + secret.slice(0, prefixCharacters) };
}

/** API keys in a text are shortened to their prefixes. */
export function withoutKeys(text: string): string {
  return text.replaceAll(keys, (each) => each.slice(0, prefixCharacters - secretCharacters));
}
/** 32 bytes in base62. */
const secretCharacters = 43;
const keys = new RegExp(`[a-z0-9]+_(?:live|test)_[0-9A-Za-z]{${secretCharacters}}`, 'g');

const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** 32 bytes as 43 characters: 62^43 is just above 2^256. */
export function base62(bytes: Uint8Array): string {
  let rest = BigInt(`0x${Buffer.from(bytes).toString('hex')}`);
  let text = '';
  for (; rest > 0n; rest /= 62n) text = digits[Number(rest % 62n)] + text;
  return text.padStart(secretCharacters, '0');
}
