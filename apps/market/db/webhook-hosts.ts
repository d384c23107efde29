// Hosts that webhooks are sent to, and how much each was sent lately, over all accounts.

import { changed, none, only } from '@parley/host/postgres/statements.ts';
import type { Tx } from './database.ts';

const windowMs = 60_000;

type HostSpending = {
  readonly host: string;
  readonly now: Date;
  /** Deliveries a minute: to one that never answered 2xx, and to one that did. */
  readonly limits: { readonly unknown: number; readonly known: number };
};

type HostSpent = {
  readonly allowed: boolean;
  readonly answered: boolean;
  /** When the window ends. */
  readonly until: Date;
};

type Spent = { allowed: boolean; answered: boolean; windowAt: Date | null };

// A window that begins later than now is of a clock that was set back.
const spend = only<[spending: HostSpending, since: Date], Spent>('webhook_hosts_spend')`
  with spent as (
      insert into webhook_hosts as h (host, window_at, sent) values (:host, :now, 1)
      on conflict (host) do update set
        sent = case when h.window_at > $2 and h.window_at <= :now then h.sent + 1 else 1 end,
        window_at = case when h.window_at > $2 and h.window_at <= :now then h.window_at
          else :now end
      where h.window_at <= $2 or h.window_at > :now
        or h.sent < case when h.answered then :limits.known::int else :limits.unknown::int end
      returning 1
    )
    select exists (select 1 from spent) as allowed,
      coalesce((select answered from webhook_hosts where host = :host), false) as answered,
      (select window_at from webhook_hosts where host = :host) as "windowAt"`;

/** One delivery more to this host. */
export async function spendHost(tx: Tx, spending: HostSpending): Promise<HostSpent> {
  const since = new Date(spending.now.getTime() - windowMs);
  const { allowed, answered, windowAt } = await spend(tx, spending, since);
  return { allowed, answered, until: new Date((windowAt ?? spending.now).getTime() + windowMs) };
}

/** They answered 2xx. */
export const hostsAnswered = none<[hosts: readonly string[], at: Date]>('webhook_hosts_answered')`
  insert into webhook_hosts as h (host, answered, window_at, sent)
    select host, true, $2, 0 from (select distinct unnest($1::text[]) as host order by 1) hosts
    on conflict (host) do update set answered = true where not h.answered`;

/** Deletes at most `limit` that were sent nothing since; returns how many. */
export const pruneHosts = changed<[before: Date, limit: number]>('webhook_hosts_prune')`
  delete from webhook_hosts where host in
      (select host from webhook_hosts where window_at < $1 order by window_at limit $2)
    returning host`;
