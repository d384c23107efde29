// The screen describes webhooks exactly as the market sends and signs them.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
import { webhookTopics } from '@parley/core/events.ts';
import { webhookEvents as sent } from '@parley/market/edge/schemas/webhook.ts';
import { signatureOf } from '@parley/market/webhooks/sign.ts';
import { pythonSnippet } from './snippet.ts';

test('the events that can be chosen are those that are sent', () => {
  const { ping: _, ...events } = sent;
  assert.deepEqual([...webhookTopics], Object.keys(events));
});

test('the Python snippet takes a delivery of ours, and none that is altered or old', () => {
  const secret = 'whsec_abc';
  const body = '{"type":"ping"}';
  const now = Math.floor(Date.now() / 1_000);
  const verify = (timestamp: number, given: string) => {
    const signature = signatureOf(secret, String(timestamp), body);
    const headers = JSON.stringify({
      'x-parley-timestamp': String(timestamp),
      'x-parley-signature': signature,
    });
    const call = `
import sys
try:
    print(verify("${secret}", ${headers}, b'${given}')["type"])
except ValueError as error:
    print(error)`;
    return execFileSync('python3', ['-c', pythonSnippet('parley') + call])
      .toString()
      .trim();
  };
  assert.equal(verify(now, body), 'ping');
  assert.equal(verify(now, '{"type":"pong"}'), 'not signed with this secret');
  assert.equal(verify(now - 301, body), 'not of the last five minutes');
});
