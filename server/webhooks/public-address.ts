// Which addresses a delivery may reach: those of the public internet, and networks the operator
// has listed. Everything else is somebody's inside: loopback, private, link-local with the cloud's
// metadata, shared, multicast, documentation, and whatever wraps one of them.
// IANA: IPv4 and IPv6 Special-Purpose Address Registries.

import { BlockList, isIP, isIPv4 } from 'node:net';

const insideV4: readonly [string, number][] = [
  ['0.0.0.0', 8], // this network
  ['10.0.0.0', 8],
  ['100.64.0.0', 10], // carriers' NAT
  ['127.0.0.0', 8],
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

/** Of the global unicast space (2000::/3), outside of which nothing is public. */
const insideV6: readonly [string, number][] = [
  ['2001::', 23], // protocol assignments: Teredo (2001::/32), ORCHID, benchmarks
  ['2001:db8::', 32], // documentation
  ['2002::', 16], // 6to4: an IPv4 address within
  ['2620:4f:8000::', 48], // AS112
  ['3fff::', 20], // documentation
  ['5f00::', 16], // segment routing
];

const blocked = new BlockList();
for (const [network, bits] of insideV4) blocked.addSubnet(network, bits, 'ipv4');
for (const [network, bits] of insideV6) blocked.addSubnet(network, bits, 'ipv6');
const globalUnicast = new BlockList();
globalUnicast.addSubnet('2000::', 3, 'ipv6');

export type MayReach = (address: string) => boolean;

/** `networks` are the operator's, each an address or `address/bits`; checked by the settings. */
export function reachable(networks: readonly string[]): MayReach {
  const allowed = new BlockList();
  for (const each of networks) {
    const [address = '', bits] = each.split('/');
    const family = isIPv4(address) ? 'ipv4' : 'ipv6';
    if (bits === undefined) allowed.addAddress(address, family);
    else allowed.addSubnet(address, Number(bits), family);
  }
  return (address) => {
    const family = familyOf(address);
    if (family === null) return false;
    // A mapped address (::ffff:a.b.c.d) is checked as what it stands for.
    const plain = mapped(address) ?? address;
    const of = familyOf(plain) ?? family;
    if (allowed.check(plain, of)) return true;
    if (of === 'ipv6' && !globalUnicast.check(plain, 'ipv6')) return false;
    return plain === address && !blocked.check(plain, of);
  };
}

function familyOf(address: string): 'ipv4' | 'ipv6' | null {
  const version = isIP(address);
  return version === 0 ? null : version === 4 ? 'ipv4' : 'ipv6';
}

/** The IPv4 address in `::ffff:…`, in either of its spellings; null for any other. */
function mapped(address: string): string | null {
  const [, text = ''] = /^::ffff:(.+)$/i.exec(address) ?? [];
  if (isIPv4(text)) return text;
  const [, high, low] = /^([0-9a-f]{1,4}):([0-9a-f]{1,4})$/i.exec(text) ?? [];
  if (high === undefined || low === undefined) return null;
  const [a, b] = [Number.parseInt(high, 16), Number.parseInt(low, 16)];
  return [a >> 8, a & 255, b >> 8, b & 255].join('.');
}
