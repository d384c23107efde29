// Hosts that webhooks are sent to, and how much each was sent lately, over all accounts.

import type { Tx } from './database.ts';

const windowMs = 60_000;

export type HostSpending = {
  readonly host: string;
  readonly now: Date;
  /** Deliveries a minute: to one that never answered 2xx, and to one that did. */
  readonly limits: { readonly unknown: number; readonly known: number };
};

export type HostSpent = {
  readonly allowed: boolean;
  readonly answered: boolean;
  /** When the window ends. */
  readonly until: Date;
};

/** One delivery more to this host. */
export async function spendHost(tx: Tx, spending: HostSpending): Promise<HostSpent> {
  const { host, now, limits } = spending;
  const [found] = await tx.rows<{ allowed: boolean; answered: boolean; windowAt: Date | null }>({
    name: 'webhook_hosts_spend',
    // A window that begins later than now is of a clock that was set back.
    text: `with spent as (
        insert into webhook_hosts as h (host, window_at, sent) values ($1, $2, 1)
        on conflict (host) do update set
          sent = case when h.window_at > $3 and h.window_at <= $2 then h.sent + 1 else 1 end,
          window_at = case when h.window_at > $3 and h.window_at <= $2 then h.window_at else $2 end
        where h.window_at <= $3 or h.window_at > $2
          or h.sent < case when h.answered then $5::int else $4::int end
        returning 1
      )
      select exists (select 1 from spent) as allowed,
        coalesce((select answered from webhook_hosts where host = $1), false) as answered,
        (select window_at from webhook_hosts where host = $1) as "windowAt"`,
    values: [host, now, new Date(now.getTime() - windowMs), limits.unknown, limits.known],
  });
  const { allowed = false, answered = false, windowAt = null } = found ?? {};
  return { allowed, answered, until: new Date((windowAt ?? now).getTime() + windowMs) };
}

/** They answered 2xx. */
export async function hostsAnswered(tx: Tx, hosts: readonly string[], at: Date): Promise<void> {
  await tx.rows({
    name: 'webhook_hosts_answered',
    text: `insert into webhook_hosts as h (host, answered, window_at, sent)
      select host, true, $2, 0 from unnest($1::text[]) host
      on conflict (host) do update set answered = true where not h.answered`,
    values: [[...new Set(hosts)].toSorted(), at],
  });
}

/** Deletes at most `limit` that were sent nothing since; returns how many. */
export async function pruneHosts(tx: Tx, before: Date, limit: number): Promise<number> {
  const rows = await tx.rows({
    name: 'webhook_hosts_prune',
    text: `delete from webhook_hosts where host in
        (select host from webhook_hosts where window_at < $1 order by window_at limit $2)
      returning host`,
    values: [before, limit],
  });
  return rows.length;
}
