// A market that people sign in to, for tests: codes arrive in a list instead of a mailbox.

import { after } from 'node:test';
import { type BrowserOptions, browserOn, type TestBrowser } from './browser.ts';
import { type Answer, startEdge, type TestEdge } from './edge.ts';
import type { Purpose } from './sign-in.ts';

export type PeopleEdge = TestEdge & {
  /** Signed in by e-mail in a browser of its own. */
  person(address: string, options?: BrowserOptions): Promise<TestBrowser>;
  /** Asks for a code and gives it; the last answer. */
  byEmail(browser: TestBrowser, address: string, purpose?: Purpose): Promise<Answer>;
  /** The code that was sent to the address last. */
  codeOf(address: string): string;
  /** Rows of the outbox for the account that is signed in, oldest first. */
  events(browser: TestBrowser, topics: string): Promise<{ topic: string; payload: never }[]>;
};

let addresses = 0;
/** An e-mail address that nobody else has. */
export const freshAddress = () => `person${++addresses}@example.test`;

export async function startPeople(
  overrides: Parameters<typeof startEdge>[0] = {},
  web: Parameters<typeof startEdge>[2] = null,
): Promise<PeopleEdge> {
  const codes = new Map<string, string>();
  const messaging = {
    sendCode: async (_tx: unknown, { address, code }: { address: string; code: string }) => {
      codes.set(address, code);
    },
    mailIsDown: () => false,
  };
  const edge = await startEdge({ messaging, ...overrides }, undefined, web);
  const codeOf = (address: string) => {
    const code = codes.get(address);
    if (code === undefined) throw new Error(`no code was sent to ${address}`);
    return code;
  };
  const byEmail: PeopleEdge['byEmail'] = async (browser, address, purpose = 'sign-in') => {
    const asked = await browser.post('/account/email', { address, purpose });
    if (asked.status !== 200) return asked;
    return browser.post('/account/email/code', { address, code: codeOf(address) });
  };
  return {
    ...edge,
    byEmail,
    codeOf,
    person: async (address, options) => {
      const browser = browserOn(edge, options);
      await byEmail(browser, address);
      return browser;
    },
    events: async (browser, topics) => {
      const { accountId } = (await browser.get('/account/me')).body;
      const text = `select topic, payload from outbox
        where account_id = $1 and topic like $2 order by id`;
      return edge.sql(text, accountId, topics);
    },
  };
}

/** `startPeople`, closed after the file, suite or test that asks for it. */
export async function testPeople(...how: Parameters<typeof startPeople>): Promise<PeopleEdge> {
  const edge = await startPeople(...how);
  after(() => edge.close());
  return edge;
}
