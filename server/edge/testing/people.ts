// A market that people sign in to, for tests: codes arrive in a list instead of a mailbox.

import { type BrowserOptions, browserOn, type TestBrowser } from './browser.ts';
import { startEdge, type TestEdge } from './edge.ts';

export type Mail = { readonly address: string; readonly code: string };
export type PeopleEdge = TestEdge & {
  readonly mails: Mail[];
  /** Signed in by e-mail in a browser of its own. */
  person(address: string, options?: BrowserOptions): Promise<TestBrowser>;
  /** The code that was sent to the address last. */
  codeOf(address: string): string;
};

export async function startPeople(
  overrides: Parameters<typeof startEdge>[0] = {},
): Promise<PeopleEdge> {
  const mails: Mail[] = [];
  const messaging = {
    sendCode: async (_tx: unknown, { address, code }: Mail) => {
      mails.push({ address, code });
    },
    mailIsDown: () => false,
  };
  const edge = await startEdge({ messaging, ...overrides });
  const codeOf = (address: string) => {
    const mail = mails.findLast((each) => each.address === address);
    if (mail === undefined) throw new Error(`no code was sent to ${address}`);
    return mail.code;
  };
  return {
    ...edge,
    mails,
    codeOf,
    person: async (address, options) => {
      const browser = browserOn(edge, options);
      await byEmail(browser, address, () => codeOf(address));
      return browser;
    },
  };
}

export type Purpose = 'sign-in' | 'add' | 'renew';

/** Asks for a code and gives it; the last answer. */
export async function byEmail(
  browser: TestBrowser,
  address: string,
  codeOf: () => string,
  purpose: Purpose = 'sign-in',
) {
  const asked = await browser.post('/account/email', { address, purpose });
  if (asked.status !== 200) return asked;
  return browser.post('/account/email/code', { address, code: codeOf() });
}
