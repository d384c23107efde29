// A bitcoind for regtest where none is installed: Debian's own bitcoin-knots package, fetched and
// its signature checked by apt from the mirror that this machine is configured with (proxies and
// certificates included), unpacked into a private folder and run through its own loader, so that
// nothing is installed and no root is needed. Never for real money.
import { execFile } from 'node:child_process';
import { access, mkdir, mkdtemp, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type AptSource, readAptSources } from './apt-sources.ts';
import { type Bitcoind, identifyBitcoind } from './bitcoin-program.ts';
import { DevnetError } from './failure.ts';

const run = promisify(execFile);

const packageName = 'bitcoin-knots';
/** The release that has the package; its C library comes along, so the machine's may be older. */
const release = 'trixie';
const commandLimitMs = 120_000;
const outputLimitBytes = 32 * 1024 * 1024;

const architectures: Readonly<Record<string, { triplet: string; loader: string }>> = {
  x64: { triplet: 'x86_64-linux-gnu', loader: 'ld-linux-x86-64.so.2' },
  arm64: { triplet: 'aarch64-linux-gnu', loader: 'ld-linux-aarch64.so.1' },
};

/** Uses what an earlier start unpacked into `cache`, else fetches it. */
export async function obtainDebianBitcoind(
  cache: string,
  signal: AbortSignal | undefined,
): Promise<Bitcoind> {
  const architecture = architectures[process.arch];
  if (process.platform !== 'linux' || architecture === undefined) {
    throw new DevnetError(`Debian has no bitcoind for ${process.platform}-${process.arch}`);
  }
  const unpacked = join(cache, `${packageName}-${process.arch}`);
  const libraries = join(unpacked, 'usr', 'lib', architecture.triplet);
  const file = join(libraries, architecture.loader);
  const args = ['--library-path', libraries, join(unpacked, 'usr', 'bin', 'bitcoind')];
  if (await isThere(unpacked)) {
    const kept = await identifyBitcoind(file, args).catch(() => null);
    if (kept !== null) return kept;
    // A power cut while it was unpacked can leave files without their content.
    await rm(unpacked, { recursive: true, force: true });
  }
  await fetchPackage(cache, unpacked, signal);
  return identifyBitcoind(file, args);
}

async function fetchPackage(
  cache: string,
  unpacked: string,
  signal: AbortSignal | undefined,
): Promise<void> {
  const sources = await readAptSources();
  if (sources.length === 0) throw new DevnetError('apt is not configured with a Debian mirror');
  await mkdir(cache, { recursive: true, mode: 0o700 });
  const work = await mkdtemp(join(cache, 'fetching-'));
  try {
    let problem: unknown;
    for (const source of sources) {
      try {
        const root = await fetchFrom(source, work, signal);
        await publish(root, unpacked);
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

async function fetchFrom(
  source: AptSource,
  work: string,
  signal: AbortSignal | undefined,
): Promise<string> {
  const apt = await privateApt(source, work, signal);
  await apt('apt-get', ['update']);
  const wanted = await libraryClosure(apt);
  await apt('apt-get', ['download', '--target-release', `${release}-backports`, ...wanted]);
  const root = join(work, 'root');
  for (const file of await readdir(join(work, 'packages'))) {
    await run('dpkg-deb', ['--extract', join(work, 'packages', file), root], { signal });
  }
  return root;
}

type Apt = (program: string, args: readonly string[]) => Promise<string>;

/** apt with its own lists and cache in `work`, so that the machine's stay untouched. */
async function privateApt(
  source: AptSource,
  work: string,
  signal: AbortSignal | undefined,
): Promise<Apt> {
  for (const folder of ['lists/partial', 'cache/archives/partial', 'packages', 'root']) {
    await mkdir(join(work, folder), { recursive: true });
  }
  await writeFile(join(work, 'status'), '');
  await writeFile(join(work, 'only.sources'), stanza(source));
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

function stanza(source: AptSource): string {
  const lines = [
    'Types: deb',
    `URIs: ${source.uri}`,
    `Suites: ${release} ${release}-backports`,
    'Components: main',
  ];
  if (source.signedBy !== null) lines.push(`Signed-By: ${source.signedBy}`);
  return `${lines.join('\n')}\n`;
}

/** The package and the libraries it needs, without the services it would be installed with. */
async function libraryClosure(apt: Apt): Promise<readonly string[]> {
  const silent = ['recommends', 'suggests', 'conflicts', 'breaks', 'replaces', 'enhances'];
  const options = silent.map((kind) => `--no-${kind}`);
  const text = await apt('apt-cache', ['depends', '--recurse', ...options, packageName]);
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
  const wanted = new Set([packageName]);
  for (const name of wanted) {
    for (const need of needs.get(name) ?? []) if (need.startsWith('lib')) wanted.add(need);
  }
  return [...wanted];
}

/** By renaming a complete folder: starters side by side get a whole one, whoever is first. */
async function publish(root: string, unpacked: string): Promise<void> {
  try {
    await rename(root, unpacked);
  } catch (error) {
    if (!(await isThere(unpacked))) throw error;
  }
}

function isThere(unpacked: string): Promise<boolean> {
  return access(join(unpacked, 'usr', 'bin', 'bitcoind')).then(
    () => true,
    () => false,
  );
}
