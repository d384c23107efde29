// The documents against the code: every warning, event and setting is explained, and no other. Links
// lead somewhere.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, normalize } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { swapStatuses } from '@parley/core/status.ts';
import { webhookEvents } from '@parley/market/edge/schemas/webhook.ts';
import { secretSettings } from '@parley/market/settings/secrets.ts';
import { generatedPages } from '@parley/scripts/site/pages.ts';
import { filesOf } from '@parley/scripts/sources.ts';

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

test('docs/lifecycle.md explains every warning', () => {
  const [, codes = ''] =
    /readonly code: ('[^;]+);/.exec(read('packages/chains/interface/gas.ts')) ?? [];
  const wanted = [...codes.matchAll(/'(\w+)'/g)].map(([, code]) => code);
  const told = [...read('docs/lifecycle.md').matchAll(/^\| `(\w+)` \|/gm)].map(([, code]) => code);
  assert.ok(wanted.length > 1);
  for (const code of wanted) assert.ok(told.includes(code), `${code} is not in docs/lifecycle.md`);
});

test('docs/webhooks.md lists every event with its fields and statuses, and no other', () => {
  const common = ['type', 'deliveryId', 'createdAt'];
  type Schema = { readonly const?: string; readonly enum?: readonly string[] };
  const statusesOf = (schema: Schema) => schema.enum ?? [schema.const ?? ''];
  const wanted = Object.entries(webhookEvents).map(([type, { body }]) => {
    const fields = Object.keys(body.properties).filter((name) => !common.includes(name));
    const { status } = body.properties as Readonly<Record<string, Schema>>;
    const all = status === undefined ? [] : statusesOf(status);
    return [type, fields, all.length === swapStatuses.length ? ['any'] : all];
  });
  const rows = read('docs/webhooks.md').matchAll(/^\| `([a-z_.]+)` \| .+ \| (`.+?) \|$/gm);
  const told = [...rows].map(([, type, cell = '']) => {
    const [fields = '', statuses = ''] = cell.split(': ');
    const named = (text: string) => [...text.matchAll(/`(\w+)`/g)].map(([, name]) => name);
    return [type, named(fields), statuses.startsWith('any') ? ['any'] : named(statuses)];
  });
  assert.deepEqual(told, wanted);
});

test('docs/settings.md names every setting that the server reads, and no other', () => {
  const names = (text: string) =>
    new Set(text.match(/\b(PARLEY_[A-Z_]+|(DATABASE|DATABASE_READ|VALKEY)_URL(_FILE)?)\b/g));
  const readers = [
    'apps/market/settings/config.ts',
    'apps/market/settings/people.ts',
    'apps/market/settings/listing.ts',
    'apps/market/settings/secrets.ts',
    'apps/market/ports/keyring.ts',
  ];
  const sources = [...readers, 'dev/devnet/devnet.ts', 'apps/market/ops/operator.ts']
    .map(read)
    .join('\n');
  const settings = names(sources);
  for (const each of secretSettings) settings.add(`${each}_FILE`);
  const told = names(read('docs/settings.md'));
  for (const name of settings) assert.ok(told.has(name), `${name} is not in docs/settings.md`);
  for (const name of told) assert.ok(settings.has(name), `${name} is not read any more`);
});

const root = fileURLToPath(new URL('../..', import.meta.url));

test('docs/decisions/README.md has a row for each number, in order, and links each page', () => {
  const table = read('docs/decisions/README.md').split('\n');
  const rows = table.filter((line) => /^\| \[?\d/.test(line)).map((line) => line.split(' | '));
  const numbers: string[] = [];
  const linked: string[] = [];
  for (const [first = '', decision = '', reason = '', where = '', ...more] of rows) {
    const [, number = '', page] = /^\| \[?(\d{4})(?:\]\((.+)\))?$/.exec(first) ?? [];
    assert.notEqual(number, '', first);
    numbers.push(number);
    if (page !== undefined) linked.push(page);
    assert.ok(page === undefined || page.startsWith(`${number}-`), `${number} has another page`);
    assert.match(`${decision} ${reason}`, /^[A-Z`].+\. .+\.$/, number);
    assert.deepEqual(more, [], `${number} has other columns`);
    const places = [...where.matchAll(/`([^`]+)`/g)].map(([, place = '']) => place);
    assert.ok(places.length > 0, `${number} says no place`);
    for (const place of places) assert.ok(existsSync(root + place), `${number}: no ${place}`);
  }
  assert.deepEqual(numbers, [...new Set(numbers)].sort());
  const kept = readdirSync(`${root}docs/decisions`).filter((name) => name !== 'README.md');
  assert.deepEqual(linked, kept.sort());
});

const pages = filesOf('**/*.md');
/** Pages that the site makes of the sources. */
const made = new Set(Object.keys(generatedPages()).map((name) => `docs/${name}`));

/** The anchors of a page as GitHub makes them of its headings. */
const anchors = (path: string): string[] =>
  [...read(path).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );

test('every link between the documents leads to a file and a heading that are there', () => {
  const wrong: string[] = [];
  for (const page of pages) {
    const text = read(page).replace(/```[\s\S]*?```/g, '');
    for (const [, target = ''] of text.matchAll(/\]\(([^)\s]+)\)/g)) {
      if (/^[a-z]+:/.test(target)) continue;
      const [file = '', anchor] = target.split('#');
      const path = file === '' ? page : normalize(`${dirname(page)}/${file}`);
      const isThere = existsSync(root + path) || made.has(path);
      const isHeading = anchor === undefined || (isThere && anchors(path).includes(anchor));
      if (!isThere || !isHeading) wrong.push(`${page}: ${target}`);
    }
  }
  assert.deepEqual(wrong, []);
});

test('every picture is what its text says (node docs/diagrams/draw.mjs redraws it)', () => {
  execFileSync(process.execPath, ['docs/diagrams/draw.mjs', '--check'], { cwd: root });
});
