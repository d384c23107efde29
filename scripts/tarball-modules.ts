// The JavaScript of tarballs. A module that programs import is a file, and has in it all modules which
// only it reaches: fewer files are read. A module that two files reach is a file of its own, so a page
// takes as little as it would of single modules. Code that nothing uses is left out, and so are
// comments: the types have those that users read. A line before each part names its module.

import { dirname, relative } from 'node:path';
import { build, type Plugin } from 'esbuild';
import { type Import, type Names, namesOf, type Resolve, type Texts } from './tarball-names.ts';

/** The names that others import of each file. */
type Wanted = ReadonlyMap<string, Names>;

/**
 * @param faces the files that people import or start
 * @returns by the paths of `texts`, those that remain
 */
export async function joined(texts: Texts, resolve: Resolve, faces: ReadonlySet<string>) {
  const edges = edgesOf(texts, resolve);
  let wanted = wantedOf(edges, faces);
  let owners = ownersOf(edges, faces);
  for (;;) {
    const made = await bundle(texts, resolve, owners, wanted);
    const leftEdges = edgesOf(made, resolve);
    const left = wantedOf(leftEdges, faces);
    if (amountOf(left) === amountOf(wanted)) return made;
    // Fewer imports are left, and fewer modules that two files reach.
    const fewer = ownersOf(leftEdges, faces);
    owners = new Map([...owners].map(([file, owner]) => [file, fewer.get(owner) ?? owner]));
    wanted = left;
  }
}

const amountOf = (wanted: Wanted) =>
  [...wanted.values()].reduce((sum, names) => sum + 1 + (names === 'all' ? 0 : names.size), 0);

/** A file that another one imports. */
type Edge = Import & { readonly file: string; readonly other: string };

function edgesOf(texts: Texts, resolve: Resolve): Edge[] {
  return [...texts].flatMap(([file, text]) =>
    namesOf(text).flatMap((each) =>
      resolve(file, each.specifier).map((other) => ({ ...each, file, other })),
    ),
  );
}

function wantedOf(edges: readonly Edge[], faces: ReadonlySet<string>): Wanted {
  const wanted = new Map<string, Names>([...faces].map((file) => [file, 'all']));
  for (const { other, names } of edges) {
    const before = wanted.get(other) ?? new Set();
    const all = before === 'all' || names === 'all';
    wanted.set(other, all ? 'all' : new Set([...before, ...names]));
  }
  return wanted;
}

/** The file that a module is in: its own, or that of all modules which import it. */
function ownersOf(edges: readonly Edge[], faces: ReadonlySet<string>) {
  const owners = new Map([...faces].map((file) => [file, file]));
  const importers = new Map<string, Set<string>>();
  for (const { file, other, specifier, lazily } of edges) {
    importers.set(other, (importers.get(other) ?? new Set()).add(file));
    const isOwn = lazily || !specifier.startsWith('.');
    if (isOwn) owners.set(other, other);
  }
  const open = [...importers.keys()].filter((file) => !owners.has(file));
  for (let changed = true; changed; ) {
    changed = false;
    for (const file of open) {
      const known = [...(importers.get(file) ?? [])].flatMap((each) => owners.get(each) ?? []);
      const [owner, ...others] = new Set(known);
      const next = others.length > 0 ? file : owner;
      if (next === undefined || owners.get(file) === file || owners.get(file) === next) continue;
      owners.set(file, next);
      changed = true;
    }
  }
  return owners;
}

/** The bundler takes a name without it for a file of the current folder, where there is one. */
const entry = 'entry:';

async function bundle(
  texts: Texts,
  resolve: Resolve,
  owners: ReadonlyMap<string, string>,
  wanted: Wanted,
): Promise<Texts> {
  const files = [...wanted.keys()].filter((file) => owners.get(file) === file);
  const modules: Plugin = {
    name: 'modules of our packages',
    setup({ onResolve, onLoad }) {
      onResolve({ filter: /.*/ }, ({ path, kind, importer, namespace }) => {
        if (kind === 'entry-point') {
          const file = path.replace(entry, '');
          return { path: file, namespace: wanted.get(file) === 'all' ? 'module' : 'wanted' };
        }
        if (namespace === 'wanted')
          return { path: importer, namespace: 'module', sideEffects: false };
        const [file = ''] = path.startsWith('.') ? resolve(importer, path) : [];
        const owner = owners.get(importer) ?? '';
        if (owners.get(file) === owner)
          return { path: file, namespace: 'module', sideEffects: false };
        const place = file === '' ? path : relative(dirname(owner), file).replace(/^(?!\.)/, './');
        return { path: place, external: true, sideEffects: false };
      });
      onLoad({ filter: /.*/, namespace: 'wanted' }, ({ path }) => {
        const names = [...(wanted.get(path) ?? [])];
        return { contents: `export { ${names.join()} } from '.';` };
      });
      onLoad({ filter: /.*/, namespace: 'module' }, ({ path }) => {
        const contents = texts.get(path);
        if (contents === undefined) throw new Error(`${path} is imported, and not compiled`);
        return { contents };
      });
    },
  };
  const { outputFiles } = await build({
    entryPoints: files.map((file) => ({ in: `${entry}${file}`, out: file.replace(/\.js$/, '') })),
    outdir: '/',
    bundle: true,
    format: 'esm',
    platform: 'neutral',
    target: 'es2022',
    charset: 'utf8',
    legalComments: 'none',
    write: false,
    logLevel: 'silent',
    plugins: [modules],
  });
  return new Map(outputFiles.map(({ path, text }) => [path.slice(1), text]));
}
