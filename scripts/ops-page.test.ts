// The operator's page as a program: its visitors, the requests it refuses, and that it only shows.

import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { request } from 'node:http';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, test } from 'node:test';
import { haltChain } from '../server/market/halts.ts';
import { type TestMarket, testMarket } from '../test/support/trading.ts';
import { escaped, htmlOf } from './ops/page-html.ts';

let market: TestMarket;
let page: ChildProcess;
let link: URL;

before(async () => {
  market = await testMarket();
  const halt = { chain: 'evm-dev', reason: '<b>its nodes & we</b>', at: new Date() };
  await market.db.transaction((tx) => haltChain(tx, halt));
  const program = [join(import.meta.dirname, 'ops.ts'), 'page', '--json'];
  const env = { ...process.env, DATABASE_URL: market.url, PARLEY_OPERATOR: 'ada' };
  page = spawn(process.execPath, program, { env, stdio: ['ignore', 'pipe', 'inherit'] });
  const [line] = await once(createInterface({ input: page.stdout! }), 'line');
  link = new URL(JSON.parse(line).url);
});
after(async () => {
  page.kill('SIGKILL');
  await market.close();
});

async function ask(path: string, headers: Record<string, string> = {}, method = 'GET') {
  const sent = request({ host: '127.0.0.1', port: link.port, path, method, headers }).end();
  const [answer] = await once(sent, 'response');
  let body = '';
  for await (const part of answer) body += part;
  return { status: answer.statusCode as number, headers: answer.headers, body };
}

test('its link opens it once; without its cookie nothing is shown, and nothing is ever changed', async () => {
  assert.equal(link.hostname, '127.0.0.1');
  assert.equal((await ask('/')).status, 403);
  assert.equal((await ask('/in/wrong')).status, 403);
  assert.equal((await ask(link.pathname, { host: `evil.example:${link.port}` })).status, 421);
  const opened = await ask(link.pathname);
  const place = opened.headers.location!;
  assert.equal(opened.status, 303);
  assert.match(place, /^\/[\w-]{43}\/$/);
  const [set = ''] = opened.headers['set-cookie'] ?? [];
  // A browser shows it to no server at another port of this host: those servers do not learn the
  // path.
  assert.equal(
    set.replace(/=[\w-]{43};/, '=;'),
    `parley_ops=; Path=${place}; HttpOnly; SameSite=Strict`,
  );
  assert.equal((await ask(link.pathname)).status, 403, 'once');
  const cookie = set.split(';')[0]!;
  assert.equal((await ask(place, { cookie: `${cookie}x` })).status, 403);
  assert.equal((await ask(place, { cookie }, 'POST')).status, 405);
  assert.equal((await ask('/', { cookie })).status, 404);
  assert.equal((await ask(place)).status, 403);
  const shown = await ask(place, { cookie });
  assert.equal(shown.status, 200);
  assert.match(
    shown.headers['content-security-policy'] as string,
    /^default-src 'none'; style-src/,
  );
  assert.equal(shown.headers['cache-control'], 'no-store');
  assert.match(shown.body, /chain evm-dev since .*: &lt;b&gt;its nodes &amp; we&lt;\/b&gt;/);
  assert.match(shown.body, /ada \(\w+@.*\) {2}page \(hours 1\): done/);
  assert.doesNotMatch(shown.body, /<script|<b>|style=/);
});

test('that it was opened is all that it wrote, and it ends by a signal with 0', async () => {
  const [row] = await market.sql(`select count(*) as rows from operator_actions`);
  assert.equal(row.rows, 1);
  page.kill('SIGTERM');
  const [code] = await once(page, 'exit');
  assert.equal(code, 0);
});

test('what somebody wrote is text, and a part has 20 lines and how many more there are', () => {
  assert.equal(escaped(`<"'&>`), '&lt;&quot;&#39;&amp;&gt;');
  const linesOf = (count: number) => {
    const lines = Array.from({ length: count }, (_, at) => `<${at}>`);
    return /<pre>([\s\S]*)<\/pre>/.exec(htmlOf([{ title: 'Today', lines }]))?.[1]?.split('\n');
  };
  assert.deepEqual(linesOf(20)?.at(-1), '&lt;19&gt;');
  assert.deepEqual(linesOf(22)?.slice(-2), ['&lt;19&gt;', 'and 2 more']);
});
