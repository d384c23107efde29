// Whether a request comes from a page of this market's own site. The cookie of a session counts
// for nothing else: not for a form or a frame of another site, not under a name that somebody
// points at this server, and not from a subdomain.

import type { IncomingHttpHeaders } from 'node:http';
import { type Site, siteOf } from '../../people/site.ts';
import { type HttpCode, HttpError } from '../errors.ts';

export type SiteSettings = {
  readonly shortName: string;
  readonly network: string;
  readonly people: { readonly publicUrl: string | null };
};

/** Only scripts of one's own origin, or of one that CORS allows, can set it. */
export function requestHeader(shortName: string): string {
  return `x-${shortName}-request`;
}

export type Asked = { readonly method: string; readonly headers: IncomingHttpHeaders };

/** The site, or why the request is not from its pages. `strict`: reads too want the header. */
export function ownSite(
  settings: SiteSettings,
  { method, headers }: Asked,
  strict: boolean,
): Site | HttpError {
  const site = siteNamed(settings, headers);
  if (site instanceof HttpError) return site;
  const { origin, 'sec-fetch-site': from } = headers;
  const writes = method !== 'GET' && method !== 'HEAD';
  if (origin !== undefined && origin !== site.origin) {
    return refusal('cross_site', `the request comes from ${shown(origin)}, not ${site.origin}`);
  }
  const isOwn = from === 'same-origin' || (from === 'none' && !writes);
  if (from !== undefined && !isOwn) {
    return refusal('cross_site', 'the browser says that the request comes from another site');
  }
  if (writes && origin === undefined) {
    return refusal('cross_site', 'the header Origin is missing, which browsers send');
  }
  const name = requestHeader(settings.shortName);
  if ((writes || strict) && headers[name] !== '1') {
    return refusal('cross_site', `the header ${name}: 1 is missing, which our own pages send`);
  }
  return site;
}

/** The site that `Host` names, whichever page the request comes from. */
export function siteNamed(settings: SiteSettings, { host }: Asked['headers']): Site | HttpError {
  const { publicUrl } = settings.people;
  return siteOf({ publicUrl, network: settings.network }, host) ?? notOurs(settings);
}

function notOurs({ people, network }: SiteSettings): HttpError {
  if (people.publicUrl === null && network !== 'dev') {
    return refusal('accounts_off', 'accounts in the browser are off: PARLEY_PUBLIC_URL is not set');
  }
  const name = people.publicUrl ?? 'loopback, such as localhost';
  return refusal('wrong_site', `accounts are at ${name}; the header Host names another place`);
}

function refusal(code: HttpCode, sentence: string): HttpError {
  return new HttpError(code, sentence);
}

function shown(origin: string): string {
  return JSON.stringify(origin.slice(0, 100));
}
