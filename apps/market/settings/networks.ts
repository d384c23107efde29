// The names of hosts in settings: lists of networks, origins, the address of a Valkey or Redis.

import { isIP } from 'node:net';
import { compile } from '@fastify/proxy-addr';

/** The networks that `compile` knows by name. */
const named = ['loopback', 'linklocal', 'uniquelocal'];

/** An address, or one with the length of its network's prefix; not everybody's (/0). */
export function networkOf(text: string): string | null {
  const [, address = '', bits] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(text) ?? [];
  const longest = { 0: 0, 4: 32, 6: 128 }[isIP(address)] ?? 0;
  const isOne = bits === undefined || (Number(bits) >= 1 && Number(bits) <= longest);
  return longest > 0 && isOne ? text : null;
}

export const namedNetworkOf = (text: string) => (named.includes(text) ? text : networkOf(text));

/**
 * Whether an address is in one of the networks, which the settings have checked. A mapped one,
 * such as `::ffff:10.0.0.1`, counts as its IPv4 address; a text that is none is in no network.
 */
export function listOf(networks: readonly string[]): (address: string) => boolean {
  const isIn = compile([...networks]);
  return (address) => isIn(address, 0);
}

/** Names of this machine that no DNS answers for. */
export function isLoopback(hostname: string): boolean {
  return ['localhost', '127.0.0.1', '[::1]'].includes(hostname);
}

export function isSafeUrl({ protocol, hostname }: URL): boolean {
  return protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname));
}

/** The origin of a text that is one and nothing more; null otherwise. */
export function originOf(text: string): string | null {
  if (!URL.canParse(text)) return null;
  const url = new URL(text);
  return isSafeUrl(url) && text.replace(/\/$/, '').toLowerCase() === url.origin ? url.origin : null;
}

/** Each % of it begins two digits of a byte, and the bytes are text. */
export function isUrlEncoded(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}

type ValkeyAddress = {
  readonly host: string;
  readonly port: number;
  readonly tls: boolean;
  readonly username: string | null;
  readonly password: string | null;
  readonly database: number;
};

/** `redis://[user:password@]host[:port][/database]`; null when it is not of that form. */
export function parseValkeyUrl(text: string): ValkeyAddress | null {
  if (!URL.canParse(text)) return null;
  const { protocol, hostname, username, port, password, pathname, search, hash } = new URL(text);
  const [, scheme, tls] = /^(redis|valkey)(s?):$/.exec(protocol) ?? [];
  const database = /^\/?(\d{0,5})$/.exec(pathname)?.[1];
  if (scheme === undefined || hostname === '' || search !== '' || hash !== '') return null;
  if (database === undefined || port === '0') return null;
  try {
    return {
      host: decodeURIComponent(hostname).replace(/^\[|\]$/g, ''),
      port: port === '' ? 6_379 : Number(port),
      tls: tls === 's',
      username: decodeURIComponent(username) || null,
      password: decodeURIComponent(password) || null,
      database: Number(database),
    };
  } catch {
    return null;
  }
}
