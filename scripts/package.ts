// `npm run package`: the SDK as a tarball that a program outside this repository installs.

import { resolve } from 'node:path';
import { Misused, parsed, runCommand, usualOptions } from './command.ts';

const usage = `usage: npm run package -- sdk [--out FOLDER] [--json]
  --out FOLDER   instead of the current one
The same sources give the same bytes. Exit status: 0 built, 1 not built, 2 not understood.`;

function understand(args: string[]) {
  const options = { ...usualOptions, out: { type: 'string' } } as const;
  const { values, positionals } = parsed({ args, options, allowPositionals: true });
  if (values.help === true) return null;
  const [what, ...more] = positionals;
  if (what !== 'sdk' || more.length > 0) {
    throw new Misused(`the package is sdk, not "${positionals.join(' ')}"`);
  }
  if (values.out === '') throw new Misused('--out wants a folder');
  return { out: resolve(values.out ?? '.'), json: values.json ?? false };
}

async function run({ out, json }: NonNullable<ReturnType<typeof understand>>): Promise<number> {
  const { packSdk } = await import('./package-build.ts');
  const { files, ...facts } = await packSdk(out);
  const { file, bytes, unpackedBytes, sha256 } = facts;
  const size = `${bytes} bytes, unpacked ${unpackedBytes} in ${files.length} files`;
  const line = json
    ? JSON.stringify({ ...facts, files: files.length })
    : `${file}: ${size}, ${sha256}`;
  process.stdout.write(`${line}\n`);
  return 0;
}

await runCommand({ usage, understand, run });
