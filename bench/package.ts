// The weight of the SDK as a package: to fetch, on the disk, and in a page that uses a part of it.

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { type Packed, pack } from '@parley/scripts/tarballs.ts';
import { bundled } from '@parley/verify/test/support/bundler.ts';
import { installOffline } from '@parley/verify/test/support/installed.ts';
import { atMost, type Row } from './report.ts';

const mostBytes = 440 * 1_024;
const mostUnpackedBytes = 1_550 * 1_024;
const mostFiles = 360;

/** Minified by esbuild; `most` gzipped, in bytes. */
const pages = [
  {
    name: 'a page that only verifies',
    program: `export { verifySwap } from '@parley/sdk/verify';
      export { verifyMaterial } from '@parley/sdk/verify-material';`,
    most: 72 * 1_024,
  },
  {
    name: 'a page that only asks the market',
    program: "export { parleyClient } from '@parley/sdk/client';",
    most: 3 * 1_024,
  },
  {
    name: 'a page that settles on EVM',
    program: `export { settle } from '@parley/sdk/settle';
      export { evmSource } from '@parley/sdk/sources/evm';`,
    most: 190 * 1_024,
  },
] as const;

export async function benchPackage(): Promise<Row[]> {
  const folder = await mkdtemp(join(tmpdir(), 'parley-bench-package-'));
  try {
    const made = await pack('sdk', folder);
    await installOffline(made, folder);
    const sum = (of: (each: Packed) => number) => made.reduce((all, each) => all + of(each), 0);
    await writeFile(join(folder, 'package.json'), '{ "type": "module", "private": true }');
    const row = (name: string, value: number, limit: number, unit: string) =>
      atMost(`package: ${name}`, { value, unit, limit, bar: 1 }, 'its budget');
    const inPages: Row[] = [];
    for (const { name, program, most } of pages) {
      const { code } = await bundled(folder, program);
      inPages.push(row(`${name}, gzipped`, gzipSync(code).length, most, 'B'));
    }
    return [
      row(
        'tarballs',
        sum((each) => each.bytes),
        mostBytes,
        'B',
      ),
      row(
        'unpacked',
        sum((each) => each.unpackedBytes),
        mostUnpackedBytes,
        'B',
      ),
      row(
        'files',
        sum((each) => each.files.length),
        mostFiles,
        '',
      ),
      ...inPages,
    ];
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
