// The sentences for an address where no market answers name the request, the answer, and what to
// change.

import { withoutAddresses } from '@parley/chains/nodes/exchange.ts';
import { whyOf } from '#unconnected';

const example = 'https://market.example';

/** Throws TypeError for what is no address of a market, or one to which a key may not go. */
export function mustBeAddress(baseUrl: string, allowHttp: boolean): void {
  const found = URL.canParse(baseUrl) ? new URL(baseUrl) : null;
  const named = JSON.stringify(String(baseUrl).slice(0, 200));
  if (found === null || !/^https?:$/.test(found.protocol) || found.hostname === '') {
    throw new TypeError(`${named} is no address of a market: ${example} is one`);
  }
  if (found.username + found.password + found.search + found.hash !== '') {
    throw new TypeError('the address of a market has no user, query or fragment');
  }
  if (found.protocol === 'http:' && !allowHttp && !isHere(found.hostname)) {
    throw new TypeError(`${named} must be https, or http of this machine: a key would be read`);
  }
}

/** Loopback: what is sent there leaves no machine. */
function isHere(host: string): boolean {
  return /^(?:(?:.*\.)?localhost|127(?:\.\d{1,3}){3}|\[::1\])$/.test(host);
}

/** The method and the address of a request, without its query. */
export function askedAt(method: string | undefined, url: string): string {
  const { origin, pathname } = new URL(url);
  return `${method ?? 'GET'} ${origin}${pathname}`;
}

/** Why `fetch` failed. Its own error says "fetch failed", and has the reason as its cause. */
export function whyUnreached(url: string, error: unknown): string {
  for (let each = error; each instanceof Error; each = each.cause) {
    if (each.name === 'TimeoutError') return 'nothing came in time';
    const why = whyOf(each, url.startsWith('https:'));
    if (why !== null) return why;
  }
  return withoutAddresses(error instanceof Error ? error.message : String(error));
}

/** A redirection; `to` is a page's null where it may not know. */
export function leadsElsewhere(asked: string, url: string, to: string | null): string {
  const isKnown = to !== null && URL.canParse(to, url);
  // Its origin alone: the rest could be any words.
  const where = isKnown ? new URL(to, url).origin : 'another address';
  return `${asked} leads to ${where}, and a key is not carried there. Give the address of the market itself`;
}

/** An object of JSON, as a market answers, or in words something else that came. */
export function whatCame(text: string): { readonly value: object } | { readonly else: string } {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { else: /^\s*(<!doctype|<html)/i.test(text) ? 'a web page' : 'no JSON' };
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return { else: 'other JSON' };
  }
  return 'jsonrpc' in value ? { else: "JSON-RPC, as a chain's node does" } : { value };
}

/** Asked of whoever named the address. */
export function isItThere(baseUrl: string): string {
  const { origin, pathname } = new URL(baseUrl);
  if (pathname === '/') return `Is ${origin} the market's address?`;
  return `Is ${origin}${pathname} the market's address, or is it ${origin} alone?`;
}
