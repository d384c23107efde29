// A page's exchange with a node of another origin, in a real Chromium.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { serveBundled } from '@parley/verify/test/support/bundled-page.ts';
import { sharedBrowser } from '@parley/verify/test/support/chromium.ts';
import type { Browser } from 'playwright-core';
import { serverOf, within } from '../testing/nodes.ts';
import type { exchangeWith } from './transport-fetch.ts';

const opened = sharedBrowser();
let browser: Browser;
before(async () => {
  browser = await opened();
});

test('a node is asked once whether the page may ask it, however many questions follow', async (t) => {
  const asked: string[] = [];
  const url = await within(
    t,
    serverOf((request, reply) => {
      asked.push(request.method ?? '');
      reply.setHeader('access-control-allow-origin', '*');
      reply.setHeader('access-control-allow-headers', 'content-type');
      reply.setHeader('access-control-max-age', '600');
      reply.end('{}');
    }),
  );
  const site = await serveBundled(join(import.meta.dirname, 'transport-fetch.ts'));
  t.after(() => site.stop());
  const page = await browser.newPage();
  t.after(() => page.close());
  await page.goto(site.url);
  await page.evaluate(
    async ([node, code]) => {
      const { exchangeWith: ask }: { exchangeWith: typeof exchangeWith } = await import(code);
      const headers = { 'content-type': 'application/json' };
      const request = { url: node, method: 'POST', headers, body: '{}' } as const;
      const never = new AbortController().signal;
      for (let n = 0; n < 3; n += 1) await ask(request, { timeMs: 5_000, bytes: 10 }, never);
    },
    [url, `${site.url}page.js`] as const,
  );
  assert.deepEqual(asked, ['OPTIONS', 'POST', 'POST', 'POST']);
});
