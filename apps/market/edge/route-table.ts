// The paths that there are, for requests that no route took: 404 with the way to write the path
// that was meant, or 405 with the methods that it takes.

import type { FastifyRequest } from 'fastify';
import { HttpError } from './errors.ts';

/** Which methods each path takes. */
export type RouteTable = { method: string; url: string; pattern: RegExp }[];

/** A path is said again up to this length. */
const longestHint = 200;

export function addRoute(routes: RouteTable, method: string, url: string): void {
  const parts = url.split('/').map((part) => {
    return part.startsWith(':') ? '[^/]+' : part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  });
  routes.push({ method, url, pattern: new RegExp(`^${parts.join('/')}$`) });
}

/** `/v1/rfqs/` is no RFQ without an id, though the router gives it to the route of one. */
export function namesNothing(params: unknown): boolean {
  const given = params as Readonly<Record<string, string>>;
  for (const name in given) if (given[name] === '') return true;
  return false;
}

/** 404, or 405 with the methods there are, and where this method is for a path beside. */
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
    const meant = spelled(routes, path);
    const hint = meant === null || meant === path ? '' : `; it is written ${meant}`;
    return new HttpError('not_found', `there is nothing at this path${hint}`);
  }
  const allow = allowed.join(', ');
  const folder = path.slice(0, path.lastIndexOf('/') + 1);
  const besides = routes
    .filter((each) => each.method === method && each.url.startsWith(folder))
    .map((each) => each.url)
    .filter((each) => /^[^/:]+$/.test(each.slice(folder.length)))
    .sort();
  const elsewhere = besides.length === 0 ? '' : `; ${method} is for ${besides.join(', ')}`;
  const sentence = `this path takes ${allow}, not ${method}${elsewhere}`;
  return new HttpError('method_not_allowed', sentence, { allow });
}

/** The path without slashes too many, encoded slashes and other capitals; null: there is none. */
function spelled(routes: RouteTable, path: string): string | null {
  if (path.length > longestHint) return null;
  const given = partsOf(path.replace(/%2f/gi, '/'));
  for (const { url } of routes) {
    const parts = partsOf(url);
    if (parts.length !== given.length) continue;
    const fits = parts.every((part, at) => isParam(part) || isSame(part, given[at]));
    if (fits) return `/${parts.map((part, at) => (isParam(part) ? given[at] : part)).join('/')}`;
  }
  return null;
}

const partsOf = (path: string) => path.split('/').filter((part) => part !== '');
const isParam = (part: string) => part.startsWith(':');
const isSame = (part: string, given = '') => part.toLowerCase() === given.toLowerCase();
