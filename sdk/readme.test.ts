// The example of README.md, run word for word against a market of its own.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import { pathToFileURL } from 'node:url';
import { ownMarket } from '../scripts/demo/market.ts';

const root = join(import.meta.dirname, '..');
const limitMs = 90_000;

function run(file: string, cwd: string, env: Record<string, string>) {
  const child = spawn(process.execPath, [file], {
    cwd,
    env: { ...process.env, ...env },
    timeout: limitMs,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      said += chunk.toString();
    });
  }
  return new Promise<{ code: number | null; said: string }>((resolve) => {
    child.once('close', (code) => resolve({ code, said }));
  });
}

test('the example of the README runs as it stands, and both are paid', {
  timeout: 200_000,
}, async () => {
  const readme = await readFile(join(import.meta.dirname, 'README.md'), 'utf8');
  const example = /```ts\n([\s\S]*?)```/.exec(readme)?.[1] ?? '';
  assert.match(example, /await settle|settle\(/);
  const dir = await mkdtemp(join(tmpdir(), 'parley-readme-'));
  const market = await ownMarket();
  try {
    const file = join(dir, 'example.ts');
    const base = pathToFileURL(`${root}/`).href;
    const placed = example.replaceAll(/(?<=from ')\.\//g, base);
    await writeFile(file, placed);
    const { code, said } = await run(file, dir, { URL: market.url, DEV: market.dev });
    assert.equal(code, 0, said);
    assert.match(said, /received and received\n$/);
  } finally {
    await market.stop();
    await rm(dir, { recursive: true, force: true });
  }
});
