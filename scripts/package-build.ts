// Builds a room as a package: ES modules and their types, as the compiler makes them. Inside is
// what an entry or a command of its `package.json` reaches, and nothing else. The same sources give
// the same bytes in every folder.

import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { typeEnvironment } from './check.ts';
import { generate } from './generate.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('..', import.meta.url));
const mostOutput = 16 * 1_024 * 1_024;

export type Packed = {
  /** The tarball. */
  readonly file: string;
  readonly sha256: string;
  readonly bytes: number;
  /** Inside it, sorted, from the root of the package. */
  readonly files: readonly string[];
  readonly unpackedBytes: number;
};

/** Rooms with a `package.json` of their own, and what each package has as its README. */
export const packages = {
  sdk: 'packages/sdk/README.md',
  maker: 'docs/maker.md',
  cli: 'docs/cli.md',
  mcp: 'docs/mcp.md',
} as const;
export type PackageRoom = keyof typeof packages;

type Manifest = {
  readonly name: string;
  readonly version: string;
  readonly engines: { readonly node: string };
  /** A file, or one a condition. */
  readonly exports?: Readonly<Record<string, string | Readonly<Record<string, string>>>>;
  readonly bin?: Readonly<Record<string, string>>;
  readonly dependencies: Readonly<Record<string, string>>;
};
type Conditions = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** Text by path from the root of the package. */
type Texts = Map<string, string>;

/**
 * The tarball is put into the folder `to`. Throws what compiler or npm say, and what is amiss.
 * `compiled`: a folder of `compile` with this room in it; default made anew.
 */
export async function pack(room: PackageRoom, to: string, compiled?: string): Promise<Packed> {
  const work = await mkdtemp(join(tmpdir(), 'parley-package-'));
  try {
    const manifest = await readJson<Manifest>(`${room}/package.json`);
    const { imports } = await readJson<{ imports: Conditions }>('package.json');
    const entries = entriesOf(room, manifest);
    const made = compiled ?? (await compile([room], join(work, 'made')));
    const found = await reached(made, entries, imports);
    const { texts, aliases } = found;
    mustDependOn(room, found.packages, manifest.dependencies);
    texts.set('package.json', packageJson(room, manifest, used(imports, aliases)));
    texts.set('README.md', outside(await read(packages[room])));
    texts.set('LICENSE', await read('LICENSE'));
    const folder = join(work, 'package');
    for (const [path, text] of texts) {
      await mkdir(dirname(join(folder, path)), { recursive: true });
      await writeFile(join(folder, path), text);
    }
    return await packed(folder, to, texts);
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

const read = (path: string) => readFile(join(root, path), 'utf8');
const readJson = async <T>(path: string) => JSON.parse(await read(path)) as T;

function entriesOf(room: PackageRoom, manifest: Manifest): string[] {
  const named = [...Object.values(manifest.exports ?? {}), ...Object.values(manifest.bin ?? {})];
  return named.flatMap((each) => Object.values(conditionsOf(each)).map((file) => join(room, file)));
}

const conditionsOf = (entry: string | Readonly<Record<string, string>>) =>
  typeof entry === 'string' ? { default: entry } : entry;

/** Everything that the entries' types and values name, into the folder, to which it resolves. */
export async function compile(rooms: readonly PackageRoom[], outDir: string): Promise<string> {
  await generate();
  const { imports } = await readJson<{ imports: Conditions }>('package.json');
  const targets = Object.values(imports).flatMap((each) => Object.values(each));
  const files = targets.map((each) => normalize(each));
  for (const room of rooms) {
    const manifest = await readJson<Manifest>(`${room}/package.json`);
    files.push(...entriesOf(room, manifest));
  }
  const config = {
    extends: join(root, 'tsconfig.json'),
    compilerOptions: {
      noEmit: false,
      declaration: true,
      rewriteRelativeImportExtensions: true,
      rootDir: root,
      outDir,
      noEmitOnError: true,
      newLine: 'lf',
      // Node 20 has no more than ES2023.
      lib: ['ES2023', 'DOM', 'DOM.Iterable'],
      target: 'ES2022',
      types: ['node'],
      typeRoots: [join(root, 'node_modules/@types')],
    },
    files: files.map((each) => join(root, each)),
  };
  const project = `${outDir}.json`;
  await writeFile(project, JSON.stringify(config));
  const compiler = join(root, 'node_modules/.bin/tsc');
  const env = { ...process.env, ...typeEnvironment };
  const options = { cwd: root, env, maxBuffer: mostOutput };
  await run(compiler, ['-p', project, '--checkers', '1'], options).catch(said);
  return outDir;
}

function said(error: Error & { readonly stdout?: string }): never {
  throw new Error(`${error.message}${error.stdout ?? ''}`, { cause: error });
}

const specifier =
  /(?<=\b(?:from|import) |\bimport\()(['"])([^'"\s]+)\1(?: with \{ type: 'json' \})?/g;

type Reached = {
  readonly texts: Texts;
  readonly packages: ReadonlySet<string>;
  /** `#…` names. */
  readonly aliases: ReadonlySet<string>;
};

/** From the entries on, by values and by types. */
async function reached(
  made: string,
  entries: readonly string[],
  imports: Conditions,
): Promise<Reached> {
  const texts: Texts = new Map();
  const packages = new Set<string>();
  const aliases = new Set<string>();
  const due = entries.flatMap((entry) => both(entry));
  for (const path of due) {
    if (texts.has(path)) continue;
    const from = path.replace(/\.json\.js$/, '.json');
    const text = await readFile(join(made, from), 'utf8');
    if (from !== path) {
      // Not every bundler and browser takes a module of JSON.
      texts.set(path, `export default ${text.trimEnd()};\n`);
      continue;
    }
    const isTypes = path.endsWith('.d.ts');
    const placed = text.replaceAll(specifier, (_, quote: string, name: string) => {
      if (name.startsWith('.')) {
        const file = `${join(dirname(path), name)}`;
        const target = file.endsWith('.json') ? `${file}.js` : file.replace(/\.ts$/, '.js');
        due.push(isTypes ? target.replace(/\.js$/, '.d.ts') : target);
        return `${quote}${name.replace(/\.ts$/, '.js').replace(/\.json$/, '.json.js')}${quote}`;
      }
      const alias = imports[name];
      if (alias === undefined) packages.add(packageOf(name));
      else if (!aliases.has(name)) {
        aliases.add(name);
        due.push(...Object.values(alias).flatMap((each) => both(normalize(each))));
      }
      return `${quote}${name}${quote}`;
    });
    texts.set(path, placed);
  }
  return { texts, packages, aliases };
}

const both = (source: string) =>
  [source.replace(/\.ts$/, '.js'), source.replace(/\.ts$/, '.d.ts')] as const;

function packageOf(name: string): string {
  return /^(?:@[^/]+\/)?[^/]+/.exec(name)?.[0] ?? name;
}

function mustDependOn(
  room: PackageRoom,
  found: ReadonlySet<string>,
  on: Manifest['dependencies'],
): void {
  const wanted = [...found].filter((each) => !each.startsWith('node:')).sort();
  const missing = wanted.filter((each) => !(each in on));
  const idle = Object.keys(on).filter((each) => !found.has(each));
  const loose = Object.entries(on).filter(([, version]) => !/^\d+\.\d+\.\d+$/.test(version));
  const faults = [
    ...missing.map((each) => `it imports ${each}, on which ${room}/package.json does not depend`),
    ...idle.map((each) => `nothing of it imports ${each}, on which ${room}/package.json depends`),
    ...loose.map(([each, version]) => `${each} is pinned to no one version: ${version}`),
  ];
  if (faults.length > 0) throw new Error(`the package is amiss: ${faults.join('; ')}`);
}

function used(imports: Conditions, aliases: ReadonlySet<string>): Conditions {
  return Object.fromEntries(Object.entries(imports).filter(([name]) => aliases.has(name)));
}

const inJs = (file: string) => file.replace(/\.ts$/, '.js');

function packageJson(room: PackageRoom, manifest: Manifest, imports: Conditions): string {
  const built = Object.entries(imports).map(([name, conditions]) => [
    name,
    Object.fromEntries(Object.entries(conditions).map(([when, file]) => [when, inJs(file)])),
  ]);
  const { exports: entries, bin: commands, ...rest } = manifest;
  const facts = {
    ...rest,
    ...(entries === undefined ? {} : { sideEffects: false, exports: exportsOf(room, entries) }),
    ...(commands === undefined ? {} : { bin: binOf(room, commands) }),
    imports: Object.fromEntries(built),
  };
  return `${JSON.stringify(facts, null, 2)}\n`;
}

function exportsOf(room: PackageRoom, entries: NonNullable<Manifest['exports']>) {
  const exports = Object.entries(entries).map(([name, entry]) => {
    const built = Object.entries(conditionsOf(entry)).map(
      ([when, file]) => [when, both(`./${join(room, file)}`)] as const,
    );
    const types = built[0]?.[1][1];
    return [name, { types, ...Object.fromEntries(built.map(([when, [value]]) => [when, value])) }];
  });
  return { ...Object.fromEntries(exports), './package.json': './package.json' };
}

function binOf(room: PackageRoom, commands: NonNullable<Manifest['bin']>) {
  const bin = Object.entries(commands).map(([name, file]) => [name, inJs(join(room, file))]);
  return Object.fromEntries(bin) as Readonly<Record<string, string>>;
}

/** Where the package has not what a link leads to, the link is its words and the file's name. */
function outside(readme: string): string {
  const pictures = /!\[[^\]]*\]\([^)#:]+\)\n+/g;
  const links = /\[([^\]]+)\]\((?:\.\.\/)?((?!#|https?:)[^)]+)\)/g;
  return readme.replace(pictures, '').replace(links, (_, label: string, file: string) => {
    const [path = ''] = file.split('#');
    return label === path || label === basename(path) ? `\`${path}\`` : `${label} (\`${path}\`)`;
  });
}

/** Packed by the npm that runs this, with the Node that the project brings. */
async function packed(folder: string, to: string, texts: Texts): Promise<Packed> {
  const npm = process.env.npm_execpath;
  if (npm === undefined) throw new Error('packed by npm: npm run package');
  await mkdir(to, { recursive: true });
  const args = [npm, 'pack', '--json', '--ignore-scripts', '--pack-destination', to];
  const { stdout } = await run(process.execPath, args, { cwd: folder, maxBuffer: mostOutput });
  const [report] = JSON.parse(stdout) as { filename: string; files: { path: string }[] }[];
  if (report === undefined) throw new Error(`npm pack said ${stdout}`);
  const files = report.files.map(({ path }) => path).sort();
  const file = join(to, basename(report.filename));
  const bytes = await readFile(file);
  const sizes = [...texts.values()].map((text) => Buffer.byteLength(text));
  return {
    file,
    files,
    bytes: bytes.length,
    sha256: createHash('sha256').update(bytes).digest('hex'),
    unpackedBytes: sizes.reduce((sum, each) => sum + each, 0),
  };
}

/**
 * Puts what the tarball holds into `node_modules` of an empty folder. Beside it are the packages
 * that it names, as links to the repository's. Throws where versions differ. Asks no registry.
 */
export async function installOffline(
  tarball: string,
  folder: string,
  room: PackageRoom = 'sdk',
): Promise<void> {
  const own = join(folder, `node_modules/@parley/${room}`);
  await mkdir(own, { recursive: true });
  await run('tar', ['-xzf', tarball, '--strip-components=1', '-C', own]);
  const { dependencies } = JSON.parse(
    await readFile(join(own, 'package.json'), 'utf8'),
  ) as Manifest;
  for (const [name, wanted] of Object.entries(dependencies)) {
    const there = join(root, 'node_modules', name);
    const { version } = await readJson<Manifest>(join('node_modules', name, 'package.json'));
    if (version !== wanted) throw new Error(`${name} is ${version} here, and pinned to ${wanted}`);
    await mkdir(dirname(join(folder, 'node_modules', name)), { recursive: true });
    await symlink(there, join(folder, 'node_modules', name));
  }
}
