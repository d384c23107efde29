// Sealed values: signed transactions, and secrets that are not public yet.

import type { GasTransaction } from '@parley/chains/gas/account.ts';
import type { ReadTransaction } from '@parley/chains/interface/sending.ts';
import { parseSecret, type Secret } from '@parley/core/hashlock.ts';
import type { Attempt } from './db/attempts.ts';
import type { Job } from './db/jobs.ts';
import type { Parts } from './port.ts';

type Sealing = Pick<Parts, 'seal'>;
type Sealed = ReturnType<Parts['seal']['encrypt']>;

/** `height`: the best block's when it was signed, where that matters. */
export type Kept = ReadTransaction & Pick<GasTransaction, 'height'>;

export function sealTransaction({ seal }: Sealing, signed: Kept): Sealed {
  // A field that is undefined is left out.
  const { txid, raw, touches, payer, height } = signed;
  const text = JSON.stringify({ txid, raw, touches, payer, height });
  return seal.encrypt(Buffer.from(text));
}

/** Null when no key of the server opens it any more. */
export function openTransaction(
  { seal }: Sealing,
  { sealed, sealedVersion }: Pick<Attempt, 'sealed' | 'sealedVersion'>,
): Kept | null {
  if (sealed === null || sealedVersion === null) return null;
  const plain = seal.decrypt(sealedVersion, sealed);
  return plain === null ? null : (JSON.parse(plain.toString()) as Kept);
}

export function sealSecret({ seal }: Sealing, secret: Secret): Sealed {
  return seal.encrypt(Buffer.from(secret));
}

export function openSecret(
  { seal }: Sealing,
  { secret, secretVersion }: Pick<Job, 'secret' | 'secretVersion'>,
): Secret | null {
  if (secret === null || secretVersion === null) return null;
  const plain = seal.decrypt(secretVersion, secret);
  return plain === null ? null : parseSecret(plain.toString());
}
