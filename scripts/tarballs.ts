// Packages as tarballs. The compiler makes ES modules and types of each workspace (`tsc -b`). A
// tarball holds what an export of the SDK or a command reaches. The same sources give
// the same bytes in every folder.

import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { folders } from './sources.ts';
import { joined } from './tarball-modules.ts';
import { namesOf, type Resolve } from './tarball-names.ts';
import { declared } from './tarball-types.ts';
import { buildTypes } from './types.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('..', import.meta.url));
const scope = '@parley/';
const source = '@parley/source';
const mostOutput = 16 * 1_024 * 1_024;

/** Packages that people install; the others come with them. */
export const faces = ['sdk', 'cli', 'maker', 'mcp'] as const;
export type Face = (typeof faces)[number];
/** The README of a package that has a document instead of one of its own. */
const readmes: Readonly<Record<string, string>> = {
  cli: 'docs/cli.md',
  maker: 'docs/maker.md',
  mcp: 'docs/mcp.md',
};

export type Packed = {
  /** The tarball. */
  readonly file: string;
  readonly sha256: string;
  readonly bytes: number;
  /** Paths inside it, sorted, from the root of the package. */
  readonly files: readonly string[];
  readonly unpackedBytes: number;
};

/** A file, or one a condition. */
type Entry = string | { readonly [condition: string]: Entry };
type Manifest = {
  readonly name: string;
  readonly version: string;
  readonly exports: Readonly<Record<string, Entry>>;
  readonly imports?: Readonly<Record<string, Entry>>;
  readonly bin?: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
};
/** Texts by package and path inside it, such as `sdk` and `dist/settle.js`. */
type Made = ReadonlyMap<string, ReadonlyMap<string, string>>;

const read = (path: string) => readFile(join(root, path), 'utf8');
const folderOf = (name: string) => folders.get(name) ?? '';
const manifestOf = async (name: string) =>
  JSON.parse(await read(`${folderOf(name)}/package.json`)) as Manifest;

/**
 * Puts the tarball of a package and those of the packages of ours that it needs into the folder
 * `to`, the package first.
 * @throws Error with the words of the compiler or of npm
 */
export async function pack(name: Face, to: string): Promise<readonly Packed[]> {
  return (await packAll([name], to))[0] ?? [];
}

/** The tarballs of each of these packages, in their order; one that several need is made once. */
export async function packAll(
  names: readonly Face[],
  to: string,
): Promise<readonly (readonly Packed[])[]> {
  const made = await built();
  const needs = await Promise.all(names.map(withNeeds));
  const all = [...new Set(needs.flat())];
  const tarballs = await packed(all, made, to);
  return needs.map((each) => tarballs.filter((_, at) => each.includes(all[at] ?? '')));
}

let building: Promise<Made> | null = null;
/** The modules of all packages, compiled once by a process. */
const built = () => {
  building ??= buildTypes(faces.map((each) => `${folderOf(each)}/tsconfig.build.json`)).then(
    reached,
  );
  return building;
};

/** The package, then the packages of ours that it needs, each once. */
async function withNeeds(name: string): Promise<string[]> {
  const names = [name];
  for (const each of names) {
    const { dependencies = {} } = await manifestOf(each);
    const own = Object.keys(dependencies).filter((one) => one.startsWith(scope));
    names.push(...own.map((one) => one.slice(scope.length)).filter((one) => !names.includes(one)));
  }
  return [...new Set(names)];
}

const specifiers =
  /(?<=\b(?:from|import) |\bimport\()(['"])([^'"\s]+)\1(?: with \{ type: ['"]json['"] \})?/g;

/** The modules and types that an import of people, or a command, leads to. */
async function reached(): Promise<Made> {
  const names = [...folders.keys()];
  const manifests = new Map(
    await Promise.all(names.map(async (name) => [name, await manifestOf(name)] as const)),
  );
  const resolve = resolverOf(manifests);
  const named = faces.flatMap((name) => namedBy(name, manifests));
  const made = new Map<string, Map<string, string>>();
  for (const [end, left] of [
    ['.js', joined],
    ['.d.ts', declared],
  ] as const) {
    const roots = new Set(named.filter((file) => file.endsWith(end)));
    const texts = new Map<string, string>();
    const due = [...roots];
    for (const file of due) {
      if (texts.has(file)) continue;
      const text = await placed(file);
      texts.set(file, text);
      for (const { specifier } of namesOf(text)) due.push(...resolve(file, specifier));
    }
    for (const [file, text] of await left(texts, resolve, roots)) {
      const [name = ''] = file.split('/');
      made.set(name, (made.get(name) ?? new Map()).set(file.slice(name.length + 1), text));
    }
  }
  return made;
}

type Manifests = ReadonlyMap<string, Manifest>;

/** The files of a package that people import, or start. */
function namedBy(name: string, manifests: Manifests): string[] {
  const { exports = {}, bin = {} } = manifests.get(name) ?? {};
  const entries = Object.entries(exports).filter(([key]) => !key.includes('*'));
  const paths = [...entries.flatMap(([, entry]) => pathsOf(entry)), ...Object.values(bin)];
  return paths.map((path) => join(name, path));
}

/** Types lead to types, and values to values. */
const resolverOf =
  (manifests: Manifests): Resolve =>
  (file, specifier) => {
    const end = file.endsWith('.d.ts') ? '.d.ts' : '.js';
    const typed = (path: string) => path.replace(/(?<!\.json)\.[jt]s$/, end);
    if (specifier.startsWith('.')) return [typed(join(dirname(file), specifier))];
    const [own = ''] = file.split('/');
    const entry = manifests.get(own)?.imports?.[specifier];
    if (entry !== undefined) {
      const paths = pathsOf(entry).filter((path) => path.endsWith(end));
      return paths.map((path) => join(own, path));
    }
    const [, other, inside = ''] = /^@parley\/([^/]+)\/(.*\.(?:ts|json))$/.exec(specifier) ?? [];
    if (other === undefined) return [];
    return [join(other, 'dist', typed(inside.replace(/\.json$/, '.json.js')))];
  };

/** The text of a file, with the names of others as a package has them. */
async function placed(file: string): Promise<string> {
  const [own = ''] = file.split('/');
  const path = join(folderOf(own), file.slice(own.length + 1));
  if (path.endsWith('.json.js')) {
    // Not every Node, bundler and browser takes a module of JSON.
    const json = await read(path.replace('/dist/', '/').replace(/\.js$/, ''));
    return `export default ${json.trimEnd()};\n`;
  }
  // The compiler names a declaration of another package by its file.
  const text = (await read(path)).replaceAll(/(@parley\/\w+\/)dist\/([^'"]+)\.d\.ts/g, '$1$2.ts');
  return text.replaceAll(specifiers, (_, quote: string, wanted: string) => {
    const isOwn = wanted.startsWith('.');
    const as = isOwn ? wanted.replace(/\.json$/, '.json.js').replace(/\.ts$/, '.js') : wanted;
    return `${quote}${as}${quote}`;
  });
}

function pathsOf(entry: Entry): string[] {
  if (typeof entry === 'string') return entry.endsWith('.json') ? [] : [entry.replace('./', '')];
  const conditions = Object.entries(entry).filter(([condition]) => condition !== source);
  return conditions.flatMap(([, each]) => pathsOf(each));
}

function withoutSource(entry: Entry): Entry {
  if (typeof entry === 'string') return entry;
  const conditions = Object.entries(entry).filter(([condition]) => condition !== source);
  return Object.fromEntries(conditions.map(([name, each]) => [name, withoutSource(each)]));
}

/** As npm and other programs read it: the compiled modules, and what those import. */
function published(manifest: Manifest, texts: Iterable<string>): string {
  const idle = ['devDependencies', 'optionalDependencies', 'files'];
  const rest = Object.entries(manifest).filter(([name]) => !idle.includes(name));
  const named = [...texts].flatMap((text) => [...text.matchAll(specifiers)].map((each) => each[2]));
  const used = Object.entries(manifest.dependencies ?? {}).filter(([name]) =>
    named.some((each) => each === name || each?.startsWith(`${name}/`)),
  );
  const of = (entries: Manifest['exports']) =>
    Object.fromEntries(Object.entries(entries).map(([name, each]) => [name, withoutSource(each)]));
  const facts = {
    ...Object.fromEntries(rest),
    dependencies: Object.fromEntries(used),
    sideEffects: false,
    exports: of(manifest.exports),
    ...(manifest.imports === undefined ? {} : { imports: of(manifest.imports) }),
  };
  return `${JSON.stringify(facts, null, 2)}\n`;
}

/** Where the package has not what a link leads to, the link is its words and the file's name. */
function outside(readme: string): string {
  const pictures = /!\[[^\]]*\]\([^)#:]+\)\n+/g;
  const links = /\[([^\]]+)\]\((?:\.\.\/)*((?!#|https?:)[^)]+)\)/g;
  return readme.replace(pictures, '').replace(links, (_, label: string, file: string) => {
    const [path = ''] = file.split('#');
    return label === path || label === basename(path) ? `\`${path}\`` : `${label} (\`${path}\`)`;
  });
}

/** Packed by one run of the npm that runs this, with the Node that the project brings. */
async function packed(names: readonly string[], made: Made, to: string): Promise<Packed[]> {
  const npm = process.env.npm_execpath;
  if (npm === undefined) throw new Error('packed by npm: npm run package');
  const work = await mkdtemp(join(tmpdir(), 'parley-package-'));
  try {
    const all = await Promise.all(
      names.map(async (name) => [name, await textsOf(name, made)] as const),
    );
    for (const [name, texts] of all) await place(join(work, name), texts);
    await mkdir(to, { recursive: true });
    const options = ['pack', '--json', '--ignore-scripts', '--pack-destination', to];
    const args = [npm, ...options, ...names.map((name) => `./${name}`)];
    const { stdout } = await run(process.execPath, args, { cwd: work, maxBuffer: mostOutput });
    const reports = JSON.parse(stdout) as readonly Report[];
    return await Promise.all(all.map(([, texts], at) => factsOf(reports[at], texts, to)));
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

type Texts = ReadonlyMap<string, string>;
type Report = { readonly filename: string; readonly files: readonly { readonly path: string }[] };

async function textsOf(name: string, made: Made): Promise<Texts> {
  const texts = new Map(made.get(name));
  texts.set('package.json', published(await manifestOf(name), texts.values()));
  texts.set('README.md', outside(await read(readmes[name] ?? `${folderOf(name)}/README.md`)));
  texts.set('LICENSE', await read('LICENSE'));
  return texts;
}

async function place(folder: string, texts: Texts): Promise<void> {
  for (const [path, text] of texts) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text);
  }
}

async function factsOf(report: Report | undefined, texts: Texts, to: string): Promise<Packed> {
  if (report === undefined) throw new Error('npm pack says nothing of a package');
  const file = join(to, basename(report.filename));
  const bytes = await readFile(file);
  const sizes = [...texts.values()].map((text) => Buffer.byteLength(text));
  return {
    file,
    files: report.files.map(({ path }) => path).sort(),
    bytes: bytes.length,
    sha256: createHash('sha256').update(bytes).digest('hex'),
    unpackedBytes: sizes.reduce((sum, each) => sum + each, 0),
  };
}
