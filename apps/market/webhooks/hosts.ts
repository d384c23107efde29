// How much one host is sent over all accounts, so that nobody makes the market flood somebody who
// has not asked for it. A host is a name, and the address that it has: many names may have one.
//
// Deliveries are counted as they begin; their further attempts come at their times. A host that
// never answered 2xx gets few: the first that it answers makes it known. Each account has as few to
// one that did, in any case, so that others who name a host cannot keep it from an account.

import { queue } from '@parley/core/queue.ts';
import { hostsAnswered, spendHost } from '../db/webhook-hosts.ts';
import type { Deps } from '../ports/deps.ts';
import { listOf } from '../settings/networks.ts';

/** A minute. */
export const hostLimits = { unknown: 20, known: 1_200 } as const;
const minuteMs = 60_000;
/** Accounts and hosts of a minute. */
const mostOwn = 100_000;

/** It is not to be sent anything before `until`. */
export class HostBusy extends Error {
  readonly until: Date;

  constructor(host: string, until: Date) {
    super(`${host} gets no more deliveries for now`);
    this.name = 'HostBusy';
    this.until = until;
  }
}

export type Visit = {
  /** Counts the host in the URL, and the address that is sent to. Throws HostBusy. */
  admit(host: string, address: string): Promise<void>;
  /** A 2xx came from the hosts that were named to `admit`. */
  answered(): Promise<void>;
};

export type Hosts = {
  visit(of: { readonly accountId: string; readonly begins: boolean }): Visit;
};

export function createHosts({ db, now, settings }: Pick<Deps, 'db' | 'now' | 'settings'>): Hosts {
  // The operator's own need no protection.
  const isOwn = listOf(settings.webhookNetworks);
  const begun = counting(now);

  // One after the other: those that begin together are sent in the order of their events.
  const inTurn = queue();
  const spend = (host: string) =>
    inTurn(() => spendHost(db, { host, now: new Date(now()), limits: hostLimits }));

  return {
    visit: ({ accountId, begins }) => {
      const hosts = new Set<string>();
      return {
        admit: async (host, address) => {
          if (isOwn(address)) return;
          for (const each of [host.replace(/^\[|\]$/g, ''), address]) {
            if (hosts.has(each)) continue;
            hosts.add(each);
            if (!begins) continue;
            const { allowed, answered, until } = await spend(each);
            const own = begun(`${accountId} ${each}`);
            if (!allowed && !(answered && own <= hostLimits.unknown))
              throw new HostBusy(each, until);
          }
        },
        answered: async () => {
          if (hosts.size > 0) await hostsAnswered(db, [...hosts], new Date(now()));
        },
      };
    },
  };
}

/** The how manieth of a name in this minute. */
function counting(now: () => number): (name: string) => number {
  let window = 0;
  const counts = new Map<string, number>();
  return (name) => {
    const current = Math.floor(now() / minuteMs);
    if (current !== window || counts.size >= mostOwn) counts.clear();
    window = current;
    const count = (counts.get(name) ?? 0) + 1;
    counts.set(name, count);
    return count;
  };
}
