// Lists of networks that settings name: addresses, `address/bits`, and the names below.

import { BlockList, isIPv4 } from 'node:net';

/** What fastify knows by name too (proxy-addr). */
const named: Readonly<Record<string, readonly string[]>> = {
  loopback: ['127.0.0.1/8', '::1'],
  linklocal: ['169.254.0.0/16', 'fe80::/10'],
  uniquelocal: ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7'],
};

export const networkNames = Object.keys(named);

/** Of networks that the settings have checked. */
export function listOf(networks: readonly string[]): BlockList {
  const list = new BlockList();
  for (const each of networks.flatMap((name) => named[name] ?? [name])) {
    const [address = '', bits] = each.split('/');
    const family = isIPv4(address) ? 'ipv4' : 'ipv6';
    if (bits === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(bits), family);
  }
  return list;
}
