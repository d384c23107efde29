// Writes packages/core/confusables.json from Unicode's confusables.txt (UTS #39), which is published at
// https://www.unicode.org/Public/security/ and comes with ICU's sources (data/unidata):
//
//   npm run -s node -- scripts/confusables.ts confusables.txt

import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { isEntry } from '@parley/contracts/evm/entry.ts';

const target = fileURLToPath(new URL('../packages/core/confusables.json', import.meta.url));
const columns = 98;

export function latinLookAlikes(confusables: string): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const line of confusables.split('\n')) {
    const [from, to] = line.replace(/#.*$/, '').split(';');
    if (from === undefined || to === undefined) continue;
    const character = charactersOf(from);
    const latin = charactersOf(to).normalize('NFKD').replace(/\p{M}/gu, '');
    const plain = character.normalize('NFKD').replace(/\p{M}/gu, '');
    // A pair that compatibility decomposition gives anyway takes no place in the table.
    const isGiven = unite(plain) === unite(latin);
    if (isGiven || /^[\0-\x7f]*$/.test(character)) continue;
    if (!/^[\x21-\x7e]+$/.test(latin) || !/[A-Za-z0-9:]/.test(latin)) continue;
    // An apostrophe or brackets around a letter hide it from nobody.
    const drawn = latin.replaceAll('rn', 'm').replace(/[^A-Za-z0-9](?=.)|(?<=.)[^A-Za-z0-9]/g, '');
    found.set(drawn, [...(found.get(drawn) ?? []), from.trim().toLowerCase()]);
  }
  return new Map([...found].sort(([one], [other]) => (one < other ? -1 : 1)));
}

function charactersOf(codes: string): string {
  const each = codes.trim().split(/\s+/);
  return String.fromCodePoint(...each.map((code) => Number.parseInt(code, 16)));
}

function unite(text: string): string {
  return text.replaceAll('m', 'rn').replace(/[1I|]/g, 'l').replaceAll('0', 'O').toLowerCase();
}

/** A line: the Latin text that characters are drawn like, without marks, and their codes in hex. */
export function dataOf(confusables: string): string {
  const [, version] = /^# Version: (\S+)/m.exec(confusables) ?? [];
  const digest = createHash('sha256').update(confusables).digest('hex');
  const lines = [...latinLookAlikes(confusables)].flatMap(([latin, codes]) =>
    wrapped(latin, codes),
  );
  const source = `Written by scripts/confusables.ts from confusables.txt of Unicode ${version}, sha256`;
  const owner = 'Copyright Unicode, Inc. SPDX-License-Identifier: Unicode-3.0';
  const licence = `${owner}, see docs/licences/unicode-3.0.txt`;
  return `${JSON.stringify({ source: `${source} ${digest}`, licence, lines }, null, 2)}\n`;
}

function wrapped(latin: string, codes: readonly string[]): string[] {
  const lines: string[] = [];
  let line = latin;
  for (const code of codes) {
    if (line.length + code.length >= columns) {
      lines.push(line);
      line = latin;
    }
    line += ` ${code}`;
  }
  return [...lines, line];
}

if (isEntry(import.meta.url)) {
  const [file] = process.argv.slice(2);
  if (file === undefined) throw new Error('name the file confusables.txt');
  writeFileSync(target, dataOf(readFileSync(file, 'utf8')));
}
