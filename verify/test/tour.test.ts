// The README's tour, run whole: a newcomer's commands work.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { sharedMarket } from './support/market.ts';

const opened = sharedMarket();
const root = fileURLToPath(new URL('../..', import.meta.url));

/**
 * npm as the tour uses it, forty times: npm starts its script more slowly than the script runs. What
 * a wallet has shown is kept, as each request asks for its key again.
 */
async function quickNpm(home: string): Promise<string> {
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const file = join(home, 'bin', 'npm');
  await mkdir(dirname(file), { recursive: true });
  const isWallet = `[ "$1 $2 $3 $4" = 'run -s wallet --' ] && shift 4`;
  const text = `#!/bin/sh
${isWallet}
[ "$1" = show ] || ${scripts.wallet} "$@"
[ -e "$2.$3" ] || (${scripts.wallet} "$@") > "$2.$3" || exit
cat "$2.$3"
`;
  await writeFile(file, text, { mode: 0o755 });
  return [dirname(file), process.env.PATH].join(delimiter);
}

test('the tour by curl settles a bitcoin trade for dollars', async () => {
  const { home } = await opened();
  const tour = spawn('bash', ['docs/tour/tour.sh'], {
    cwd: root,
    env: { ...process.env, PATH: await quickNpm(home), PARLEY_HOME: home, READY: '', WALLETS: '' },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: 180_000,
  });
  let output = '';
  for (const stream of [tour.stdout, tour.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      output += chunk;
    });
  }
  const [code] = await once(tour, 'close');
  assert.equal(code, 0, output);
  assert.match(output, /status: counterparty_claimed\s*$/);
});

test('the README shows the tour as it is run', () => {
  const readme = readFileSync(join(root, 'README.md'), 'utf8');
  const pieces = readFileSync(join(root, 'docs/tour/tour.sh'), 'utf8').split(/^# --- \d+: .*$/m);
  assert.ok(pieces.length > 8);
  for (const piece of pieces.slice(1)) assert.ok(readme.includes(piece.trim()), piece);
});
