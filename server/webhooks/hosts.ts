// How much one host is sent over all accounts, so that nobody makes the market flood somebody who
// has not asked for it. A host is a name, and the address that it has: many names may have one.
//
// Deliveries are counted as they begin; their further attempts come at their times. One that never
// answered 2xx gets few. Of one that did, each account has as few in any case: others who name it
// cannot delay them.

import { type HostSpent, hostsAnswered, spendHost } from '../db/webhook-hosts.ts';
import type { Deps } from '../deps.ts';
import { listOf } from '../networks.ts';

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

/** One attempt's. */
export type Visit = {
  /**
   * Told of the host in the URL, then of the address that is sent to. Of a delivery that begins:
   * throws HostBusy.
   */
  admit(host: string): Promise<void>;
  /** A 2xx came from the hosts that were named to `admit`. */
  answered(): Promise<void>;
};

export type Hosts = {
  visit(of: { readonly accountId: string; readonly begins: boolean }): Visit;
};

export function createHosts({ db, now, settings }: Pick<Deps, 'db' | 'now' | 'settings'>): Hosts {
  // The operator's own need no protection.
  const own = listOf(settings.webhookNetworks);
  const isOwn = (host: string) =>
    own.check(host, 'ipv4') || own.check(host.replace(/^\[|\]$/g, ''), 'ipv6');
  /** Names whose address was one of these when last looked up: it decides anew each time. */
  const ownNames = new Set<string>();
  let minute = 0;
  const begun = new Map<string, number>();
  /** The how manieth of this account in this minute. */
  const countOwn = (name: string): number => {
    const current = Math.floor(now() / minuteMs);
    if (current !== minute || begun.size >= mostOwn) begun.clear();
    minute = current;
    const count = (begun.get(name) ?? 0) + 1;
    begun.set(name, count);
    return count;
  };

  // One after the other: those that begin together are sent in the order of their events.
  let turn: Promise<unknown> = Promise.resolve();
  const inTurn = (host: string): Promise<HostSpent> => {
    const spend = () => spendHost(db, { host, now: new Date(now()), limits: hostLimits });
    const own = turn.then(spend, spend);
    turn = own;
    return own;
  };

  return {
    visit: ({ accountId, begins }) => {
      const hosts: string[] = [];
      const count = async (host: string) => {
        if (hosts.includes(host)) return;
        hosts.push(host);
        if (!begins) return;
        const spent = await inTurn(host);
        const own = countOwn(`${accountId} ${host}`);
        if (spent.allowed || (spent.answered && own <= hostLimits.unknown)) return;
        throw new HostBusy(host, spent.until);
      };
      let name: string | null = null;
      return {
        admit: async (host) => {
          const isFirst = name === null;
          name ??= host;
          if (isOwn(host)) {
            if (ownNames.size >= mostOwn) ownNames.clear();
            ownNames.add(name);
            return;
          }
          if (isFirst && ownNames.has(host)) return;
          ownNames.delete(name);
          await count(name);
          await count(host);
        },
        answered: async () => {
          if (hosts.length > 0) await hostsAnswered(db, hosts, new Date(now()));
        },
      };
    },
  };
}
