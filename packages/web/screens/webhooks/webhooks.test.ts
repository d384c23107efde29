// The screen describes webhooks exactly as the market sends and signs them.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { webhookTopics } from '@parley/core/events.ts';
import { webhookEvents as sent } from '@parley/market/edge/schemas/webhook.ts';
import { signatureOf } from '@parley/market/webhooks/sign.ts';
import { languages, type SnippetLanguage, snippets } from './snippet.ts';

test('the events that can be chosen are those that are sent', () => {
  const { ping: _, ...events } = sent;
  assert.deepEqual([...webhookTopics], Object.keys(events));
});

const secret = 'whsec_abc';

/** Each prints the type of the delivery, or why it is refused. */
const calls: Readonly<Record<SnippetLanguage, (headers: string, given: string) => string[]>> = {
  python: (headers, given) => [
    'python3',
    '-c',
    `${snippets.python('parley')}
try:
    print(verify("${secret}", ${headers}, b'${given}')["type"])
except ValueError as error:
    print(error)`,
  ],
  node: (headers, given) => [
    process.execPath,
    '--input-type=module',
    '-e',
    `${snippets.node('parley')}
try {
  console.log(verify('${secret}', ${headers}, Buffer.from('${given}')).type);
} catch (error) {
  console.log(error.message);
}`,
  ],
};

for (const language of languages) {
  test(`the snippet for ${language} runs in an empty folder, and takes a delivery of ours alone`, async (t) => {
    const cwd = await mkdtemp(join(tmpdir(), 'parley-snippet-'));
    t.after(() => rm(cwd, { recursive: true }));
    const body = '{"type":"ping"}';
    const now = Math.floor(Date.now() / 1_000);
    const said = (headers: object, given = body) => {
      const [program = '', ...args] = calls[language](JSON.stringify(headers), given);
      return execFileSync(program, args, { cwd, env: { PATH: process.env.PATH } })
        .toString()
        .trim();
    };
    const signed = (timestamp: number) => ({
      'x-parley-timestamp': String(timestamp),
      'x-parley-signature': signatureOf(secret, String(timestamp), body),
    });
    assert.equal(said(signed(now)), 'ping');
    const { 'x-parley-signature': _, ...unsigned } = signed(now);
    assert.equal(said(unsigned), 'not signed with this secret');
    assert.equal(said(signed(now), '{"type":"pong"}'), 'not signed with this secret');
    assert.equal(said(signed(now - 301)), 'not of the last five minutes');
    assert.equal(said({}), 'not of the last five minutes');
  });
}

test('the documents have the snippet for Node', () => {
  const text = readFileSync(new URL('../../../../docs/webhooks.md', import.meta.url), 'utf8');
  assert.ok(text.includes(`\`\`\`js\n${snippets.node('parley')}\`\`\``));
});
