// A bundler of pages, on a folder in which the package is installed: its output for a program.

import { isBuiltin } from 'node:module';
import { build } from 'esbuild';

export type Bundle = {
  /** Minified. */
  readonly code: string;
  /** Those of which something is in the code, from the folder on. */
  readonly modules: readonly string[];
  /** `node:fs in file`: a page has none of them. */
  readonly ofNode: readonly string[];
};

export async function bundled(folder: string, program: string): Promise<Bundle> {
  const ofNode: string[] = [];
  const { metafile, outputFiles } = await build({
    stdin: { contents: program, resolveDir: folder, sourcefile: 'page.js' },
    absWorkingDir: folder,
    bundle: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
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

/** A page with all of the package that a page can have. */
export function everyEntry(names: readonly string[]): string {
  const inPages = names.filter((name) => name !== '@parley/sdk/stores/file');
  return inPages.map((name, at) => `export * as a${at} from '${name}';`).join('\n');
}
