// How much one host is sent over all accounts, so that nobody makes the market flood somebody who
// has not asked for it. A host is a name, and the address that it has: many names may have one.
//
// Deliveries are counted as they begin; their further attempts come at their times. One that never
// answered 2xx gets few, and of each account one an hour in any case: the first that it answers
// makes it known. Each account has as few to one that did, in any case. So others who name a host
// cannot keep it from an account.
//
// A name is counted once it has an address: one that nobody has takes no row. It is looked up no
// more often than a host that never answered is sent to.

import { isIP } from 'node:net';
import { type HostSpent, hostsAnswered, spendHost } from '../db/webhook-hosts.ts';
import type { Deps } from '../ports/deps.ts';
import { listOf } from '../settings/networks.ts';

/** A minute. */
export const hostLimits = { unknown: 20, known: 1_200 } as const;
/**
 * The first deliveries of accounts in an hour, to one that never answered: so many a minute beyond
 * the few.
 */
export const mostFirst = 5;
const minuteMs = 60_000;
const hourMs = 3_600_000;
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
  /** Counts the host in the URL, then the address that is sent to. Throws HostBusy. */
  admit(host: string): Promise<void>;
  /** A 2xx came from the hosts that were named to `admit`. */
  answered(): Promise<void>;
  failed(): void;
};

export type Hosts = {
  visit(of: { readonly accountId: string; readonly begins: boolean }): Visit;
};

export function createHosts({ db, now, settings }: Pick<Deps, 'db' | 'now' | 'settings'>): Hosts {
  // The operator's own need no protection.
  const own = listOf(settings.webhookNetworks);
  const isOwn = (host: string) => own(host.replace(/^\[|\]$/g, ''));
  /** Names whose address was one of these when last looked up: it decides anew each time. */
  const ownNames = new Set<string>();
  const begun = counting(now, minuteMs);
  const refused = counting(now, hourMs);
  const firsts = counting(now, minuteMs);
  /** Look-ups of names that had no address to send to. */
  const unfound = counting(now, minuteMs);

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
        const name = `${accountId} ${host}`;
        const own = begun(name);
        if (spent.allowed) return;
        const passes = spent.answered
          ? own <= hostLimits.unknown
          : refused(name) === 1 && firsts(host) <= mostFirst;
        if (passes) return;
        throw new HostBusy(host, spent.until);
      };
      let name: string | null = null;
      let isFound = false;
      return {
        admit: async (host) => {
          const isFirst = name === null;
          name ??= host;
          isFound = !isFirst || isAddress(host);
          if (isOwn(host)) {
            if (ownNames.size >= mostOwn) ownNames.clear();
            ownNames.add(name);
            return;
          }
          if (isFirst && ownNames.has(host)) return;
          if (!isFound) {
            const until = new Date((Math.floor(now() / minuteMs) + 1) * minuteMs);
            if (begins && unfound(host, 0) >= hostLimits.unknown) throw new HostBusy(host, until);
            return;
          }
          ownNames.delete(name);
          await count(name);
          await count(host);
        },
        failed: () => {
          if (name !== null && !isFound) unfound(name);
        },
        answered: async () => {
          if (hosts.length > 0) await hostsAnswered(db, hosts, new Date(now()));
        },
      };
    },
  };
}

const isAddress = (host: string) => isIP(host.replace(/^\[|\]$/g, '')) !== 0;

/** The how manieth of a name in this window. */
function counting(now: () => number, windowMs: number): (name: string, by?: number) => number {
  let window = 0;
  const counts = new Map<string, number>();
  return (name, by = 1) => {
    const current = Math.floor(now() / windowMs);
    if (current !== window || counts.size >= mostOwn) counts.clear();
    window = current;
    const count = (counts.get(name) ?? 0) + by;
    counts.set(name, count);
    return count;
  };
}
