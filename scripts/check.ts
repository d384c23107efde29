// `npm run check`: types and lint. `npm run format` (--write) mends what lint can mend. The
// compiler checks types. Oxlint checks what only types tell, promises that nobody awaits; it can
// check types too, for twice the processor time of the compiler. The binary of Biome is taken from
// its platform package: npm links none for it.

import { spawnSync } from 'node:child_process';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parsed, understood } from '@parley/host/command.ts';
import { generate } from './generate.ts';
import { goEnvironment } from './types.ts';

const root = fileURLToPath(new URL('..', import.meta.url));

const biomeBinary = `${root}node_modules/@biomejs/cli-linux-${process.arch}/biome`;
/** One thread: more of them each work out most of it anew. */
const oxlintArguments = ['--type-aware', '--threads=1', '--deny-warnings'];
const variables = Object.entries(goEnvironment).map(([name, value]) => `${name}=${value}`);

export type Check = {
  readonly part: string;
  readonly command: string;
  readonly args: readonly string[];
};

export const checks: readonly Check[] = [
  {
    part: 'types',
    command: process.execPath,
    args: [`${root}scripts/types.ts`],
  },
  {
    part: 'lint of types',
    command: 'env',
    args: [...variables, `${root}node_modules/.bin/oxlint`, ...oxlintArguments],
  },
  { part: 'lint', command: biomeBinary, args: ['check', '--error-on-warnings', '.'] },
];
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

function run({ command, args }: Check): boolean {
  return spawnSync(command, args, { cwd: root, stdio: 'inherit' }).status === 0;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const { write } = understood({ usage, understand });
  await generate();
  const mending = { part: 'format', command: biomeBinary, args: ['check', '--write', '.'] };
  const ended = (write ? [mending] : checks).map(run);
  process.exit(ended.every(Boolean) ? 0 : 1);
}
