// The operator's page where `/metrics` is, behind the same guard and never on the public port. It
// needs no build of the app: the tokens and the font are read from where the app has them, and
// without them the page keeps its shape.

import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { nullIfMissing } from '@parley/host/missing-file.ts';
import type { PageAnswer, Pages } from '../ports/metrics-server.ts';
import { type CheckupDeps, createCheckup } from './checkup.ts';
import { page } from './page.ts';
import { createReading, type Needs } from './read.ts';
import { createTraffic, totalsOf } from './traffic.ts';

/** How often the counters of requests are read: a minute is then right to a sixth. */
const noteEveryMs = 10_000;

/** The page loads nothing from elsewhere, and no site may frame it. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "font-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');
const headers = {
  'content-security-policy': policy,
  'cache-control': 'no-store',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
};

const root = new URL('../../../', import.meta.url);
const here = new URL('./', import.meta.url);
const font = '@fontsource-variable/inter/files/inter-latin-wght-normal.woff2';
const files: Readonly<Record<string, readonly [from: URL, type: string]>> = {
  'page.css': [new URL('page.css', here), 'text/css; charset=utf-8'],
  'live.js': [new URL('live.js', here), 'text/javascript; charset=utf-8'],
  'tokens.css': [new URL('packages/web/style/tokens.css', root), 'text/css; charset=utf-8'],
  'font.css': [new URL('packages/web/style/font.css', root), 'text/css; charset=utf-8'],
  'icon.svg': [new URL('packages/web/public/icon.svg', root), 'image/svg+xml'],
  // As font.css names it.
  [font]: [new URL(`node_modules/${font}`, root), 'font/woff2'],
};

export type Operator = Pages & { stop(): Promise<void> };

/** `hasRequests`: the process answers the API. */
export function operatorPages(
  deps: Needs & CheckupDeps,
  refresh: () => Promise<void>,
  { hasRequests }: { readonly hasRequests: boolean },
): Operator {
  const checkup = createCheckup(deps);
  const { metrics } = deps;
  const traffic = createTraffic();
  const counter = metrics.registry.getSingleMetric(`${metrics.shortName}_http_requests_total`);
  const note = async () => {
    const { values = [] } = (await counter?.get()) ?? {};
    traffic.note(totalsOf(values), Date.now());
  };
  const noting = hasRequests ? setInterval(() => void note(), noteEveryMs).unref() : undefined;
  if (hasRequests) void note();
  const read = createReading(deps, {
    refresh,
    traffic: () => (hasRequests ? traffic.minutes(Date.now()) : null),
    look: () => checkup.latest(),
  });
  return {
    answer: async (path) => {
      if (path === '/operator') {
        if (hasRequests) await note();
        const { markup } = page(await read());
        return { type: 'text/html; charset=utf-8', body: markup, headers };
      }
      return path.startsWith('/operator/') ? fileAt(path.slice('/operator/'.length)) : null;
    },
    stop: async () => {
      clearInterval(noting);
      await checkup.stop();
    },
  };
}

async function fileAt(name: string): Promise<PageAnswer | null> {
  const [from, type] = (Object.hasOwn(files, name) ? files[name] : undefined) ?? [];
  if (from === undefined || type === undefined) return null;
  const body = await readFile(fileURLToPath(from)).catch(nullIfMissing);
  return body === null ? null : { type, body, headers };
}
