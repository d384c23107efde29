// Says that a peer which no setting trusts forwards for others: behind a proxy that is not named
// all clients count as one, and share its limits.

import { isIPv6 } from 'node:net';
import type { FastifyRequest } from 'fastify';
import type { Deps } from '../ports/deps.ts';
import { listOf } from '../settings/networks.ts';

/** Between two lines of the log: any client may send the header. */
const quietMs = 3_600_000;

type Needs = Pick<Deps, 'now' | 'log'> & {
  readonly settings: Pick<Deps['settings'], 'trustedProxies'>;
};

export function createForwardedWarning({ settings, now, log }: Needs) {
  const proxies = listOf(settings.trustedProxies);
  let quietUntil = 0;
  return ({ headers, socket }: Pick<FastifyRequest, 'headers' | 'socket'>): void => {
    if (headers['x-forwarded-for'] === undefined || now() < quietUntil) return;
    const { remoteAddress: peer } = socket;
    if (peer === undefined || proxies.check(peer, isIPv6(peer) ? 'ipv6' : 'ipv4')) return;
    quietUntil = now() + quietMs;
    log.warn(
      { peer, setting: 'PARLEY_TRUSTED_PROXIES' },
      'X-Forwarded-For of a peer that is not trusted is not believed: if it is your proxy, all its' +
        ' clients share the limits of one; name it in PARLEY_TRUSTED_PROXIES',
    );
  };
}
