// Bundlers of pages, on a folder in which the package is installed: the output of each for a
// program.

import { writeFile } from 'node:fs/promises';
import { isBuiltin } from 'node:module';
import { join } from 'node:path';
import { build as esbuild } from 'esbuild';
import { type Rolldown, build as vite } from 'vite';

export type Bundle = {
  /** Minified. */
  readonly code: string;
  /** Those of which something is in the code, from the folder on. */
  readonly modules: readonly string[];
  /** `node:fs in file`: a page has none of them. */
  readonly ofNode: readonly string[];
};
export type Bundler = (folder: string, program: string) => Promise<Bundle>;

const target = 'es2022';

async function byVite(folder: string, program: string): Promise<Bundle> {
  const ofNode: string[] = [];
  const page = join(folder, 'page.js');
  await writeFile(page, program);
  const output = await vite({
    root: folder,
    configFile: false,
    logLevel: 'silent',
    publicDir: false,
    plugins: [
      {
        name: 'no module of Node',
        enforce: 'pre',
        resolveId: (name, from) => {
          if (isBuiltin(name)) ofNode.push(`${name} in ${from}`);
          return null;
        },
      },
    ],
    build: {
      write: false,
      target,
      modulePreload: false,
      rolldownOptions: { input: page, preserveEntrySignatures: 'strict' },
    },
  });
  const { output: chunks } = output as Rolldown.RolldownOutput;
  const made = chunks.flatMap((each) => (each.type === 'chunk' ? [each] : []));
  const code = made.map((each) => each.code).join('');
  return { code, modules: made.flatMap((each) => Object.keys(each.modules)), ofNode };
}

async function byEsbuild(folder: string, program: string): Promise<Bundle> {
  const ofNode: string[] = [];
  const { metafile, outputFiles } = await esbuild({
    stdin: { contents: program, resolveDir: folder, sourcefile: 'page.js' },
    absWorkingDir: folder,
    bundle: true,
    format: 'esm',
    platform: 'browser',
    target,
    minify: true,
    write: false,
    metafile: true,
    logLevel: 'silent',
    plugins: [
      {
        name: 'no module of Node',
        setup: ({ onResolve }) => {
          onResolve({ filter: /.*/ }, ({ path, importer }) => {
            if (!isBuiltin(path)) return null;
            ofNode.push(`${path} in ${importer}`);
            return { path, external: true };
          });
        },
      },
    ],
  });
  const inputs = Object.values(metafile.outputs).flatMap((each) => Object.entries(each.inputs));
  const modules = inputs.filter(([, { bytesInOutput }]) => bytesInOutput > 0).map(([file]) => file);
  return { code: outputFiles.map(({ text }) => text).join(''), modules, ofNode };
}

export const bundlers = { vite: byVite, esbuild: byEsbuild } as const satisfies Record<
  string,
  Bundler
>;

/** A page with all of the package that a page can have. */
export function everyEntry(names: readonly string[]): string {
  const inPages = names.filter((name) => name !== '@parley/sdk/stores/file');
  return inPages.map((name, at) => `export * as a${at} from '${name}';`).join('\n');
}
