// Webhooks as their owners register and see them.

import { below, columns, count, did, many, none, one } from '@parley/host/postgres/statements.ts';
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

const read = columns('id url events enabled lastStatus lastError lastDeliveryAt');

type NewWebhook = {
  readonly id: string;
  readonly accountId: string;
  readonly url: string;
  readonly events: readonly string[];
  readonly secret: Uint8Array;
  readonly secretVersion: number;
  readonly at: Date;
};

/** Behind the account's lock (`lockTrader`), which holds off its other registrations. */
export const countWebhooks = count<[accountId: string]>('webhooks_count')`
  select count(*) from webhooks where account_id = $1`;

export const insertWebhook = none<[webhook: NewWebhook]>('webhooks_insert')`
  insert into webhooks (id, account_id, url, events, secret, secret_version, created_at)
    values (:id, :accountId, :url, :events, :secret, :secretVersion, :at)`;

/** The webhooks of one account, newest first, from below `before` on. */
export const listWebhooks = many<
  [of: { accountId: string; before: string | null; limit: number }],
  WebhookRow
>('webhooks_list')`
  select ${read} from webhooks
    where account_id = :accountId and ${below('id', ':before')}
      order by id desc limit :limit`;

/** With its deliveries; false when this account has none by this id. */
export const deleteWebhook = did<[accountId: string, id: string]>('webhooks_delete')`
  delete from webhooks where account_id = $1 and id = $2 returning id`;

type WebhookTarget = {
  readonly url: string;
  readonly secret: Buffer;
  readonly secretVersion: number;
};

/** Where and how to send to it. */
export const targetOf = one<[accountId: string, id: string], WebhookTarget>('webhooks_target')`
  select ${columns('url secret secretVersion')} from webhooks
    where account_id = $1 and id = $2`;

/** Secrets under another key of the server's than this one; waits for those that are in use. */
export const secretsNotOf = many<
  [of: NotUnder<string>],
  SealedRow<string> & { readonly version: number }
>('webhooks_secrets_not_of')`
  select id, secret as sealed, secret_version as version from webhooks
    where secret_version <> :version and id > :after order by id limit :limit for update`;

export const resealSecret = none<[of: SealedRow<string>, version: number]>('webhooks_reseal')`
  update webhooks set secret = :sealed, secret_version = $2 where id = :id`;
