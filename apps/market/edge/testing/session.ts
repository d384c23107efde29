// A browser that is signed in, without the way in: the session is made as every way in makes it.

import { randomBytes, randomUUID } from 'node:crypto';
import { renew, type Session } from '../../people/sessions.ts';
import { type Proven, takeUp } from '../../people/sign-in.ts';
import type { Deps } from '../../ports/deps.ts';
import { readSettings, type Settings } from '../../settings/config.ts';
import type { PeopleSettings } from '../../settings/people.ts';
import { type BrowserOptions, browserOn, showsAccount, type TestBrowser } from './browser.ts';
import type { TestEdge } from './edge.ts';

/** Settings of a market whose own pages are at this origin. */
export function siteAt(
  publicUrl: string | null,
  more: Partial<PeopleSettings> = {},
): Pick<Settings, 'people'> {
  return { people: { ...readSettings({}).people, publicUrl, ...more } };
}

export type SignedIn = Omit<TestBrowser, 'session'> & {
  readonly accountId: string;
  session(): string;
  readonly stored: Session;
};

type Server = { readonly call: TestEdge['call']; readonly deps: Deps };

/** By an e-mail address nobody else has, unless `proven` says what else. */
export async function signedIn(
  { call, deps }: Server,
  options: BrowserOptions & { readonly proven?: Proven } = {},
): Promise<SignedIn> {
  const proven = options.proven ?? { way: 'email', address: `${randomUUID()}@example.org` };
  const about = { hash: randomBytes(32), device: 'Firefox on Linux', place: '127.0.0.1' };
  const { token, session } = await deps.db.transaction((tx) =>
    takeUp(tx, deps, proven, { purpose: 'sign-in' }, about),
  );
  const browser = browserOn({ call }, options);
  const prefix = browser.origin.startsWith('https:') ? '__Host-' : '';
  browser.cookies.set(`${prefix}${deps.settings.shortName}_session`, token ?? '');
  showsAccount(token ?? '', session.accountId);
  return { ...browser, accountId: session.accountId, session: () => token ?? '', stored: session };
}

/** Its person has signed in again: the new token. */
export async function renewed(deps: Deps, { stored }: SignedIn): Promise<string> {
  const means = { by: 'email', wallet: null } as const;
  const { token } = await deps.db.transaction((tx) => renew(tx, deps, stored, means));
  return token;
}

/** The headers that a page of the market's own site on loopback sends with the session. */
export function pageHeaders(token: string | null, accountId = ''): Record<string, string> {
  return {
    host: 'localhost:8080',
    origin: 'http://localhost:8080',
    'sec-fetch-site': 'same-origin',
    'x-parley-request': '1',
    ...(token === null ? {} : { cookie: `parley_session=${token}`, 'x-parley-account': accountId }),
  };
}
