// The SDK as a browser gets it: bundled by Vite, without anything in the place of Node's modules.

import { isBuiltin } from 'node:module';
import { join } from 'node:path';
import { sourceConditions } from '@parley/web/vite.config.ts';
import { build, type Rolldown } from 'vite';

const root = join(import.meta.dirname, '../../..');

export type Bundle = {
  readonly chunks: readonly Rolldown.OutputChunk[];
  /** Imports of Node's modules, with the file that has them. */
  readonly ofNode: readonly string[];
};

/** `entries`: files by name, from the root of the repository. */
export async function bundle(entries: Readonly<Record<string, string>>): Promise<Bundle> {
  const ofNode: string[] = [];
  const input = Object.fromEntries(
    Object.entries(entries).map(([name, file]) => [name, join(root, file)]),
  );
  const output = await build({
    root,
    configFile: false,
    logLevel: 'silent',
    publicDir: false,
    resolve: { conditions: sourceConditions },
    plugins: [
      {
        name: 'no module of Node',
        enforce: 'pre',
        resolveId: (name, from) => {
          if (isBuiltin(name)) ofNode.push(`${name} in ${(from ?? '').replace(`${root}/`, '')}`);
          return null;
        },
      },
    ],
    build: {
      write: false,
      target: 'es2022',
      modulePreload: false,
      rolldownOptions: { input, preserveEntrySignatures: 'strict' },
    },
  });
  if (Array.isArray(output) || !('output' in output)) throw new Error('not one bundle');
  return { chunks: output.output.filter((each) => each.type === 'chunk'), ofNode };
}
