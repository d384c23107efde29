// What `npm run soak` covers, without running it.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

type Part = Readonly<Record<'name' | 'command' | 'what', string>> & { readonly minutes: number };

const root = join(import.meta.dirname, '../..');
const listed = JSON.parse(
  execFileSync(process.execPath, [join(root, 'test/runner/soak.ts'), '--list'], {
    encoding: 'utf8',
  }),
) as { parts: readonly Part[]; properties: readonly string[] };

test('properties of every room are run longer', () => {
  for (const room of ['chains', 'contracts/solana', 'core', 'sdk', 'server', 'test/feed-market']) {
    assert.ok(
      listed.properties.some((file) => file.startsWith(room)),
      room,
    );
  }
});

test('docs/tests.md has every part with its command, its time and what it does', () => {
  const text = readFileSync(join(root, 'docs/tests.md'), 'utf8');
  const rows = [...text.matchAll(/^\| `(npm run soak -- .+)` \| (\d+) \| (.+) \|$/gm)];
  assert.deepEqual(
    rows.map(([, command, minutes, what]) => ({ command, minutes: Number(minutes), what })),
    listed.parts.map(({ command, minutes, what }) => ({ command, minutes, what })),
  );
});
