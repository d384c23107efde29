// The app in a real Chromium, served by a market that runs as `npm start` does, on dev chains:
//
//   const opened = sharedWeb();
//   let web: Web;
//   before(async () => { web = await opened(); });
//   test('…', async (t) => {
//     const alice = await web.person();                    // signed in by a wallet of its own
//     const page = await web.open(t, '/book', { as: alice, scheme: 'dark', width: 360 });
//     await page.getByRole('button', { name: 'Ask' }).click();
//   });
//
// `open` gives a page in a browser profile of its own. Its test fails where the page had an error
// of a script or in the console, a breach of the content policy, or a request to a foreign origin.
// The files of a process share one market, so a test counts on nothing but its own people. `person`
// has an API key too: a test's other side trades by the SDK (`client`). `dev` is the faucet.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import type { TestContext } from 'node:test';
import { type Person as Maker, newPerson as newMaker } from '@parley/dev/demo/people.ts';
import { placeOf } from '@parley/dev/demo/place.ts';
import { type DevnetClient, type DevnetStatus, devnetClient } from '@parley/dev/devnet/client.ts';
import { browserOn } from '@parley/market/edge/testing/browser.ts';
import type { Call } from '@parley/market/edge/testing/edge.ts';
import { signInBy } from '@parley/market/edge/testing/sign-in.ts';
import { type ParleyClient, parleyClient } from '@parley/sdk/client.ts';
import { ParleyApiError } from '@parley/sdk/errors.ts';
import { mintKey } from '@parley/sdk/keys.ts';
import { evmWallet } from '@parley/sdk/wallets/evm.ts';
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { launch, pageLimitMs, sharedBrowser } from './chromium.ts';
import { openMarket, type RunningMarket, sharedMarket } from './market.ts';

export type Person = {
  readonly accountId: string;
  /** The key of its login wallet, with which it also trades. */
  readonly evmKey: `0x${string}`;
  readonly address: string;
  /** By an API key of its own. */
  readonly client: ParleyClient;
  /** The cookies of its browser: the person is signed in there. */
  readonly cookies: ReadonlyMap<string, string>;
};

export type Opened = {
  /** Signed in as; default nobody. */
  readonly as?: Person;
  readonly scheme?: 'light' | 'dark';
  /** The browser's locale for its person; default `en-GB`. */
  readonly locale?: string;
  readonly width?: number;
  readonly height?: number;
  /** A profile that is there already, as another tab; default a new one. */
  readonly context?: BrowserContext;
  /** Whether the app is kept for offline use; default not, so that a test sees every request. */
  readonly keepsApp?: boolean;
  /** Before the first page of the profile: wallets, permissions. */
  readonly prepare?: (context: BrowserContext) => Promise<unknown>;
};

export type Web = {
  /** `http://localhost:PORT`: passkeys want a name. */
  readonly url: string;
  readonly market: RunningMarket;
  readonly browser: Browser;
  readonly dev: DevnetClient;
  person(): Promise<Person>;
  open(t: TestContext, path: string, how?: Opened): Promise<Page>;
};

/** With a browser of its own. `env`: settings of the market. */
export async function startWeb(
  env: Readonly<Record<string, string>> = {},
): Promise<Web & { close(): Promise<void> }> {
  const parts = [openMarket(env), launch()] as const;
  const close = async () => {
    for (const each of await Promise.allSettled(parts)) {
      if (each.status === 'fulfilled') await each.value.close();
    }
  };
  try {
    return { ...(await webOn(...(await Promise.all(parts)))), close };
  } catch (error) {
    await close();
    throw error;
  }
}

/**
 * The app of the market that the files of a process share; where a file begins. A file leaves no
 * order of its people open.
 */
export function sharedWeb(): () => Promise<Web> {
  const people: Person[] = [];
  const leave = async () => {
    for (const { client } of people) {
      const { rfqs } = await client.rfqs({ own: true, limit: 100 });
      for (const { id } of rfqs) await client.cancelRfq(id).catch(ifCommitted);
    }
  };
  const browser = sharedBrowser();
  const market = sharedMarket(leave);
  return async () => {
    const web = await webOn(...(await Promise.all([market(), browser()])));
    const person = async () => {
      const made = await web.person();
      people.push(made);
      return made;
    };
    return { ...web, person };
  };
}

/** With an acceptance that stands it is no order for others any more. */
function ifCommitted(error: unknown): void {
  if (!(error instanceof ParleyApiError && error.code === 'committed')) throw error;
}

async function webOn(market: RunningMarket, browser: Browser): Promise<Web> {
  const { app } = market.ready;
  if (app?.startsWith('not ') === true) throw new Error(`the app is ${app}`);
  const { port } = new URL(market.ready.url);
  const url = `http://localhost:${port}`;
  const dev = devnetClient(market.ready.dev ?? '');
  const own = originsOf(market, url, await dev.status());
  return {
    url,
    market,
    browser,
    dev,
    person: () => newPerson(market, url),
    open: (t, path, how = {}) => open(t, { browser, url, path, own, how }),
  };
}

/** That a page of this market may ask. */
export function originsOf(
  { ready }: RunningMarket,
  url: string,
  { chains }: DevnetStatus,
): ReadonlySet<string> {
  const nodes = chains.map(({ rpcUrl, pageUrl = rpcUrl }) => pageUrl);
  const known = [url, ready.url, ready.dev ?? url, ready.inbox ?? url, ...nodes];
  return new Set(known.map((each) => new URL(each).origin));
}

/** People who trade by the SDK, with wallets of their own on every chain. */
export async function makersOn<N extends readonly string[]>(
  { url, dev }: Web,
  ...names: N
): Promise<{ [K in keyof N]: Maker }> {
  const status = await dev.status();
  const brand = { productName: 'Parley', shortName: 'parley' };
  const now = () => Math.floor(Date.now() / 1_000) + status.clockOffsetSeconds;
  const market = { url, brand, dev, now };
  const made = names.map((name) => newMaker(name, 'evm', placeOf(status), market));
  return Promise.all(made) as Promise<{ [K in keyof N]: Maker }>;
}

type Opening = {
  readonly browser: Browser;
  readonly url: string;
  readonly path: string;
  readonly own: ReadonlySet<string>;
  readonly how: Opened;
};

async function open(t: TestContext, { browser, url, path, own, how }: Opening): Promise<Page> {
  const { as, scheme = 'light', width = 1_200, height = 900, prepare } = how;
  const options: BrowserContextOptions = {
    colorScheme: scheme,
    viewport: { width, height },
    reducedMotion: 'reduce',
    serviceWorkers: how.keepsApp === true ? 'allow' : 'block',
    locale: how.locale ?? 'en-GB',
  };
  const context = how.context ?? (await browser.newContext(options));
  if (as !== undefined) {
    const cookies = [...as.cookies].map(([name, value]) => ({ name, value, url }));
    await context.addCookies(cookies);
  }
  await prepare?.(context);
  const page = await context.newPage();
  page.setDefaultTimeout(pageLimitMs);
  const wrong = await watch(page, own);
  t.after(async () => {
    if (how.context === undefined) await context.close();
    assert.deepEqual(wrong, [], `${path}: ${wrong.join('\n')}`);
  });
  await page.goto(`${url}${path}`);
  return page;
}

/**
 * Pages that are opened from now on hear this from the market at the path, beside what they asked.
 * A route of Playwright would hold up each request of theirs, half of which go to nodes.
 */
export function saysAt(context: BrowserContext, path: string, says: object): Promise<unknown> {
  return context.addInitScript(
    (told) => {
      const own = fetch;
      globalThis.fetch = async (asked, how) => {
        const { pathname, searchParams } = new URL(`${asked}`, location.href);
        if (pathname !== told.path) return own(asked, how);
        return Response.json({ ...Object.fromEntries(searchParams), ...told.says });
      };
    },
    { path, says },
  );
}

/** The faults of the page so far, a line each. */
export async function watch(page: Page, own: ReadonlySet<string>): Promise<readonly string[]> {
  const wrong: string[] = [];
  page.on('pageerror', (error) => wrong.push(`a script failed: ${error.stack ?? error.message}`));
  page.on('console', (line) => {
    // A refusal that the app shows, such as a 401 without a login, logs this line.
    const isAnswer = line.text().startsWith('Failed to load resource');
    if (line.type() === 'error' && !isAnswer) wrong.push(`console: ${line.text()}`);
  });
  page.on('request', (request) => {
    const { protocol, origin } = new URL(request.url());
    const isOwn = protocol === 'data:' || protocol === 'blob:' || own.has(origin);
    if (!isOwn) wrong.push(`foreign request: ${request.url()}`);
  });
  await page.addInitScript(() => {
    document.addEventListener('securitypolicyviolation', (event) => {
      console.error(`policy: ${event.violatedDirective} ${event.blockedURI} ${event.sample}`);
    });
  });
  return wrong;
}

async function newPerson({ ready }: RunningMarket, url: string): Promise<Person> {
  const evm = ready.chains.find(({ family }) => family === 'evm');
  if (evm?.rpcUrl === undefined || evm.chainId === undefined) throw new Error('no EVM chain');
  const evmKey = `0x${randomBytes(32).toString('hex')}` as const;
  const wallet = evmWallet({ privateKey: evmKey, chainId: evm.chainId, rpcUrl: evm.rpcUrl });
  const { address, signMessage: sign } = wallet;
  const profile = browserOn({ call: callAt(url) }, { origin: url });
  const { status, body } = await signInBy(profile, { family: 'evm', address, pubkey: null, sign });
  if (status !== 200) throw new Error(`nobody is signed in: ${JSON.stringify(body)}`);
  const { key } = await mintKey({ baseUrl: url }, wallet);
  const client = parleyClient({ baseUrl: url, key });
  return { accountId: body.accountId, evmKey, address, client, cookies: profile.cookies };
}

function callAt(url: string): Call {
  return async (method, path, { body, headers = {} } = {}) => {
    const { host: _, ...more } = headers;
    const type = body === undefined ? {} : { 'content-type': 'application/json' };
    const init: RequestInit = { method, headers: { ...more, ...type } };
    if (body !== undefined) init.body = JSON.stringify(body);
    const answer = await fetch(`${url}${path}`, init);
    const set = answer.headers.getSetCookie();
    return {
      status: answer.status,
      // As every answer of a test has them: several of one name are a list.
      headers: { 'set-cookie': set } as never,
      body: await answer.json(),
    };
  };
}
