// Whether a request comes from a page of this market's own site. The cookie of a session counts
// for nothing else: not for a form or a frame of another site, not under a name that somebody
// points at this server, and not from a subdomain.

import type { IncomingHttpHeaders } from 'node:http';
import { type Site, siteOf } from '../../people/site.ts';
import { HttpError } from '../errors.ts';

export type SiteSettings = {
  readonly shortName: string;
  readonly network: string;
  readonly people: { readonly publicUrl: string | null };
};

/** Only scripts of one's own origin, or of one that CORS allows, can set it. */
export function requestHeader(shortName: string): string {
  return `x-${shortName}-request`;
}

/** Which account a page shows: it does nothing to another one that was signed in to meanwhile. */
export function accountHeader(shortName: string): string {
  return `x-${shortName}-account`;
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
  const writes = isWrite(method);
  if (origin !== undefined && origin !== site.origin) {
    const from = JSON.stringify(origin.slice(0, 100));
    return new HttpError('cross_site', `the request comes from ${from}, not ${site.origin}`);
  }
  const isOwn = from === 'same-origin' || (from === 'none' && !writes);
  if (from !== undefined && !isOwn) {
    return new HttpError('cross_site', 'the browser says that the request comes from another site');
  }
  if (writes && origin === undefined) {
    return new HttpError('cross_site', 'the header Origin is missing, which browsers send');
  }
  const name = requestHeader(settings.shortName);
  if ((writes || strict) && headers[name] !== '1') {
    return new HttpError(
      'cross_site',
      `the header ${name}: 1 is missing, which our own pages send`,
    );
  }
  return site;
}

/**
 * Why the account that is signed in, null = none, is not the one that the page shows. `mustName`:
 * the page has to say which. Without that, what is pressed before a page has learnt who is signed
 * in by now is done to somebody who was never shown.
 */
export function otherAccount(
  { shortName }: Pick<SiteSettings, 'shortName'>,
  headers: IncomingHttpHeaders,
  accountId: string | null,
  mustName: boolean,
): HttpError | null {
  const name = accountHeader(shortName);
  const shownAccount = headers[name];
  if (shownAccount === accountId || (shownAccount === undefined && !mustName)) return null;
  const sentence =
    shownAccount === undefined
      ? `the header ${name} is missing, which names the account that the page shows; ` +
        'the market did nothing'
      : 'another account is signed in here by now, or none; the request had no effect. ' +
        'Load the page again';
  return new HttpError('other_account', sentence);
}

export function isWrite(method: string): boolean {
  return method !== 'GET' && method !== 'HEAD';
}

/** The site that `Host` names, whichever page the request comes from. */
export function siteNamed(settings: SiteSettings, { host }: Asked['headers']): Site | HttpError {
  const { publicUrl } = settings.people;
  return siteOf({ publicUrl, network: settings.network }, host) ?? notOurs(settings);
}

function notOurs({ people, network }: SiteSettings): HttpError {
  if (people.publicUrl === null && network !== 'dev') {
    return new HttpError(
      'accounts_off',
      'accounts in the browser are off: PARLEY_PUBLIC_URL is not set',
    );
  }
  const name = people.publicUrl ?? 'loopback, such as localhost';
  return new HttpError(
    'wrong_site',
    `accounts are at ${name}; the header Host names another place`,
  );
}
