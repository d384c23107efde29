// Who may ask the control server: programs of this machine, and no page in a browser.
import assert from 'node:assert/strict';
import { request } from 'node:http';
import { test } from 'node:test';
import { type ControlParts, listenForControl } from './control.ts';

// Refused before any of it is asked.
const parts = { chains: new Map() } as unknown as ControlParts;

test('a page of another origin, and any name but this machine, are refused', async () => {
  const control = await listenForControl(parts, '127.0.0.1', 0);
  const own = new URL('/mine', control.url);
  const statusOf = (headers: Record<string, string>) =>
    new Promise<number | undefined>((resolve, reject) => {
      const sending = request(own, { method: 'POST', headers }, (response) => {
        response.resume();
        resolve(response.statusCode);
      });
      sending.once('error', reject);
      sending.end('{"chain":"evm-dev","blocks":0}');
    });
  const { host, origin } = own;
  for (const headers of [
    { host: 'evil.example' },
    { host: `evil.example:${own.port}` },
    { host, origin: 'https://evil.example' },
    { host, origin: 'null' },
    { host, 'sec-fetch-site': 'cross-site' },
    { host, 'sec-fetch-site': 'same-site' },
  ]) {
    assert.equal(await statusOf(headers), 403, JSON.stringify(headers));
  }
  for (const headers of [{ host: `localhost:${own.port}` }, { host, origin }]) {
    assert.equal(await statusOf(headers), 400, 'no blocks are no number of them');
  }
  await control.close();
});
