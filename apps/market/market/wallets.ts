// Proving wallets to an account. A proof lets the account give assets of that chain; only with its
// login wallet's authorization may the proven wallet also receive.

import { ParleyError } from '@parley/core/errors.ts';
import { type Family, families } from '@parley/core/families.ts';
import { lockAccount, lockTrader } from '../db/accounts.ts';
import type { Tx } from '../db/database.ts';
import { walletsToPay } from '../db/legs.ts';
import { payoutsOf } from '../db/payouts.ts';
import {
  countProofs,
  deleteProof,
  findLogin,
  upsertProof,
  waits,
  walletsOf,
} from '../db/wallets.ts';
import type { Deps } from '../ports/deps.ts';
import { type ClearText, checkMessage, clearText, mustName, nonceOf } from './messages.ts';
import { withNonce } from './nonces.ts';
import { canonicalAddress, checkSignature, spellingIn } from './proofs.ts';

/** Proofs of one account: far more than a desk needs, few enough to read whole. */
const mostProofs = 1_000;

export type Words = {
  readonly address: string;
  readonly message: string;
  readonly signature: string;
};

type CheckedProof = {
  readonly family: Family;
  readonly address: string;
  readonly pubkey: string | null;
  readonly authorised: boolean;
};

/**
 * The account that proves, and its request: the same one may present its nonces again after a
 * crash.
 */
type Prover = { readonly accountId: string; readonly attempt: Uint8Array | null };

/** Checks a proof and its authorization and uses their nonces up. Before the transaction. */
export async function checkProof(
  deps: Deps,
  prover: Prover,
  family: Family,
  given: Words & { readonly authorization?: Words },
  signal: AbortSignal,
): Promise<CheckedProof> {
  const { productName, sites, network } = deps.settings;
  const { message, signature, authorization } = given;
  const address = canonicalAddress(family, given.address, network);
  const text = clearText(message);
  // The nonce goes first: it has been presented, even if the proof is wrong otherwise.
  return withNonce(deps, nonceOf(text), { pool: 'link', ...prover }, async () => {
    const addresses = mustName(family, spellingIn(message, family, address));
    checkMessage(text, { productName, sites, purpose: 'link this wallet', addresses });
    const { pubkey } = await checkSignature(deps, { family, address, message, signature }, signal);
    if (authorization !== undefined) {
      const linked = { family, address };
      await checkAuthorization(deps, prover, authorization, linked, signal);
    }
    return { family, address, pubkey, authorised: authorization !== undefined };
  });
}

/** It must come from a login wallet of the account and name the wallet that it vouches for. */
async function checkAuthorization(
  deps: Deps,
  prover: Prover,
  given: Words,
  linked: { readonly family: Family; readonly address: string },
  signal: AbortSignal,
): Promise<void> {
  const { message, signature } = given;
  const check = async (text: ClearText) => {
    const { family, address } = await loginOf(deps, prover.accountId, given.address);
    const named = spellingIn(message, linked.family, linked.address);
    const addresses = [named, ...mustName(family, spellingIn(message, family, address))];
    const { productName, sites } = deps.settings;
    checkMessage(text, { productName, sites, purpose: 'authorise this wallet', addresses });
    await checkSignature(deps, { family, address, message, signature }, signal);
  };
  try {
    const text = clearText(message);
    await withNonce(deps, nonceOf(text), { pool: 'authorize', ...prover }, () => check(text));
  } catch (error) {
    throw asAuthorization(error);
  }
}

/** The login wallet of the account with this address. Throws `bad_authorization`. */
async function loginOf(
  deps: Deps,
  accountId: string,
  text: string,
): Promise<{ family: Family; address: string }> {
  // One that may not receive itself vouches for nobody.
  const logins = (await walletsOf(deps.db, accountId)).filter(
    (each) => each.standing === 'login' && !waits(each, deps.now()),
  );
  for (const family of families) {
    const address = tryCanonical(family, text, deps.settings.network);
    if (address === null) continue;
    if (logins.some((each) => each.family === family && each.address === address)) {
      return { family, address };
    }
  }
  const sentence = "the authorization is not by this account's login wallet";
  throw new ParleyError('bad_authorization', sentence);
}

/** The fault of the authorization, not of the proof; a nonce says it by its own code. */
function asAuthorization(error: unknown): unknown {
  if (!(error instanceof ParleyError) || error.kind !== 'invalid') return error;
  if (error.code === 'bad_authorization' || error.code === 'bad_nonce') return error;
  const sentence = `the authorization: ${error.message}`;
  return new ParleyError('bad_authorization', sentence, error.facts, { cause: error });
}

function tryCanonical(
  family: Family,
  text: string,
  network: Deps['settings']['network'],
): string | null {
  try {
    return canonicalAddress(family, text, network);
  } catch (error) {
    if (error instanceof ParleyError) return null;
    throw error;
  }
}

export type ProvenWallet = {
  readonly address: string;
  readonly family: Family;
  readonly proven: boolean;
  readonly authorised: boolean;
};

/** Adds a checked proof to the account. Throws `wallet_taken` or `too_many_wallets`. */
export async function addProof(
  tx: Tx,
  deps: Pick<Deps, 'now'>,
  accountId: string,
  proof: CheckedProof,
): Promise<ProvenWallet> {
  const { family, address } = proof;
  await lockTrader(tx, accountId);
  const owner = await findLogin(tx, family, address);
  // A login counts for more than any proof.
  if (owner === accountId) return { address, family, proven: true, authorised: true };
  if (owner !== null) throw taken(address);
  const held = await upsertProof(tx, { accountId, ...proof, at: new Date(deps.now()) });
  if (held === null) throw taken(address);
  await mustHaveRoomForProofs(tx, accountId);
  const receives = held.authorised || (held.web && !waits(held, deps.now()));
  return { address, family, proven: true, authorised: receives };
}

/** Asked after, so that one held already may be proven again; a proof too many is rolled back. */
export async function mustHaveRoomForProofs(tx: Tx, accountId: string): Promise<void> {
  if ((await countProofs(tx, accountId)) <= mostProofs) return;
  const sentence = `the account has proven ${mostProofs} wallets already; remove one first`;
  throw new ParleyError('too_many_wallets', sentence);
}

export function taken(address: string): ParleyError {
  return new ParleyError('wallet_taken', `${address} belongs to another account`);
}

/**
 * Removes a proof. Throws `unknown_wallet`, also for a login, and `wallet_paid` where that would
 * change who is paid, now or once a wait is over: any key may remove a proof, and only a wallet
 * session changes who is paid.
 */
export async function removeProof(
  tx: Tx,
  deps: Pick<Deps, 'settings' | 'now'>,
  accountId: string,
  text: string,
): Promise<ProvenWallet> {
  await lockAccount(tx, accountId);
  const at = new Date(deps.now());
  for (const family of families) {
    const address = tryCanonical(family, text, deps.settings.network);
    if (address === null) continue;
    const before = await paidWallets(tx, accountId, family, at);
    if (!(await deleteProof(tx, accountId, family, address))) continue;
    const after = await paidWallets(tx, accountId, family, at);
    if (before.includes(address) && !after.includes(address)) {
      const sentence =
        `${address} is paid, or is to be paid once its wait is over; choose another wallet on ` +
        'the account page first, or stop the wait there';
      throw new ParleyError('wallet_paid', sentence);
    }
    return { address, family, proven: false, authorised: false };
  }
  throw new ParleyError('unknown_wallet', 'this account has no proof for this address');
}

/** The wallet that the family pays, and those of the account that wait to be. */
async function paidWallets(
  tx: Tx,
  accountId: string,
  family: Family,
  now: Date,
): Promise<string[]> {
  const wallets = await walletsToPay(tx, [accountId], [family], now);
  const waiting = (await payoutsOf(tx, accountId, now)).filter(
    (each) => each.family === family && each.fromAt > now,
  );
  const toBe = wallets.filter(
    ({ address, paid }) => paid || waiting.some((each) => each.address === address),
  );
  return toBe.map(({ address }) => address);
}

export type WalletsOfFamily = { login: string | null; proven: string[] };

/**
 * The wallets in `GET /v1/me`: as `login` the wallet that the family pays, which is the one that
 * signs in unless another one was chosen in the browser; all others of the account as `proven`.
 */
export async function walletsByFamily(
  tx: Tx,
  accountId: string,
  now: Date,
): Promise<Record<Family, WalletsOfFamily>> {
  const rows = await walletsToPay(tx, [accountId], families, now);
  const shown = {} as Record<Family, WalletsOfFamily>;
  for (const family of families) {
    const own = rows.filter((row) => row.family === family);
    const login = own.find((row) => row.paid)?.address ?? null;
    const others = own.map((row) => row.address).filter((address) => address !== login);
    shown[family] = { login, proven: [...new Set(others)] };
  }
  return shown;
}
