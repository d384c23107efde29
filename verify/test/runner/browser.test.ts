// The processes of a run share a Chromium, and are not left without one when it ends.

import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { BrowserServer } from 'playwright-core';
import { ask } from '../support/asking.ts';
import { serveChromium } from './browser.ts';

test('all are told one address; another once it has ended, and an error where none starts', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'parley-browser-'));
  const launched: EventEmitter[] = [];
  const ended: number[] = [];
  const chromium = await serveChromium(join(folder, 'socket'), async () => {
    const at = launched.push(new EventEmitter());
    if (at === 2) throw new Error('it does not start');
    const own = { wsEndpoint: () => `ws://${at}`, close: async () => void ended.push(at) };
    return Object.assign(launched[at - 1] ?? assert.fail(), own) as unknown as BrowserServer;
  });
  t.after(async () => {
    await chromium.stop();
    await rm(folder, { recursive: true });
  });
  const asked = async () => (await ask(chromium.path, 'no browser')).answer;
  assert.deepEqual(await Promise.all([asked(), asked()]), ['ws://1', 'ws://1']);
  launched[0]?.emit('close');
  t.mock.method(console, 'error', () => {});
  await assert.rejects(asked(), /no browser/);
  assert.equal(await asked(), 'ws://3');
  await chromium.stop();
  assert.deepEqual(ended, [3]);
});
