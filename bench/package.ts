// The weight of the SDK as a package: to fetch, on the disk, and in a page that uses a part of it.

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { type Packed, pack } from '@parley/scripts/tarballs.ts';
import { bundled } from '@parley/verify/test/support/bundler.ts';
import { installOffline } from '@parley/verify/test/support/installed.ts';
import { bars } from './bars.ts';
import { atMost, type Row } from './report.ts';

/** Minified by esbuild; `most` gzipped, in bytes. */
const pages = [
  {
    name: 'a page that only verifies',
    program: `export { verifySwap } from '@parley/sdk/verify';
      export { verifyMaterial } from '@parley/sdk/verify-material';`,
    most: bars.package.verifyingBytes,
  },
  {
    name: 'a page that only asks the market',
    program: "export { parleyClient } from '@parley/sdk/client';",
    most: bars.package.askingBytes,
  },
  {
    name: 'a page that settles on EVM',
    program: `export { settle } from '@parley/sdk/settle';
      export { evmSource } from '@parley/sdk/sources/evm';`,
    most: bars.package.settlingBytes,
  },
] as const;

export async function benchPackage(): Promise<Row[]> {
  const folder = await mkdtemp(join(tmpdir(), 'parley-bench-package-'));
  try {
    const made = await pack('sdk', folder);
    await installOffline(made, folder);
    await writeFile(join(folder, 'package.json'), '{ "type": "module", "private": true }');
    return await packageRows(made, folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** `folder`: where it is installed. */
export async function packageRows(made: readonly Packed[], folder: string): Promise<Row[]> {
  const sum = (of: (each: Packed) => number) => made.reduce((all, each) => all + of(each), 0);
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
      bars.package.tarballBytes,
      'B',
    ),
    row(
      'unpacked',
      sum((each) => each.unpackedBytes),
      bars.package.unpackedBytes,
      'B',
    ),
    row(
      'files',
      sum((each) => each.files.length),
      bars.package.files,
      '',
    ),
    ...inPages,
  ];
}
