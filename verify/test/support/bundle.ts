// The SDK as a browser gets it: bundled by Vite, without anything in the place of Node's modules.

import { readFileSync } from 'node:fs';
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

/** The files of every entry of the SDK but those named here, by the entry's name. */
export function sdkEntries(...without: readonly string[]): Record<string, string> {
  type Entry = { readonly '@parley/source': string };
  const { exports } = JSON.parse(readFileSync(join(root, 'packages/sdk/package.json'), 'utf8')) as {
    exports: Record<string, Entry | { readonly default: Entry }>;
  };
  const named = Object.entries(exports).filter(([name]) => !/\*|package\.json$/.test(name));
  const own = named.map(([name, entry]) => {
    const { '@parley/source': file } = '@parley/source' in entry ? entry : entry.default;
    return [name === '.' ? 'index' : name.slice(2), join('packages/sdk', file)];
  });
  return Object.fromEntries(own.filter(([name = '']) => !without.includes(name)));
}
