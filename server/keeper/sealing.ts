// What the keeper keeps sealed: signed transactions, and secrets that are not public yet.

import type { GasTransaction } from '../../chains/gas/account.ts';
import type { ReadTransaction } from '../../chains/interface/sending.ts';
import { parseSecret, type Secret } from '../../core/hashlock.ts';
import type { Attempt } from '../db/keeper-attempts.ts';
import { type Job, resealRow, sealedNotOf } from '../db/keeper-jobs.ts';
import type { Deps } from '../ports/deps.ts';
import { keyringOf } from '../ports/keyring.ts';
import { sealAnew } from '../ports/sealed-anew.ts';
import { resealBatch } from './bounds.ts';

type Settings = Pick<Deps, 'settings'>;
export type Sealed = { readonly version: number; readonly sealed: Buffer };

/** `height`: of the best block when it was signed, where that matters. */
export type Kept = ReadTransaction & Pick<GasTransaction, 'height'>;

export function sealTransaction({ settings }: Settings, signed: Kept): Sealed {
  // What is undefined is left out.
  const { txid, raw, touches, payer, height } = signed;
  const text = JSON.stringify({ txid, raw, touches, payer, height });
  return keyringOf(settings).encrypt(Buffer.from(text));
}

/** Null when no key of the server opens it any more. */
export function openTransaction(
  { settings }: Settings,
  { sealed, sealedVersion }: Pick<Attempt, 'sealed' | 'sealedVersion'>,
): Kept | null {
  if (sealed === null || sealedVersion === null) return null;
  const plain = keyringOf(settings).decrypt(sealedVersion, sealed);
  return plain === null ? null : (JSON.parse(plain.toString()) as Kept);
}

export function sealSecret({ settings }: Settings, secret: Secret): Sealed {
  return keyringOf(settings).encrypt(Buffer.from(secret));
}

export function openSecret(
  { settings }: Settings,
  { secret, secretVersion }: Pick<Job, 'secret' | 'secretVersion'>,
): Secret | null {
  if (secret === null || secretVersion === null) return null;
  const plain = keyringOf(settings).decrypt(secretVersion, secret);
  return plain === null ? null : parseSecret(plain.toString());
}

/** Seals all of it with the first of the server's keys, so that a former one may be put away. */
export async function resealKept(deps: Pick<Deps, 'settings' | 'db' | 'log'>): Promise<void> {
  for (const kind of ['attempts', 'jobs'] as const) {
    const unread = await sealAnew<number>(deps, {
      read: (tx, of) => sealedNotOf(tx, kind, of),
      store: (tx, row, version) => resealRow(tx, kind, row, version),
      before: 0,
      atOnce: resealBatch,
    });
    if (unread > 0) deps.log.warn({ [kind]: unread }, 'what the keeper keeps cannot be read');
  }
}
