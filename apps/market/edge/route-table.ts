// The paths that there are, for requests that no route took: 404, or 405 with the methods that the
// path takes.

import type { FastifyRequest } from 'fastify';
import { HttpError } from './errors.ts';

/** Which methods each path takes. */
export type RouteTable = { method: string; url: string; pattern: RegExp }[];

export function addRoute(routes: RouteTable, method: string, url: string): void {
  routes.push({ method, url, pattern: patternOf(url) });
}

/** The paths that the router gives to the route of this address, such as `/v1/rfqs/:id`. */
export function patternOf(url: string): RegExp {
  const parts = url.split('/').map((part) => {
    if (part === '*') return '.*';
    return part.startsWith(':') ? '[^/]+' : part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  });
  return new RegExp(`^${parts.join('/')}$`);
}

/** `/v1/rfqs/` is no RFQ without an id, though the router gives it to the route of one. */
export function namesNothing(params: unknown): boolean {
  const given = params as Readonly<Record<string, string>>;
  for (const name in given) if (given[name] === '') return true;
  return false;
}

/** 404, or 405 with the methods there are. */
export function noRoute(
  routes: RouteTable,
  { url, method }: Pick<FastifyRequest, 'url' | 'method'>,
): HttpError {
  const path = url.split('?')[0] ?? '';
  const there = routes.filter(({ pattern }) => pattern.test(path));
  // `/wallets/nonce` is no address, though a parameter beside it would take the word.
  const own = there.filter(({ url }) => url === path);
  const methods = (own.length === 0 ? there : own).map((each) => each.method);
  const allowed = [...new Set(methods)].sort();
  if (allowed.length === 0 || allowed.includes(method)) {
    return new HttpError('not_found', 'there is nothing at this path');
  }
  const allow = allowed.join(', ');
  const sentence = `this path takes ${allow}, not ${method}`;
  return new HttpError('method_not_allowed', sentence, { allow });
}
