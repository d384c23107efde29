// Webhooks as their owners register and see them.

import type { Tx } from './database.ts';
import type { NotUnder, SealedRow } from './sealed-rows.ts';

export type WebhookRow = {
  readonly id: string;
  readonly url: string;
  readonly events: readonly string[];
  readonly enabled: boolean;
  /** HTTP status of the last attempt; 0 = no answer; null = none yet. */
  readonly lastStatus: number | null;
  readonly lastError: string | null;
  readonly lastDeliveryAt: Date | null;
};

const columns = `id, url, events, enabled, last_status as "lastStatus",
  last_error as "lastError", last_delivery_at as "lastDeliveryAt"`;

export type NewWebhook = {
  readonly id: string;
  readonly accountId: string;
  readonly url: string;
  readonly events: readonly string[];
  readonly secret: Uint8Array;
  readonly secretVersion: number;
  readonly at: Date;
};

/** Holds off others of the account until the end of the transaction, and counts what there is. */
export async function countWebhooks(tx: Tx, accountId: string): Promise<number> {
  await tx.rows({
    name: 'webhooks_lock',
    text: 'select id from accounts where id = $1 for update',
    values: [accountId],
  });
  const rows = await tx.rows<{ count: number }>({
    name: 'webhooks_count',
    text: 'select count(*)::int as count from webhooks where account_id = $1',
    values: [accountId],
  });
  return rows[0]?.count ?? 0;
}

export async function insertWebhook(tx: Tx, webhook: NewWebhook): Promise<void> {
  const { id, accountId, url, events, secret, secretVersion, at } = webhook;
  await tx.rows({
    name: 'webhooks_insert',
    text: `insert into webhooks (id, account_id, url, events, secret, secret_version, created_at)
      values ($1, $2, $3, $4, $5, $6, $7)`,
    values: [id, accountId, url, events, secret, secretVersion, at],
  });
}

/** Of one account, newest first, from below `before` on. */
export function listWebhooks(
  tx: Tx,
  of: { accountId: string; before: string | null; limit: number },
): Promise<WebhookRow[]> {
  return tx.rows<WebhookRow>({
    name: 'webhooks_list',
    text: `select ${columns} from webhooks
      where account_id = $1 and ($2::uuid is null or id < $2) order by id desc limit $3`,
    values: [of.accountId, of.before, of.limit],
  });
}

/** With its deliveries; false when this account has none by this id. */
export async function deleteWebhook(tx: Tx, accountId: string, id: string): Promise<boolean> {
  const rows = await tx.rows({
    name: 'webhooks_delete',
    text: 'delete from webhooks where account_id = $1 and id = $2 returning id',
    values: [accountId, id],
  });
  return rows.length === 1;
}

export type WebhookTarget = {
  readonly url: string;
  readonly secret: Buffer;
  readonly secretVersion: number;
};

/** Where and how to send to it. */
export async function targetOf(
  tx: Tx,
  accountId: string,
  id: string,
): Promise<WebhookTarget | null> {
  const rows = await tx.rows<WebhookTarget>({
    name: 'webhooks_target',
    text: `select url, secret, secret_version as "secretVersion" from webhooks
      where account_id = $1 and id = $2`,
    values: [accountId, id],
  });
  return rows[0] ?? null;
}

/** Secrets under another key of the server's than this one; waits for those that are in use. */
export function secretsNotOf(tx: Tx, { version, after, limit }: NotUnder<string>) {
  return tx.rows<SealedRow<string> & { readonly version: number }>({
    name: 'webhooks_secrets_not_of',
    text: `select id, secret as sealed, secret_version as version from webhooks
      where secret_version <> $1 and id > $2 order by id limit $3 for update`,
    values: [version, after, limit],
  });
}

export async function resealSecret(
  tx: Tx,
  { id, sealed }: SealedRow<string>,
  version: number,
): Promise<void> {
  await tx.rows({
    name: 'webhooks_reseal',
    text: 'update webhooks set secret = $2, secret_version = $3 where id = $1',
    values: [id, sealed, version],
  });
}
