// `npm run package`: the SDK and programs as tarballs that npm installs outside this repository, one
// for each and one for each of our packages that they depend on, or the release of the market itself.

import { resolve } from 'node:path';
import { Misused, parsed, runCommand } from '@parley/host/command.ts';
import { faces, type Packed, packAll } from './tarballs.ts';

const wanted = [...faces, 'server'] as const;

const usage = `usage: npm run package -- ${wanted.join('|')} ... [--out FOLDER] [--json]
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
  const rooms = positionals.map((name) => {
    const room = wanted.find((each) => each === name);
    if (room === undefined) throw new Misused(`a package is ${wanted.join(' or ')}, not "${name}"`);
    return room;
  });
  if (rooms.length === 0) throw new Misused(`name a package: ${wanted.join(' or ')}`);
  if (values.out === '') throw new Misused('--out wants a folder');
  return {
    rooms: [...new Set(rooms)],
    out: resolve(values.out ?? '.'),
    json: values.json ?? false,
  };
}

async function run({
  rooms,
  out,
  json,
}: NonNullable<ReturnType<typeof understand>>): Promise<number> {
  const programs = rooms.filter((room) => room !== 'server');
  const packed = programs.length === 0 ? [] : await packAll(programs, out);
  const made = new Set(packed.flat());
  if (rooms.includes('server')) made.add(await release(out));
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
