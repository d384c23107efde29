// A market with a real identity provider (oidc-provider) and a hostile one, for tests, and the
// steps of a sign-in through them as a browser takes them.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type IdentityProvider,
  startIdentityProvider,
} from '@parley/dev/devnet/people/identity-provider.ts';
import { signInAtProvider } from '@parley/dev/devnet/people/testing/browser.ts';
import type { TestDeps } from '@parley/verify/test/support/deps.ts';
import {
  type HostileProvider,
  startHostileProvider,
} from '@parley/verify/test/support/hostile-provider.ts';
import { pino } from 'pino';
import { readSettings } from '../../settings/config.ts';
import type { ProviderSettings } from '../../settings/people.ts';
import { browserOn, type TestBrowser } from './browser.ts';
import type { Answer } from './edge.ts';
import { type PeopleEdge, startPeople } from './people.ts';
import type { Purpose } from './sign-in.ts';

export type ProviderEdge = {
  readonly edge: PeopleEdge;
  readonly deps: TestDeps;
  readonly real: IdentityProvider;
  readonly hostile: HostileProvider;
  /** The reports to the operator: each a reason. */
  readonly reported: string[];
  browser(): TestBrowser;
  /** Where the browser is sent. */
  begin(browser: TestBrowser, provider?: string, purpose?: Purpose): Promise<URL>;
  /** Signs in at the hostile provider, or cancels for null at the real one. */
  atProvider(url: URL, name?: string | null): Promise<URL>;
  /** The whole sign-in; returns the query of the last page. */
  through(browser: TestBrowser, provider?: string, purpose?: Purpose): Promise<string>;
  count(what: 'logins' | 'sessions' | 'accounts'): Promise<number>;
};

/**
 * It offers `real` and `hostile`; `telegram`, the real one with leave for the bot to write; and
 * `bare`, the hostile one as one that gives no nonce back.
 */
export async function startProviderEdge(): Promise<ProviderEdge> {
  const reported: string[] = [];
  const write = (line: string) => {
    const { provider, reason } = JSON.parse(line);
    if (provider !== undefined) reported.push(reason);
  };
  const log = pino({ level: 'warn' }, { write });
  const [real, hostile] = await Promise.all([
    startIdentityProvider({ log: { error: assert.fail } as never }),
    startHostileProvider(),
  ]);
  // Its library is loaded at the first request, which takes a busy machine seconds.
  const loaded = fetch(`${real.issuer}/.well-known/openid-configuration`);
  const honest = {
    issuer: real.issuer,
    clientId: real.client.id,
    clientSecret: real.client.secret,
  };
  const { people } = readSettings({});
  const bot = { token: '1:not-a-token', api: 'https://bot.example' };
  const writing = ['openid', 'profile', 'telegram:bot_access'];
  const providers = [
    providerFor('real', honest),
    providerFor('hostile', hostile),
    providerFor('telegram', honest, { scopes: writing, messages: true }),
    providerFor('bare', hostile, { nonce: false }),
  ];
  const edge = await startPeople({ log, settings: { people: { ...people, bot, providers } } });
  await (await loaded).arrayBuffer();
  test.after(async () => {
    await edge.close();
    await Promise.all([real.stop(), hostile.stop()]);
  });
  test.beforeEach(() => {
    hostile.misbehave();
    hostile.claim({ sub: 'mallory' });
    reported.length = 0;
  });
  const atProvider = (url: URL, name: string | null = 'alice') =>
    url.origin === real.issuer ? signInAtProvider(url, name) : hostile.authorize(url);
  return {
    edge,
    deps: edge.deps,
    real,
    hostile,
    reported,
    browser: () => browserOn(edge),
    begin,
    atProvider,
    through: async (browser, provider, purpose) => {
      const back = await atProvider(await begin(browser, provider, purpose));
      return endOf(await comeBack(browser, back));
    },
    count: async (what) => Number((await edge.sql(`select count(*) from ${what}`))[0].count),
  };
}

function providerFor(
  id: string,
  {
    issuer,
    clientId,
    clientSecret,
  }: Pick<ProviderSettings, 'issuer' | 'clientId' | 'clientSecret'>,
  more: Partial<ProviderSettings> = {},
): ProviderSettings {
  const plain = { scopes: ['openid', 'email', 'profile'], messages: false, nonce: true };
  return { id, label: `the ${id} provider`, issuer, clientId, clientSecret, ...plain, ...more };
}

async function begin(
  browser: TestBrowser,
  provider = 'hostile',
  purpose: Purpose = 'sign-in',
): Promise<URL> {
  const { status, body } = await browser.post('/account/provider', { provider, purpose });
  assert.equal(status, 200, JSON.stringify(body));
  return new URL(body.url);
}

/** The headers of a navigation from the provider's page. */
const navigation = {
  origin: null,
  'x-parley-request': null,
  'sec-fetch-site': 'cross-site',
  'sec-fetch-mode': 'navigate',
  'sec-fetch-dest': 'document',
};

export function comeBack(
  browser: TestBrowser,
  { pathname, search }: URL,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  return browser.call('GET', pathname + search, undefined, { ...navigation, ...headers });
}

/** The query of the page that the person is led to. */
export function endOf({ status, headers, body }: Answer): string {
  assert.deepEqual([status, body], [303, undefined]);
  const [, query = ''] =
    /^\/account\?((?:done|problem)=[a-z_-]+)$/.exec(headers.location ?? '') ?? [];
  assert.notEqual(query, '', headers.location);
  return query;
}

/** The account that is signed in. */
export async function whoIs(browser: TestBrowser): Promise<string | null> {
  const { status, body } = await browser.get('/v1/me');
  return status === 200 ? body.userId : null;
}
