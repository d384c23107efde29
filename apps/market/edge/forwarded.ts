// A request's client, by X-Forwarded-For of proxies that a setting trusts. A peer that none
// trusts and that forwards for others is told once an hour: behind a proxy that is not named all
// clients count as one, and share its limits.

import { isIP } from 'node:net';
import type { FastifyRequest } from 'fastify';
import type { Deps } from '../ports/deps.ts';
import { listOf } from '../settings/networks.ts';

/** Between two lines of the log: any client may send the header. */
const quietMs = 3_600_000;

type Needs = Pick<Deps, 'now' | 'log'> & {
  readonly settings: Pick<Deps['settings'], 'trustedProxies'>;
};

/** A connection that is gone, and where a proxy names no address: all of those together. */
const unknownClient = 'unknown';

/** A proxy may hand on what a client wrote, at any length. */
const longestEntry = 100;

/**
 * The address in an entry, without what some proxies put around it: a port, which a client changes
 * at will, brackets and a zone. Null: there is none.
 */
export function addressIn(entry: string): string | null {
  if (isIP(entry) !== 0 && !entry.includes('%')) return entry;
  if (entry.length > longestEntry) return null;
  const bare = entry.trim();
  const [, bracketed] = /^\[([^\]]+)\](?::\d+)?$/.exec(bare) ?? [];
  const [, plain] = /^([\d.]+):\d+$/.exec(bare) ?? [];
  const [address = ''] = (bracketed ?? plain ?? bare).split('%');
  return isIP(address) === 0 ? null : address;
}

/** Whether an entry, or the peer itself, is a proxy of these networks. */
export function trustIn(networks: readonly string[]): false | ((entry: string) => boolean) {
  if (networks.length === 0) return false;
  const proxies = listOf(networks);
  return (entry) => {
    const address = addressIn(entry);
    return address !== null && proxies(address);
  };
}

/** The client's address; `unknown` of a connection that is gone, and where there is none. */
export function clientOf(request: { readonly ip?: string }): string {
  try {
    return addressIn(request.ip ?? unknownClient) ?? unknownClient;
  } catch {
    // proxy-addr, of no address.
    return unknownClient;
  }
}

export function createForwardedWarning({ settings, now, log }: Needs) {
  const proxies = listOf(settings.trustedProxies);
  let quietUntil = 0;
  return ({ headers, socket }: Pick<FastifyRequest, 'headers' | 'socket'>): void => {
    if (headers['x-forwarded-for'] === undefined || now() < quietUntil) return;
    const { remoteAddress: peer } = socket;
    if (peer === undefined || proxies(peer)) return;
    quietUntil = now() + quietMs;
    log.warn(
      { peer, setting: 'PARLEY_TRUSTED_PROXIES' },
      'X-Forwarded-For of a peer that is not trusted is not believed: if it is your proxy, all its' +
        ' clients share the limits of one; name it in PARLEY_TRUSTED_PROXIES',
    );
  };
}
