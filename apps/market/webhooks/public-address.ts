// Which addresses a delivery may reach: those of the public internet, and networks the operator
// has listed. Everything else is somebody's inside: loopback, private, link-local with the cloud's
// metadata, shared, multicast, documentation, and whatever wraps one of them.
// ipaddr.js knows IANA's IPv4 and IPv6 Special-Purpose Address Registries.

import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { listOf } from '../settings/networks.ts';

/** A cloud's own, to its machines: for others an address as any. */
const ofOneCloud = '168.63.129.16';
/** The global unicast space, outside of which no IPv6 address is public. */
const globalUnicast = ipaddr.parseCIDR('2000::/3');

export type MayReach = (address: string) => boolean;

/** `networks` are the operator's, each an address or `address/bits`; checked by the settings. */
export function reachable(networks: readonly string[]): MayReach {
  const allowed = listOf(networks);
  return (address) => {
    // A zone (%eth0) is of this machine only.
    if (isIP(address) === 0 || address.includes('%')) return false;
    // An address that stands for an IPv4 address is allowed where that is listed, and only there.
    if (allowed(address)) return true;
    const parsed = ipaddr.parse(address);
    if (parsed.range() !== 'unicast') return false;
    if (parsed instanceof ipaddr.IPv4) return parsed.toString() !== ofOneCloud;
    return parsed.match(globalUnicast) && !isIsatap(parsed.parts);
  };
}

/**
 * Ends of names that are nobody's on the public internet: RFC 6761, 6762 (and its appendix G),
 * 7686, 8375 and 9476, and what ICANN keeps for networks of one's own.
 */
const insideNames = (
  'alt corp example home home.arpa internal intranet invalid lan local localdomain localhost mail ' +
  'onion private test'
).split(' ');

/** A name that can have no public address: reserved, or of a single label. */
export function isInsideName(hostname: string): boolean {
  const name = hostname.toLowerCase().replace(/\.$/, '');
  return !name.includes('.') || insideNames.some((each) => name.endsWith(`.${each}`));
}

/** The prefix may be any, with an IPv4 address in the lower half (RFC 5214). */
function isIsatap(words: readonly number[]): boolean {
  return ((words[4] ?? 0) & ~0x0300) === 0 && words[5] === 0x5efe;
}
