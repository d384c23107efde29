// A browser on a page of the market's own site, for tests: a cookie jar over `call`, and what
// browsers and the page's scripts send as headers.

import type { Answer, Call, TestEdge } from './edge.ts';

export type TestBrowser = {
  readonly origin: string;
  /** Name and value of every cookie. A copy of the map is a stolen or an older jar. */
  readonly cookies: Map<string, string>;
  /** `headers`: beside its own, or instead of them; null = not sent. */
  call(
    method: string,
    url: string,
    body?: unknown,
    headers?: Readonly<Record<string, string | null>>,
  ): Promise<Answer>;
  get(url: string): Promise<Answer>;
  post(url: string, body?: unknown): Promise<Answer>;
  /** The cookie's session token; null where nobody is signed in. */
  session(): string | null;
};

export type BrowserOptions = {
  /** http://localhost:8080 unless given. */
  readonly origin?: string;
  readonly ip?: string;
  /** The cookies of another browser: the same browser on another server. */
  readonly cookies?: ReadonlyMap<string, string>;
};

const firefox = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0';

export function browserOn(
  { call }: Pick<TestEdge, 'call'>,
  options: BrowserOptions = {},
): TestBrowser {
  const { origin = 'http://localhost:8080' } = options;
  const cookies = new Map(options.cookies ?? []);
  const prefix = origin.startsWith('https:') ? '__Host-' : '';
  const session = () => cookies.get(`${prefix}parley_session`) ?? null;
  const ask: TestBrowser['call'] = async (method, url, body, headers = {}) => {
    const token = session();
    const isWrite = method !== 'GET';
    // Where a test shows another cookie, it is not this one's page.
    const isOwn = token !== null && headers.cookie === undefined;
    const account = isOwn && isWrite ? await shownBy(token) : null;
    const jar = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const own: Record<string, string | null> = {
      host: new URL(origin).host,
      'user-agent': firefox,
      'sec-fetch-site': 'same-origin',
      'x-parley-request': '1',
      ...(method === 'GET' ? {} : { origin }),
      ...(account === null ? {} : { 'x-parley-account': account }),
      ...(jar === '' ? {} : { cookie: jar }),
      ...headers,
    };
    const sent = Object.entries(own).filter((each): each is [string, string] => each[1] !== null);
    const init: Parameters<Call>[2] = {
      headers: Object.fromEntries(sent),
      ...(body === undefined ? {} : { body }),
      ...(options.ip === undefined ? {} : { ip: options.ip }),
    };
    const answer = await call(method, url, init);
    keep(cookies, answer);
    const now = session();
    const shown = answer.status === 200 ? answer.body?.accountId : undefined;
    if (now !== null && typeof shown === 'string') showsAccount(now, shown);
    return answer;
  };
  /** As a page that is loaded learns it, after a sign-in that led away from it. */
  const shownBy = async (token: string) => {
    if (!accounts.has(token)) await ask('GET', '/account/me');
    const found = accounts.get(token) ?? null;
    accounts.set(token, found);
    return found;
  };
  return {
    origin,
    cookies,
    call: ask,
    get: (url) => ask('GET', url),
    post: (url, body) => ask('POST', url, body),
    session,
  };
}

/**
 * The account of each session's token, as its pages know it; one that was stolen is of the same.
 */
const accounts = new Map<string, string | null>();

export function showsAccount(token: string, accountId: string): void {
  accounts.set(token, accountId);
}

/** Several of one answer come as a list. */
function keep(cookies: Map<string, string>, { headers }: Answer): void {
  const given: string | readonly string[] | undefined = headers['set-cookie'];
  for (const each of [given ?? []].flat()) {
    const [pair = '', ...attributes] = each.split('; ');
    const at = pair.indexOf('=');
    const name = pair.slice(0, at);
    if (attributes.includes('Max-Age=0')) cookies.delete(name);
    else cookies.set(name, pair.slice(at + 1));
  }
}
