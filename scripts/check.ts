// `npm run check`: types and lint. `npm run format` (--write) mends what lint can mend. Oxlint
// checks types, and what only types tell: promises that nobody awaits. The binary of Biome is taken
// from its platform package: npm links none for it.

import { spawnSync } from 'node:child_process';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parsed, understood } from './command.ts';

const root = fileURLToPath(new URL('..', import.meta.url));

export const biomeBinary = `${root}node_modules/@biomejs/cli-linux-${process.arch}/biome`;
export const lintArguments: readonly string[] = ['check', '--error-on-warnings', '.'];
/** One thread: more of them each work out most of it anew. */
export const typeArguments: readonly string[] = [
  ...['--type-aware', '--type-check', '--threads=1', '--deny-warnings'],
  ...['--tsconfig', 'tsconfig.json'],
];
/** Go collects its garbage at every doubling otherwise: a sixth of the time. */
export const typeEnvironment = { GOGC: 'off', GOMEMLIMIT: '3GiB' } as const;

const usage = `usage: npm run check
       npm run format
  check    types and lint
  format   mends what lint can mend (check --write)
Exit status: 0 clean, 1 not, 2 not understood.`;

function understand(args: string[]): { readonly write: boolean } | null {
  const flag = { type: 'boolean', default: false } as const;
  const { values } = parsed({ args, options: { write: flag, help: flag } });
  return values.help ? null : { write: values.write };
}

function run(command: string, args: readonly string[]): boolean {
  const env = { ...process.env, ...typeEnvironment };
  return spawnSync(command, args, { cwd: root, env, stdio: 'inherit' }).status === 0;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const { write } = understood({ usage, understand });
  const linted = run(biomeBinary, write ? ['check', '--write', '.'] : lintArguments);
  process.exit((write || run(`${root}node_modules/.bin/oxlint`, typeArguments)) && linted ? 0 : 1);
}
