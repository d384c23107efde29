// `ops page`: a page that only shows, for the operator who starts it and nobody else. It listens on
// loopback alone, is entered once by a link that this command prints, and ends with the command.
// The reason is decision 0053 in docs/decisions/README.md.

import { randomBytes, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Database } from '../../server/db/database.ts';
import { parsed, usualOptions, wholeNumber } from '../command.ts';
import { acting, print, reading } from './operator.ts';
import { htmlOf, partsOf, style } from './page-html.ts';

const usage = `usage: npm run ops -- page [--port N] [--hours N] [--json]
  --port   on this port of 127.0.0.1; default: a free one
  --hours  ends by itself after so long, 1 to 12; default 1
Prints a link that opens the page once, within 5 minutes, in one browser. From afar: ssh -L. It only
shows: halts, chains, swaps near their deadlines, failing webhooks, the keeper, today in numbers and
what operators did. Its connection to the database may not write. Exit status: 0 ended, 1 refused, 2
not understood. Settings as for npm start: DATABASE_URL, or PARLEY_HOME of a running market.`;

const linkMs = 300_000;
const hourMs = 3_600_000;
const mostHours = 12;
const tokenBytes = 32;
/** One operator and their tabs: read once for all of them. */
const keptMs = 2_000;
const requestMs = 10_000;
const mostConnections = 20;

function understand(args: string[]) {
  const text = { type: 'string' } as const;
  const { values } = parsed({ args, options: { ...usualOptions, port: text, hours: text } });
  if (values.help === true) return null;
  const { port = '0', hours = '1', json = false } = values;
  return {
    port: wholeNumber('--port', port, { least: 0, most: 65_535 }),
    hours: wholeNumber('--hours', hours, { most: mostHours }),
    json,
  };
}

const headers = {
  'content-security-policy':
    "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; " +
    "frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
  'cache-control': 'no-store',
};

const newWord = () => randomBytes(tokenBytes).toString('base64url');

/** Two words of one length; compared without telling how far they are alike. */
function isSame(given: string, wanted: string): boolean {
  const one = Buffer.from(given);
  const other = Buffer.from(wanted);
  return one.length === other.length && timingSafeEqual(one, other);
}

const cookie = 'parley_ops';

/**
 * Answers by path; `link` is good once. A browser sends a cookie of 127.0.0.1 to every port of it.
 * So the page is at a path that nobody else knows, and servers of other users see no cookie.
 */
function pageOf(read: () => Promise<string>, link: string, now: () => number = Date.now) {
  const until = now() + linkMs;
  let isUsed = false;
  const session = newWord();
  const place = `/${newWord()}/`;
  const isIn = ({ headers: { cookie: given = '' } }: IncomingMessage) =>
    given.split('; ').some((each) => isSame(each, `${cookie}=${session}`));
  return async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const say = (status: number, text: string, more: Readonly<Record<string, string>> = {}) => {
      response.writeHead(status, { ...headers, 'content-type': 'text/plain', ...more }).end(text);
    };
    const { method = '', url = '' } = request;
    const { localPort } = request.socket;
    // An attacker with a name that leads to loopback would else read it in this operator's browser.
    const hosts = [`127.0.0.1:${localPort}`, `localhost:${localPort}`];
    if (!hosts.includes(request.headers.host ?? '')) return say(421, 'not this host\n');
    if (method !== 'GET') return say(405, 'the page only shows\n', { allow: 'GET' });
    if (url === `${place}style.css`) return say(200, style, { 'content-type': 'text/css' });
    if (url.startsWith('/in/')) {
      if (isUsed || now() > until || !isSame(url.slice('/in/'.length), link)) {
        return say(403, 'this link was used, is too old, or is none: start the command again\n');
      }
      isUsed = true;
      const kept = `${cookie}=${session}; Path=${place}; HttpOnly; SameSite=Strict`;
      return say(303, '', { location: place, 'set-cookie': kept });
    }
    if (!isIn(request)) return say(403, 'open the link that the command printed\n');
    if (url !== place) return say(404, 'there is nothing here\n');
    const html = await read().catch((error: unknown) => error as Error);
    if (html instanceof Error) return say(503, 'the database does not answer; try again\n');
    say(200, html, { 'content-type': 'text/html; charset=utf-8', refresh: '30' });
  };
}

/** The page, at most every two seconds anew. */
function readerOf(db: Database): () => Promise<string> {
  let at = Number.NEGATIVE_INFINITY;
  let kept = Promise.resolve('');
  return () => {
    if (performance.now() - at > keptMs) {
      at = performance.now();
      kept = partsOf(db).then((parts) => htmlOf(parts));
      kept.catch(() => {
        at = Number.NEGATIVE_INFINITY;
      });
    }
    return kept;
  };
}

async function run({ port, hours, json }: NonNullable<ReturnType<typeof understand>>) {
  await acting({ command: 'page', arguments: { hours } }, async () => {
    return { result: undefined, changed: true, facts: {} };
  });
  await reading(async (db) => {
    const link = newWord();
    const answer = pageOf(readerOf(db), link);
    const server = createServer({ requestTimeout: requestMs }, (request, response) => {
      void answer(request, response);
    });
    server.maxConnections = mostConnections;
    await new Promise<void>((resolve, reject) => {
      server.on('error', reject);
      server.listen(port, '127.0.0.1', resolve);
    });
    const { port: own } = server.address() as AddressInfo;
    const url = `http://127.0.0.1:${own}/in/${link}`;
    print(json ? JSON.stringify({ url }) : `open once, within 5 minutes: ${url}`);
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, hours * hourMs);
      for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve());
      server.once('close', () => clearTimeout(timer));
    });
    server.close();
    server.closeAllConnections();
  });
  return 0;
}

export const command = { usage, understand, run };
