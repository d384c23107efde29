// What the SDK weighs as a package: to fetch, and on the disk.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pack } from '../scripts/package-build.ts';
import { atMost, type Row } from './report.ts';

const mostBytes = 440 * 1_024;
const mostUnpackedBytes = 1_550 * 1_024;
const mostFiles = 360;

export async function benchPackage(): Promise<Row[]> {
  const folder = await mkdtemp(join(tmpdir(), 'parley-bench-package-'));
  try {
    const { bytes, unpackedBytes, files } = await pack('sdk', folder);
    const row = (name: string, value: number, limit: number, unit: string) =>
      atMost(`package: ${name}`, { value, unit, limit, bar: 1 }, 'its budget');
    return [
      row('tarball', bytes, mostBytes, 'B'),
      row('unpacked', unpackedBytes, mostUnpackedBytes, 'B'),
      row('files', files.length, mostFiles, ''),
    ];
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
