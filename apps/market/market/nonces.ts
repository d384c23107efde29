// Nonces in three pools, so that a signature collected for one purpose is good for no other, and
// link and authorize nonces bound to the account that asked for them, so that one collected for one
// account is good for no other. Used up by the first proof that shows one, whether or not its
// signature holds.

import { ParleyError } from '@parley/core/errors.ts';
import { insertNonce, type NoncePlace, type Pool, unuseNonce, useNonce } from '../db/nonces.ts';
import type { Deps } from '../ports/deps.ts';

const nonceLifeSeconds: Readonly<Record<Pool, number>> = {
  mint: 300,
  link: 600,
  authorize: 600,
};
// 128 random bits.
const nonceBytes = 16;

/** Minting needs no account: a signer becomes one. */
export const minting: NoncePlace = { pool: 'mint', accountId: null };

export async function issueNonce(
  deps: Pick<Deps, 'db' | 'now' | 'randomBytes'>,
  place: NoncePlace,
): Promise<string> {
  const nonce = Buffer.from(deps.randomBytes(nonceBytes)).toString('hex');
  const expiresAt = new Date(deps.now() + nonceLifeSeconds[place.pool] * 1_000);
  await insertNonce(deps.db, { ...place, nonce, expiresAt });
  return nonce;
}

/**
 * Uses the nonce up, then checks the signature over it. Commits by itself, so that the refusal of a
 * bad signature does not give the nonce back. A node that did not answer does: the failure revealed
 * nothing. A request that was cut off may come again: the same `attempt`, which is its
 * Idempotency-Key's until a reply is stored, finds its nonce.
 */
export async function withNonce<R>(
  deps: Pick<Deps, 'db' | 'now'>,
  nonce: string,
  place: NoncePlace & { readonly attempt?: Uint8Array | null },
  check: () => Promise<R>,
): Promise<R> {
  if (!(await useNonce(deps.db, nonce, place, new Date(deps.now()), place.attempt))) {
    const life = nonceLifeSeconds[place.pool];
    throw new ParleyError(
      'bad_nonce',
      place.accountId === null
        ? `the nonce was never issued for this, was used or is older than ${life} s`
        : `the nonce was never issued to this account for this, was used or is older than ${life} s`,
    );
  }
  try {
    return await check();
  } catch (error) {
    if (!(error instanceof ParleyError) || !['timeout', 'unavailable'].includes(error.kind)) {
      throw error;
    }
    await unuseNonce(deps.db, nonce);
    throw error;
  }
}
