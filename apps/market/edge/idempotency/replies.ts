// The stored replies of commands: one slot an account, method, path (with its query) and key, for
// 24 hours. A reply that carries a secret is encrypted at rest. The storage of a key is bounded:
// the slot is a hash, refusals are kept up to a number a day, what succeeded up to so many bytes,
// and a reply above 32 KiB is not.

import { createHash } from 'node:crypto';
import { deflateSync, inflateSync } from 'node:zlib';
import type { Tx } from '../../db/database.ts';
import { findReplyRow, keepReply, keptMs, type SlotKey, tryLock } from '../../db/idempotency.ts';
import {
  keptBytesOfRequest,
  mostKeptRefusals,
  mostReplyBytes,
  replyRowBytes,
} from '../../market/bounds.ts';
import type { Deps } from '../../ports/deps.ts';
import { keyringOf } from '../../ports/keyring.ts';
import type { Settings } from '../../settings/config.ts';

export type Slot = {
  readonly accountId: string;
  readonly method: string;
  /** With its query. */
  readonly path: string;
  readonly key: string;
  readonly bodyHash: Buffer;
};

export type StoredReply = {
  readonly status: number;
  readonly body: unknown;
  /** The code of a refusal. */
  readonly code: string | null;
};

/** A stored reply that no key held can decrypt. */
export type SealedReply = { readonly sealed: true; readonly status: number };

const minutesOfDay = 1_440;
/** Below it a few bytes are saved. */
const leastPacked = 512;
const zlibHead = 0x78;

/** False while another request holds the slot. Held to the end of the transaction. */
export function lockSlot(tx: Tx, slot: Slot): Promise<boolean> {
  return tryLock(tx, slotNumber('held', slot));
}

export function slotName({ accountId, method, path, key }: Slot): string {
  return JSON.stringify([accountId, method, path, key]);
}

/** The same for every try of one request under its key, whichever process it reaches. */
export function attemptOf(slot: Slot): Buffer {
  return createHash('sha256').update(slotName(slot)).update(slot.bodyHash).digest();
}

/** The slot as the number of an advisory lock. */
export function slotNumber(lock: 'held' | 'announced', slot: Slot): bigint {
  const digest = createHash('sha256')
    .update(`${lock} ${slotName(slot)}`)
    .digest();
  return digest.readBigInt64BE(0);
}

/** The reply in the slot; 'differs' when it was to another body. */
export async function findReply(
  deps: Pick<Deps, 'settings' | 'now'>,
  tx: Tx,
  slot: Slot,
): Promise<StoredReply | SealedReply | 'differs' | null> {
  const since = new Date(deps.now() - keptMs);
  const row = await findReplyRow(tx, rowKey(slot), since);
  if (row === null) return null;
  if (!row.bodyHash.equals(slot.bodyHash)) return 'differs';
  const plain =
    row.keyVersion === null
      ? row.reply
      : keyringOf(deps.settings).decrypt(row.keyVersion, row.reply);
  if (plain === null) return { sealed: true, status: row.status };
  const { code, body } = JSON.parse(unpacked(plain).toString()) as Pick<
    StoredReply,
    'code' | 'body'
  >;
  return { status: row.status, body, code };
}

/** Bytes of the replies of success that are kept for an account in a day (UTC). */
export function mostKeptBytes({ rateLimit }: Pick<Settings, 'rateLimit'>): number {
  return rateLimit * minutesOfDay * keptBytesOfRequest;
}

/**
 * Not what is too large: a build, which is made anew. Nor refusals beyond what a day holds. False
 * where what succeeded has no room left. `secret`: encrypted.
 */
export async function storeReply(
  deps: Pick<Deps, 'settings' | 'now'>,
  tx: Tx,
  slot: Slot,
  reply: StoredReply,
  secret?: true,
): Promise<boolean> {
  const plain = Buffer.from(JSON.stringify({ code: reply.code, body: reply.body }));
  if (plain.length > mostReplyBytes) return true;
  const at = new Date(deps.now());
  const { version, sealed } = secret
    ? keyringOf(deps.settings).encrypt(packed(plain))
    : { version: null, sealed: packed(plain) };
  const row = {
    bodyHash: slot.bodyHash,
    status: reply.status,
    reply: sealed,
    keyVersion: version,
  };
  const isRefusal = reply.status >= 400;
  const charge = {
    day: at.toISOString().slice(0, 10),
    refusals: isRefusal ? 1 : 0,
    bytes: isRefusal ? 0 : sealed.length + replyRowBytes,
    most: { refusals: mostKeptRefusals, bytes: mostKeptBytes(deps.settings) },
  };
  return (await keepReply(tx, rowKey(slot), row, at, charge)) || isRefusal;
}

/** JSON from some length on is packed: its first byte (x) tells it from what is not ({). */
function packed(plain: Buffer): Buffer {
  return plain.length < leastPacked ? plain : deflateSync(plain);
}

export function unpacked(stored: Buffer): Buffer {
  return stored[0] === zlibHead ? inflateSync(stored) : stored;
}

/** The hash of all but the account: 43 letters instead of up to 450. */
function rowKey(slot: Slot): SlotKey {
  const digest = createHash('sha256').update(slotName(slot)).digest('base64url');
  return { accountId: slot.accountId, key: digest };
}
