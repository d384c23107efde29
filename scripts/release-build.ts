// Builds the release of the market: the files that a production host needs, and no others. Its own
// Node, the modules that its programs reach, the packages of the lockfile that are not for
// development, and the app for browsers. The same sources give the same bytes in every folder.

import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import {
  chmod,
  cp,
  mkdir,
  mkdtemp,
  readFile,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, extname, join, relative } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { createGzip } from 'node:zlib';
import { bill } from './release-sbom.ts';
import { buildSite } from './site/build.ts';
import { filesIn, folders, sourceOf } from './sources.ts';
import type { Packed } from './tarballs.ts';
import { buildWeb } from './web-build.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('..', import.meta.url));

/** Unpacked; an image of it is fetched and kept by every host. */
export const mostBytes = 250_000_000;

/** Commands of `package.json` that an operator has without npm. */
const commands = ['start', 'watchtower', 'ops', 'faucet'] as const;

/** Started where no chains are named, which a release has nothing for (apps/market/start/boot.ts). */
const devNetwork = 'dev/devnet/devnet.ts';
/** The files that programs read beside modules: by folder, and by the ends of the names. */
const read = [
  ['apps/market', /\.(?:sql|js|css)$/],
  // Pages for an operator without a browser.
  ['docs', /\.md$/],
  [
    'apps/market/deploy',
    /\.(?:service|ya?ml|json|mjs|sh|conf|env|toml)$|(?:Containerfile|Caddyfile)$/,
  ],
] as const;
const inter = 'node_modules/@fontsource-variable/inter';
const alone = [
  'LICENSE',
  'CHANGELOG.md',
  '.github/SECURITY.md',
  'README.md',
  // The operator's page has the app's look without the app.
  'packages/web/style/tokens.css',
  'packages/web/style/font.css',
  'packages/web/public/icon.svg',
  `${inter}/files/inter-latin-wght-normal.woff2`,
  `${inter}/LICENSE`,
];
/** No program reads them: Node takes no types and no TypeScript below `node_modules`. */
const idle = /\.(?:[cm]?tsx?|map|flow|md|markdown|test\.[cm]?js)$/i;

type LockEntry = {
  readonly version: string;
  readonly dev?: true;
  readonly optional?: true;
  readonly devOptional?: true;
  /** A folder of this repository. */
  readonly link?: true;
};
type Conditions = { readonly node: Readonly<Record<string, string>> };
export type Lock = { readonly packages: Readonly<Record<string, LockEntry>> };

const readText = (path: string) => readFile(join(root, path), 'utf8');
const readJson = async <T>(path: string) => JSON.parse(await readText(path)) as T;

/** The tarball is put into the folder `to`. Throws what is amiss. */
export async function packRelease(to: string): Promise<Packed> {
  const work = await mkdtemp(join(tmpdir(), 'parley-release-'));
  try {
    const { version } = await readJson<{ version: string }>('package.json');
    const platform = `${process.platform}-${process.arch}`;
    const name = `parley-server-${version}-${platform}`;
    const folder = join(work, name);
    await fill(folder, { version, platform });
    const files = await filesIn(folder);
    const unpackedBytes = await sizeOf(folder, files);
    if (unpackedBytes > mostBytes) {
      throw new Error(`the release has ${unpackedBytes} bytes; at most ${mostBytes} may be`);
    }
    await mkdir(to, { recursive: true });
    const file = join(to, `${name}.tar.gz`);
    await pressed(work, name, file);
    const { size } = await stat(file);
    const sha256 = await digest(file);
    await writeFile(`${file}.sha256`, `${sha256}  ${name}.tar.gz\n`);
    return { file, sha256, files, bytes: size, unpackedBytes };
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

type Facts = { readonly version: string; readonly platform: string };

async function fill(folder: string, { version, platform }: Facts): Promise<void> {
  const { scripts } = await readJson<{ scripts: Readonly<Record<string, string>> }>('package.json');
  const programs = commands.map((name) => programOf(name, scripts[name]));
  const lock = await readJson<Lock>('package-lock.json');
  const modules = await reached(programs.map(({ entry }) => entry));
  for (const path of [...modules, ...(await others()), ...alone]) await put(folder, path);
  await putManifests(folder, modules);
  const kept = await putPackages(folder, lock);
  const { hash } = await buildWeb(join(folder, 'packages/web/dist'));
  await buildSite(join(folder, 'packages/web/dist-docs'));
  const node = await putNode(folder, lock, platform);
  const bin = join(folder, 'bin/parley-server');
  await writeFile(bin, launcher(programs));
  await chmod(bin, 0o755);
  const manifest = { name: 'parley', version, private: true, type: 'module' };
  await writeFile(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
  const facts = { version, platform, node: node.version, app: hash, packages: kept.size };
  await writeFile(join(folder, 'release.json'), `${JSON.stringify(facts, null, 2)}\n`);
  const sbom = await bill({ root, version, kept, node });
  await writeFile(join(folder, 'sbom.cdx.json'), sbom);
  const sums: string[] = [];
  for (const path of await filesIn(folder)) {
    sums.push(`${await digest(join(folder, path))}  ${path}\n`);
  }
  await writeFile(join(folder, 'SHA256SUMS'), sums.join(''));
}

type Program = { readonly name: string; readonly entry: string; readonly words: string };

/** As npm starts it, flags of Node included: `exec node FLAGS scripts/launch.mjs ENTRY WORDS`. */
function programOf(name: string, script = ''): Program {
  const parts = /^exec node (.*)scripts\/launch\.mjs (\S+)( .*)?$/.exec(script);
  if (parts === null) throw new Error(`package.json starts ${name} otherwise: "${script}"`);
  const [, flags = '', entry = '', words = ''] = parts;
  return { name, entry, words: `${flags}"$root/${entry}"${words}` };
}

/** For people and scripts. Units and images start `bin/node` themselves, and need no shell. */
function launcher(programs: readonly Program[]): string {
  const names = programs.map(({ name }) => name).join('|');
  const cases = programs.map(
    ({ name, words }) => `  ${name}) exec "$root/bin/node" ${words} "$@" ;;`,
  );
  return `#!/bin/sh
# Starts a program of this release. Without a name: the market.
export PARLEY_CALLED_AS="\${PARLEY_CALLED_AS:-parley-server ops}"
root=$(CDPATH= cd -- "$(dirname -- "$(readlink -f -- "$0")")/.." && pwd) || exit 1
command=start
case "\${1:-}" in
  ${names}) command=$1; shift ;;
  -h|--help) echo "usage: parley-server [${names}] [ARGUMENT]..."; exit 0 ;;
esac
case "$command" in
${cases.join('\n')}
esac
`;
}

const named = /(?:^|[\s;}])(?:import|export)\s+(?!type\b)(?:[^'"`;]*?\bfrom\s+)?'([^']+)'/g;
const called = /\bimport\('([^']+)'\)/g;
const worker = /\bnew URL\('(\.[^']+\.ts)', import\.meta\.url\)/g;

/** Modules that run, sorted: from the entries on, by imports of values. */
async function reached(entries: readonly string[]): Promise<string[]> {
  const { imports } = await readJson<{ imports: Record<string, Conditions> }>(
    'packages/chains/package.json',
  );
  const found = new Set<string>();
  const due = [...entries];
  for (const path of due) {
    if (found.has(path) || path === devNetwork) continue;
    found.add(path);
    if (extname(path) === '.json') continue;
    const text = await readText(path);
    const names = [named, called, worker].flatMap((form) => [...text.matchAll(form)]);
    for (const [, name = ''] of names) {
      const alias = imports[name]?.node['@parley/source'];
      const source = sourceOf(path, name);
      if (alias !== undefined) due.push(join('packages/chains', alias));
      else if (source !== null) due.push(source);
    }
  }
  return [...found].sort();
}

/** Our packages resolve as they do in the repository: a manifest each, and a link to its folder. */
async function putManifests(folder: string, modules: readonly string[]) {
  for (const [name, own] of folders) {
    if (!modules.some((path) => path.startsWith(`${own}/`))) continue;
    await put(folder, `${own}/package.json`);
    const link = join(folder, 'node_modules/@parley', name);
    await mkdir(dirname(link), { recursive: true });
    await symlink(join('../..', own), link);
  }
}

async function others(): Promise<string[]> {
  const found: string[] = [];
  for (const [room, kind] of read) {
    const all = await filesIn(join(root, room));
    found.push(...all.filter((each) => kind.test(each)).map((each) => join(room, each)));
  }
  return found;
}

async function put(folder: string, path: string): Promise<void> {
  await mkdir(dirname(join(folder, path)), { recursive: true });
  await cp(join(root, path), join(folder, path));
}

/**
 * Those of the lockfile that are there without `dev` and `optional`, as npm installed them. Gives
 * `name@version` of each.
 */
async function putPackages(folder: string, lock: Lock): Promise<ReadonlySet<string>> {
  const wanted = Object.entries(lock.packages).filter(
    ([path, { dev, optional, devOptional, link }]) =>
      path.startsWith('node_modules/') && !dev && !optional && !devOptional && !link,
  );
  for (const [path, { version }] of wanted) {
    const installed = await readJson<{ version: string }>(join(path, 'package.json'));
    if (installed.version !== version) {
      throw new Error(`${path} is ${installed.version}, and locked at ${version}: npm ci`);
    }
    const from = join(root, path);
    const filter = (source: string) => {
      const inside = relative(from, source);
      return !(inside.split('/')[0] === 'node_modules' || idle.test(inside));
    };
    await cp(from, join(folder, path), { recursive: true, filter });
  }
  const nameOf = (path: string) => path.replace(/^.*node_modules\//, '');
  return new Set(wanted.map(([path, { version }]) => `${nameOf(path)}@${version}`));
}

/** The Node that npm brings for development is the one that is tested. */
async function putNode(folder: string, lock: Lock, platform: string) {
  const path = `node_modules/node-${platform}`;
  const version = lock.packages[path]?.version;
  if (version === undefined) throw new Error(`there is no Node for ${platform} to put in`);
  await mkdir(join(folder, 'bin'), { recursive: true });
  await cp(join(root, path, 'bin/node'), join(folder, 'bin/node'));
  await cp(join(root, path, 'LICENSE'), join(folder, 'bin/node.LICENSE'));
  return { version, sha256: await digest(join(folder, 'bin/node')) };
}

async function sizeOf(folder: string, files: readonly string[]): Promise<number> {
  let sum = 0;
  for (const each of files) sum += (await stat(join(folder, each))).size;
  return sum;
}

async function digest(file: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(file), hash);
  return hash.digest('hex');
}

/**
 * The archive's files belong to everybody, at the beginning of time: neither user, umask nor clock
 * of the builder is in it.
 */
async function pressed(work: string, name: string, file: string): Promise<void> {
  const tar = join(work, 'release.tar');
  const owner = ['--owner=0', '--group=0', '--numeric-owner', '--mode=u=rwX,go=rX'];
  const order = ['--sort=name', '--mtime=@0', '--format=gnu', '--hard-dereference'];
  await run('tar', [...order, ...owner, '-cf', tar, '-C', work, name], {
    env: { PATH: process.env.PATH, LC_ALL: 'C' },
  });
  await pipeline(createReadStream(tar), createGzip({ level: 9 }), createWriteStream(file));
}
