// The SDK in a browser: nothing of Node in what a bundler takes, and its size.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { brotliCompressSync } from 'node:zlib';
import { type Bundle, bundle, sdkEntries } from './support/bundle.ts';

/** What needs a disk. Everything else runs in a page. */
const ofNode = ['stores/file'];
/** Of all entries together, all four families included, with Brotli. */
const mostKiB = 320;

/** Most chunks are of many entries, and to compress them all takes a second. */
const bytes = new Map<string, number>();
function bytesOf({ fileName, code }: Bundle['chunks'][number]): number {
  const known = bytes.get(fileName) ?? brotliCompressSync(code).length;
  bytes.set(fileName, known);
  return known;
}
const kib = (chunks: Bundle['chunks']) =>
  chunks.reduce((sum, chunk) => sum + bytesOf(chunk), 0) / 1_024;

/** An entry with all that it needs before it runs. */
function withImports({ chunks }: Bundle, name: string): Bundle['chunks'] {
  const byFile = new Map(chunks.map((each) => [each.fileName, each]));
  const needed = new Set(chunks.filter((each) => each.isEntry && each.name === name));
  for (const { imports } of needed) {
    for (const file of imports) {
      const chunk = byFile.get(file);
      if (chunk !== undefined) needed.add(chunk);
    }
  }
  return [...needed];
}

/** What pages do not have. Where a global is only asked for with typeof, nothing is missing. */
const missingInPages =
  /(?<![.\w$])(?:Buffer[.([]|process\.\w|require\(|__dirname|setImmediate\()|\.unref\(\)/g;

test('every entry but the file store is bundled without a module of Node, within its size', async (t) => {
  const entries = sdkEntries(...ofNode);
  assert.ok(Object.keys(entries).length >= 23);
  const made = await bundle(entries);
  assert.deepEqual(made.ofNode, []);
  for (const { code, fileName } of made.chunks) {
    const found = [...code.matchAll(missingInPages)].map(({ index }) =>
      code.slice(Math.max(0, index - 40), index + 40),
    );
    const unguarded = found.filter((each) => !/typeof setImmediate/.test(each));
    assert.deepEqual(unguarded, [], fileName);
  }
  const modules = made.chunks.flatMap((each) => Object.keys(each.modules));
  const ofTheMarket = /\/(?:inspect\.ts|token-trial|checks\/|gas-account|@ethereumjs)/;
  assert.deepEqual(
    modules.filter((each) => ofTheMarket.test(each)),
    [],
  );
  for (const name of Object.keys(entries)) {
    t.diagnostic(`${name}: ${kib(withImports(made, name)).toFixed(1)} KiB`);
  }
  const whole = kib(made.chunks);
  t.diagnostic(`all: ${whole.toFixed(1)} KiB`);
  assert.ok(whole < mostKiB, `${whole} KiB of script with Brotli`);
});

test('what a bundler would take from Node is found', async () => {
  const { ofNode: found } = await bundle({ file: 'sdk/stores/file.ts' });
  assert.ok(found.includes('node:path in sdk/stores/file.ts'), found.join());
});
