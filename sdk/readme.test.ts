// The example of README.md, run by its own command against a market of its own.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import test from 'node:test';
import { pathToFileURL } from 'node:url';
import { ownMarket } from '../scripts/demo/market.ts';

const root = join(import.meta.dirname, '..');
const limitMs = 90_000;

/** In the shell of a newcomer, who has whatever Node the machine has. */
function run(command: string, env: Record<string, string>) {
  const own = join('node_modules', '.bin');
  const PATH = (process.env.PATH ?? '').split(delimiter).filter((each) => !each.endsWith(own));
  const child = spawn('bash', ['-c', command], {
    cwd: root,
    env: { ...process.env, ...env, PATH: PATH.join(delimiter) },
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
  const command = /^DEV=<control address> (.+) example\.ts$/m.exec(readme)?.[1] ?? '';
  // npm 10 links no `node` into node_modules/.bin, so `npx node` would be the machine's own.
  assert.equal(command, 'npm run -s node --');
  const dir = await mkdtemp(join(tmpdir(), 'parley-readme-'));
  const market = await ownMarket();
  try {
    const file = join(dir, 'example.ts');
    const base = pathToFileURL(`${root}/`).href;
    // npm runs it in the repository, which no test writes to.
    const placed = example
      .replaceAll(/(?<=from ')\.\//g, base)
      .replace('.parley/example/', `${dir}/`);
    await writeFile(file, placed);
    const { code, said } = await run(`${command} ${file}`, { URL: market.url, DEV: market.dev });
    assert.equal(code, 0, said);
    assert.match(said, /received and received\n$/);
  } finally {
    await market.stop();
    await rm(dir, { recursive: true, force: true });
  }
});
