// Which addresses a delivery may reach: those of the public internet, and networks the operator
// has listed. Everything else is somebody's inside: loopback, private, link-local with the cloud's
// metadata, shared, multicast, documentation, and whatever wraps one of them.
// IANA: IPv4 and IPv6 Special-Purpose Address Registries.

import { BlockList, isIP, isIPv4 } from 'node:net';
import { listOf } from '../settings/networks.ts';

const insideV4: readonly [string, number][] = [
  ['0.0.0.0', 8], // this network
  ['10.0.0.0', 8],
  ['100.64.0.0', 10], // carriers' NAT
  ['127.0.0.0', 8],
  ['168.63.129.16', 32], // a cloud's own, to its machines
  ['169.254.0.0', 16], // link-local, 169.254.169.254 among them
  ['172.16.0.0', 12],
  ['192.0.0.0', 24], // protocol assignments
  ['192.0.2.0', 24], // documentation
  ['192.31.196.0', 24], // AS112
  ['192.52.193.0', 24], // AMT
  ['192.88.99.0', 24], // 6to4 relays
  ['192.168.0.0', 16],
  ['192.175.48.0', 24], // AS112
  ['198.18.0.0', 15], // benchmarks
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4], // multicast
  ['240.0.0.0', 4], // reserved, broadcast
];

/** The exceptions in the global unicast space (2000::/3), outside of which no address is public. */
const insideV6: readonly [string, number][] = [
  ['2001::', 23], // protocol assignments: Teredo (2001::/32), ORCHID, benchmarks
  ['2001:db8::', 32], // documentation
  ['2002::', 16], // 6to4: an IPv4 address within
  ['2620:4f:8000::', 48], // AS112
  ['3fff::', 20], // documentation
];

const blocked = new BlockList();
for (const [network, bits] of insideV4) blocked.addSubnet(network, bits, 'ipv4');
for (const [network, bits] of insideV6) blocked.addSubnet(network, bits, 'ipv6');
const globalUnicast = new BlockList();
globalUnicast.addSubnet('2000::', 3, 'ipv6');

export type MayReach = (address: string) => boolean;

/** `networks` are the operator's, each an address or `address/bits`; checked by the settings. */
export function reachable(networks: readonly string[]): MayReach {
  const allowed = listOf(networks);
  return (address) => {
    // A zone (%eth0) is of this machine only.
    if (isIP(address) === 0 || address.includes('%')) return false;
    if (isIPv4(address)) return allowed.check(address) || !blocked.check(address);
    const words = groupsOf(address);
    // An address that stands for an IPv4 address is allowed where that is listed, and only there.
    const mapped = mappedOf(words);
    if (mapped !== null) return allowed.check(mapped);
    if (allowed.check(address, 'ipv6')) return true;
    if (isIsatap(words) || !globalUnicast.check(address, 'ipv6')) return false;
    return !blocked.check(address, 'ipv6');
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

function groupsOf(address: string): number[] {
  const canonical = new URL(`http://[${address}]`).hostname.slice(1, -1);
  const [head = [], tail = []] = canonical
    .split('::')
    .map((part) => part.split(':').filter((word) => word !== ''));
  const zeros = Array.from({ length: 8 - head.length - tail.length }, () => '0');
  return [...head, ...zeros, ...tail].map((word) => Number.parseInt(word, 16));
}

function mappedOf(words: readonly number[]): string | null {
  const [high = 0, low = 0] = words.slice(6);
  if (words.slice(0, 5).some((word) => word !== 0) || words[5] !== 0xffff) return null;
  return [high >> 8, high & 255, low >> 8, low & 255].join('.');
}

/** The prefix may be any, with an IPv4 address in the lower half (RFC 5214). */
function isIsatap(words: readonly number[]): boolean {
  return ((words[4] ?? 0) & ~0x0300) === 0 && words[5] === 0x5efe;
}
