// `npm run package`: the SDK or a program as tarballs that npm installs outside this repository, one
// for it and one for each of our packages that it depends on, or the release of the market itself.

import { resolve } from 'node:path';
import { Misused, parsed, runCommand } from '@parley/host/command.ts';
import { faces, type Packed, pack } from './tarballs.ts';

const wanted = [...faces, 'server'] as const;

const usage = `usage: npm run package -- ${wanted.join('|')} [--out FOLDER] [--json]
  server         the market, for a host without npm: docs/release.md
  --out FOLDER   instead of the current one
The same sources give the same bytes. Exit status: 0 built, 1 not built, 2 not understood.`;

function understand(args: string[]) {
  const options = {
    help: { type: 'boolean' },
    json: { type: 'boolean' },
    out: { type: 'string' },
  } as const;
  const { values, positionals } = parsed({ args, options, allowPositionals: true });
  if (values.help === true) return null;
  const [name, ...more] = positionals;
  const room = wanted.find((each) => each === name);
  if (room === undefined || more.length > 0) {
    throw new Misused(`a package is ${wanted.join(' or ')}, not "${positionals.join(' ')}"`);
  }
  if (values.out === '') throw new Misused('--out wants a folder');
  return { room, out: resolve(values.out ?? '.'), json: values.json ?? false };
}

async function run({
  room,
  out,
  json,
}: NonNullable<ReturnType<typeof understand>>): Promise<number> {
  const made = room === 'server' ? [await release(out)] : await pack(room, out);
  for (const { files, ...facts } of made) {
    const { file, bytes, unpackedBytes, sha256 } = facts;
    const size = `${bytes} bytes, unpacked ${unpackedBytes} in ${files.length} files`;
    const line = json
      ? JSON.stringify({ ...facts, files: files.length })
      : `${file}: ${size}, ${sha256}`;
    process.stdout.write(`${line}\n`);
  }
  return 0;
}

/** Its builder needs the development packages, which no other package does. */
async function release(out: string): Promise<Packed> {
  const { packRelease } = await import('./release-build.ts');
  return packRelease(out);
}

await runCommand({ usage, understand, run });
