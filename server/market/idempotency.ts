// The stored replies of commands: one slot an account, method, path (with its query) and key, for
// 24 hours. A reply that carries a secret is encrypted at rest.

import { createHash } from 'node:crypto';
import type { Tx } from '../db/database.ts';
import { findReplyRow, tryLock, upsertReply } from '../db/idempotency.ts';
import type { Deps } from '../deps.ts';
import { keyringOf } from '../keyring.ts';

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

export const keptMs = 24 * 3_600_000;
// Any path of ours with its query is shorter. A longer one would take room in table and index for
// nothing, in each of the rows that an account may leave in a day, 300 a minute.
const longestPath = 200;

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
  const { code, body } = JSON.parse(plain.toString()) as Pick<StoredReply, 'code' | 'body'>;
  return { status: row.status, body, code };
}

export async function storeReply(
  deps: Pick<Deps, 'settings' | 'now'>,
  tx: Tx,
  slot: Slot,
  reply: StoredReply,
  secret: boolean,
): Promise<void> {
  const plain = Buffer.from(JSON.stringify({ code: reply.code, body: reply.body }));
  const { version, sealed } = secret
    ? keyringOf(deps.settings).encrypt(plain)
    : { version: null, sealed: plain };
  const row = {
    bodyHash: slot.bodyHash,
    status: reply.status,
    reply: sealed,
    keyVersion: version,
  };
  await upsertReply(tx, rowKey(slot), row, new Date(deps.now()));
}

function rowKey(slot: Slot) {
  const { accountId, method, key } = slot;
  const path =
    slot.path.length <= longestPath
      ? slot.path
      : `sha256:${createHash('sha256').update(slot.path).digest('hex')}`;
  return { accountId, method, path, key };
}
