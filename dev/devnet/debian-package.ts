// A program of Debian's, fetched and checked by apt, unpacked and run in a private folder, no root.
import { execFile } from 'node:child_process';
import { constants, existsSync } from 'node:fs';
import { access, mkdir, mkdtemp, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { DevnetError } from '@parley/host/failure.ts';

const run = promisify(execFile);

const commandLimitMs = 120_000;
const outputLimitBytes = 32 * 1024 * 1024;

const releases = 'bullseye|bookworm|trixie|forky|duke|oldstable|stable|testing|unstable|sid';
const debianSuites = new RegExp(`^(${releases})(-updates|-backports)?$`);
/** The keyring comes from Debian's own package of its keys; without it apt goes by the keys that it
 * trusts. */
const keyring = '/usr/share/keyrings/debian-archive-keyring.gpg';

const architectures: Readonly<Record<string, { triplet: string; loader: string }>> = {
  x64: { triplet: 'x86_64-linux-gnu', loader: 'ld-linux-x86-64.so.2' },
  arm64: { triplet: 'aarch64-linux-gnu', loader: 'ld-linux-aarch64.so.1' },
};

export type DebianProgram = {
  /** Its file in usr/bin, or in usr/sbin. */
  readonly program: string;
  readonly folder?: 'sbin';
  /** The packages that hold it; the first names the folder it is kept in. */
  readonly packages: readonly string[];
  /** The wanted one last. Its C library comes along: the machine's own may be older. */
  readonly suites: readonly string[];
};

/** Where programs are kept: the user's cache, which clones share; `spare` where it is read-only. */
export async function cacheFolder(spare: string): Promise<string> {
  const shared = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'parley');
  return (await isWritable(shared)) ? shared : spare;
}

async function isWritable(folder: string): Promise<boolean> {
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await access(folder, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/** Uses what an earlier call unpacked into `cache`, else fetches it. */
export async function obtainDebianProgram<Identity>(
  wanted: DebianProgram,
  cache: string,
  identify: (file: string, leadingArgs: readonly string[]) => Promise<Identity>,
  signal: AbortSignal | undefined,
): Promise<Identity> {
  const architecture = architectures[process.arch];
  if (process.platform !== 'linux' || architecture === undefined) {
    const machine = `${process.platform}-${process.arch}`;
    throw new DevnetError(`Debian has no ${wanted.program} for ${machine}`);
  }
  const unpacked = placeIn(cache, wanted);
  const { triplet, loader } = architecture;
  // Until bookworm the C library was below /lib.
  const folders = ['usr/lib', 'lib'].map((each) => join(unpacked, each, triplet));
  const args = ['--library-path', folders.join(':'), fileIn(unpacked, wanted)];
  const identified = () => {
    const files = folders.map((each) => join(each, loader));
    return identify(files.find((each) => existsSync(each)) ?? join(folders[0]!, loader), args);
  };
  if (await isThere(unpacked, wanted)) {
    const kept = await identified().catch(() => null);
    if (kept !== null) return kept;
    // A power cut while it was unpacked can leave files without their content.
    await rm(unpacked, { recursive: true, force: true });
  }
  await fetchPackages([wanted], { cache, signal, sources: await debianMirrors() });
  return identified();
}

/**
 * Fetches what no earlier call unpacked into `cache`. Those of the same suites share one list of
 * packages, which costs more of the processor than most of the programs.
 */
export async function fetchDebianPrograms(
  wanted: readonly DebianProgram[],
  cache: string,
): Promise<void> {
  const lacking: DebianProgram[] = [];
  for (const each of wanted) if (!(await isKept(each, cache))) lacking.push(each);
  const groups = Map.groupBy(lacking, ({ suites }) => suites.toSorted().join(' '));
  if (lacking.length === 0) return;
  const from = { cache, signal: undefined, sources: await debianMirrors() };
  for (const group of groups.values()) await fetchPackages(group, from);
}

const placeIn = (cache: string, { packages: [name] }: DebianProgram) =>
  join(cache, `${name}-${process.arch}`);

/** Whether an earlier call unpacked it into `cache`. */
export function isKept(wanted: DebianProgram, cache: string): Promise<boolean> {
  return isThere(placeIn(cache, wanted), wanted);
}

type From = {
  readonly cache: string;
  readonly signal: AbortSignal | undefined;
  readonly sources: readonly string[];
};

/** All are of the same suites. */
async function fetchPackages(
  wanted: readonly DebianProgram[],
  { cache, signal, sources }: From,
): Promise<void> {
  if (sources.length === 0) throw new DevnetError('apt is not configured with a Debian mirror');
  await mkdir(cache, { recursive: true, mode: 0o700 });
  const work = await mkdtemp(join(cache, 'fetching-'));
  try {
    let problem: unknown;
    for (const source of sources) {
      try {
        await fetchFrom(source, wanted, cache, work, signal);
        return;
      } catch (error) {
        if (signal?.aborted) throw error;
        problem = error;
      }
    }
    throw problem;
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

/** Those that this machine's apt is configured with; other vendors' archives are left out. */
export async function debianMirrors(env = process.env): Promise<string[]> {
  // An image has no lists of packages yet, and without this only sources that have one are told.
  const format = ['--no-release-info', '--format', '$(REPO_URI) $(RELEASE)'];
  const { stdout } = await run('apt-get', ['indextargets', ...format, 'Component: main'], { env });
  const mirrors = stdout.split('\n').flatMap((line) => {
    const [uri = '', suite = ''] = line.split(' ');
    return debianSuites.test(suite) && !uri.startsWith('cdrom:') ? [uri] : [];
  });
  return [...new Set(mirrors)];
}

async function fetchFrom(
  source: string,
  wanted: readonly DebianProgram[],
  cache: string,
  work: string,
  signal: AbortSignal | undefined,
): Promise<void> {
  const apt = await privateApt(source, wanted[0]?.suites ?? [], work, signal);
  await apt('apt-get', ['update']);
  for (const each of wanted) {
    const names = await libraryClosure(apt, each);
    await apt('apt-get', ['download', '--target-release', each.suites.at(-1)!, ...names]);
    const packages = join(work, 'packages');
    const root = await mkdtemp(join(work, 'root-'));
    for (const name of await readdir(packages)) {
      const file = join(packages, name);
      await run('dpkg-deb', ['--extract', file, root], { signal });
      await rm(file);
    }
    await publish(root, placeIn(cache, each), each);
  }
}

type Apt = (program: string, args: readonly string[]) => Promise<string>;

/** apt with its own lists and cache in `work`, so that the machine's stay untouched. */
async function privateApt(
  source: string,
  suites: readonly string[],
  work: string,
  signal: AbortSignal | undefined,
): Promise<Apt> {
  for (const folder of ['lists/partial', 'cache/archives/partial', 'packages']) {
    await mkdir(join(work, folder), { recursive: true });
  }
  await writeFile(join(work, 'status'), '');
  const stanza = ['Types: deb', `URIs: ${source}`, `Suites: ${suites.join(' ')}`];
  const keys = (await isFile(keyring)) ? [`Signed-By: ${keyring}`] : [];
  const lines = [...stanza, 'Components: main', ...keys];
  await writeFile(join(work, 'only.sources'), `${lines.join('\n')}\n`);
  const settings = [
    '#clear APT::Update::Pre-Invoke;',
    '#clear APT::Update::Post-Invoke;',
    '#clear APT::Update::Post-Invoke-Success;',
    '#clear Acquire::IndexTargets::deb::DEP-11;',
    '#clear Acquire::IndexTargets::deb::CNF;',
    `Dir::State "${work}";`,
    `Dir::State::lists "${join(work, 'lists')}";`,
    `Dir::State::status "${join(work, 'status')}";`,
    `Dir::Cache "${join(work, 'cache')}";`,
    // Images have none, and each command works them out anew for a second of the processor.
    'Dir::Cache::pkgcache "pkgcache.bin";',
    'Dir::Cache::srcpkgcache "srcpkgcache.bin";',
    `Dir::Etc::sourcelist "${join(work, 'only.sources')}";`,
    'Dir::Etc::sourceparts "-";',
    'Dir::Etc::preferences "-";',
    'Dir::Etc::preferencesparts "-";',
    'Acquire::Languages "none";',
    'Acquire::http::Timeout "15";',
    'Acquire::https::Timeout "15";',
    'Acquire::Retries "1";',
    'APT::Sandbox::User "";',
    'APT::Get::List-Cleanup "false";',
  ];
  const settingsFile = join(work, 'apt.conf');
  await writeFile(settingsFile, `${settings.join('\n')}\n`);
  return async (program, args) => {
    const { stdout } = await run(program, [`--config-file=${settingsFile}`, ...args], {
      cwd: join(work, 'packages'),
      env: { ...process.env, LC_ALL: 'C', DEBIAN_FRONTEND: 'noninteractive' },
      timeout: commandLimitMs,
      maxBuffer: outputLimitBytes,
      signal,
    });
    return stdout;
  };
}

/** The packages and the libraries they need, without services they are installed with, and pages. */
async function libraryClosure(apt: Apt, { packages }: DebianProgram): Promise<readonly string[]> {
  const silent = ['recommends', 'suggests', 'conflicts', 'breaks', 'replaces', 'enhances'];
  const options = silent.map((kind) => `--no-${kind}`);
  const text = await apt('apt-cache', ['depends', '--recurse', ...options, ...packages]);
  const needs = new Map<string, string[]>();
  let current: string[] = [];
  for (const line of text.split('\n')) {
    const dependency = /^ [ |](?:Pre)?Depends: (\S+)/.exec(line)?.[1];
    if (dependency !== undefined) current.push(dependency);
    else if (/^\S/.test(line)) {
      current = [];
      needs.set(line.trim(), current);
    }
  }
  const wanted = new Set(packages);
  for (const name of wanted) {
    for (const need of needs.get(name) ?? []) if (/^lib(?!js-)/.test(need)) wanted.add(need);
  }
  return [...wanted];
}

/** By renaming a complete folder: starters side by side get a whole one, whoever is first. */
async function publish(root: string, unpacked: string, wanted: DebianProgram): Promise<void> {
  try {
    await rename(root, unpacked);
  } catch (error) {
    if (!(await isThere(unpacked, wanted))) throw error;
  }
}

function fileIn(unpacked: string, wanted: DebianProgram): string {
  return join(unpacked, 'usr', wanted.folder ?? 'bin', wanted.program);
}

function isThere(unpacked: string, wanted: DebianProgram): Promise<boolean> {
  return isFile(fileIn(unpacked, wanted));
}

function isFile(file: string): Promise<boolean> {
  return access(file).then(
    () => true,
    () => false,
  );
}
