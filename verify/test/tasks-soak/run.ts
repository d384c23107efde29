// `npm run soak -- operations`: the pages by task, run as an operator would, in a bare Debian root.
// Their blocks of commands are taken from the Markdown, in order, as root, with loopback alone.
// The chains are those of a dev network. It ends with a market that trades behind nginx with TLS,
// after an alert in Prometheus, an upgrade and back, a standby's takeover, and a restored dump.
// With the path of a tarball that release is run, and none is built. Needs root, for namespaces.
// No systemd is process 1 there: systemctl.sh says what stands for it.

import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { access, mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { cacheFolder } from '@parley/dev/devnet/debian-package.ts';
import { packRelease } from '@parley/scripts/release-build.ts';
import { allBlocks } from './blocks.ts';

const run = promisify(execFile);
const here = import.meta.dirname;
const outputBytes = 64 * 1024 * 1024;

/** The same sources under the next number: the version that a page on upgrades needs. */
const laterRelease = `
  cd "$(dirname "$1")"
  from=parley-server-0.1.0-linux-x64 to=parley-server-0.2.0-linux-x64
  tar -xzf "$from.tar.gz"
  mv "$from" "$to"
  cd "$to"
  sed -i 's/"version": "0.1.0"/"version": "0.2.0"/' package.json release.json
  find . -type f ! -name SHA256SUMS -printf '%P\\0' | sort -z | xargs -0 sha256sum > ../SUMS
  mv ../SUMS SHA256SUMS
  cd ..
  tar -czf "$to.tar.gz" "$to"
  rm -r "$to"
  sha256sum "$to.tar.gz" > "$to.tar.gz.sha256"
`;

assert.equal(process.getuid?.(), 0, 'a root of its own is mounted: run this as root');
const work = await mkdtemp(join(tmpdir(), 'parley-tasks-soak-'));
try {
  const place = join(work, 'root');
  await mkdir(place);
  await run('tar', ['-xf', await bareRoot(), '-C', place]);
  const file = await released(join(place, 'root'));
  await run('sh', ['-euc', laterRelease, 'sh', file]);
  // Packages start their programs where a machine is up, and ask this.
  await rm(join(place, 'sbin/runlevel'));
  await writeFile(join(place, 'sbin/runlevel'), '#!/bin/sh\necho N 5\n', { mode: 0o755 });
  const stands = join(place, 'usr/local/sbin');
  for (const name of ['systemctl', 'journalctl']) {
    await run('install', ['-m', '755', join(here, `${name}.sh`), join(stands, name)]);
  }
  // bash is process 1 there: it takes up the ends of servers that Node would leave as zombies.
  const first = ['bash', '-c', '"$@" & wait "$!"', 'bash'];
  const inside = [...first, process.execPath, join(here, 'inside.ts'), place];
  const spaces = ['--mount', '--net', '--uts', '--pid', '--fork', '--kill-child', '--mount-proc'];
  const child = spawn('unshare', [...spaces, ...inside], { stdio: 'inherit' });
  const [code] = (await once(child, 'exit')) as [number | null];
  assert.equal(code, 0, 'the tasks');
} finally {
  await rm(work, { recursive: true, force: true, maxRetries: 5, retryDelay: 500 });
}

/** Its tarball and checksum lie in the folder `to`. */
async function released(to: string): Promise<string> {
  const [, , given] = process.argv;
  if (given === undefined) return (await packRelease(to)).file;
  await run('cp', [given, `${given}.sha256`, to]);
  return join(to, basename(given));
}

/** The path of a tarball. Made once for the packages that the pages install. */
async function bareRoot(): Promise<string> {
  const installing = allBlocks()
    .filter(({ notRun }) => notRun === null)
    .flatMap(({ commands }) => [...commands.matchAll(/^apt-get install (.*)$/gm)])
    .map(([, rest = '']) => rest);
  const packages = installing.flatMap((rest) => rest.match(/(?<=\s)[a-z0-9][a-z0-9.+-]*/g) ?? []);
  assert.ok(packages.includes('postgresql'), packages.join());
  const name = createHash('sha256').update(packages.join()).digest('hex').slice(0, 12);
  const kept = join(await cacheFolder(join(tmpdir(), 'parley-cache')), `tasks-root-${name}.tar`);
  const isThere = await access(kept).then(
    () => true,
    () => false,
  );
  if (isThere) return kept;
  console.log(`a bare Debian root with ${packages.join(', ')} at hand: some minutes`);
  const root = join(work, 'bare');
  await run('sh', [join(here, 'debian.sh'), root, ...packages], { maxBuffer: outputBytes });
  await mkdir(dirname(kept), { recursive: true });
  await run('tar', ['-cf', `${kept}.part`, '-C', root, '.']);
  await rename(`${kept}.part`, kept);
  await rm(root, { recursive: true, force: true });
  return kept;
}
