// Debian's nginx, started with the file of apps/market/deploy/ on loopback. Every path, name and
// port of that is replaced by one of the soak's, and nothing else is.

import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmod, cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { cacheFolder, obtainDebianProgram } from '@parley/dev/devnet/debian-package.ts';
import type { Certificate } from '../support/certificate.ts';
import { waitUntil } from '../support/waiting.ts';

export type Program = {
  readonly version: string;
  readonly command: readonly [string, ...string[]];
  /** Where its packages lie unpacked. */
  readonly root: string;
};

/** Unpacked into the cache: no server is installed. Throws where Debian cannot be asked. */
export async function obtainNginx(): Promise<Program> {
  const packages = ['nginx', 'nginx-common'];
  const wanted = { program: 'nginx', folder: 'sbin', packages, suites: ['bookworm'] } as const;
  const identify = async (file: string, leading: readonly string[]): Promise<Program> => {
    const { status, stderr } = spawnSync(file, [...leading, '-v'], { encoding: 'utf8' });
    const [version] = /\d+\.\d+\.\d+/.exec(stderr) ?? [];
    if (status !== 0 || version === undefined) throw new Error(`nginx does not run: ${stderr}`);
    const root = join(dirname(leading.at(-1) ?? ''), '../..');
    return { version, command: [file, ...leading], root };
  };
  const cache = await cacheFolder(join(tmpdir(), 'parley-cache'));
  return obtainDebianProgram(wanted, cache, identify, undefined).catch((cause: unknown) => {
    throw new Error('this soak needs Debian’s nginx (bookworm), which cannot be had', { cause });
  });
}

/** Where a proxy stands. */
export type Place = {
  readonly httpPort: number;
  readonly port: number;
  readonly certificate: Certificate;
};
export type Nginx = Place & {
  /** While it is there, the market is closed. */
  readonly maintenance: string;
  /** All that it wrote, of requests and of errors. */
  log(): Promise<string>;
  stop(): Promise<void>;
};
type Change = readonly [from: string, to: string];

/** One after the other; the replaced text must be there. */
function replaced(text: string, changes: readonly Change[]): string {
  return changes.reduce((now, [from, to]) => {
    assert.ok(now.includes(from), `there is no "${from}"`);
    return now.replaceAll(from, to);
  }, text);
}

export async function startNginx(
  program: Program,
  place: Place,
  upstreams: readonly number[],
): Promise<Nginx> {
  const dir = await mkdtemp(join(tmpdir(), 'parley-nginx-'));
  // Its workers have a user of their own.
  await chmod(dir, 0o755);
  const logs = join(dir, 'log');
  await mkdir(logs);
  await writeFile(join(dir, 'cert.pem'), place.certificate.cert);
  await writeFile(join(dir, 'key.pem'), place.certificate.key, { mode: 0o600 });
  const main = await configure(dir, program.root, place, upstreams);
  const [file, ...leading] = program.command;
  const args = [...leading, '-p', dir, '-c', main, '-g', 'daemon off;'];
  const child = spawn(file, args, { stdio: ['ignore', 'inherit', 'inherit'] });
  await waitUntil(async () => {
    if (child.exitCode !== null) throw new Error('nginx ended');
    const asked = fetch(`http://localhost:${place.httpPort}/`, { redirect: 'manual' });
    return asked.then(
      ({ status }) => status === 301,
      () => false,
    );
  });
  return {
    ...place,
    maintenance: join(dir, 'etc/parley.maintenance'),
    log: async () => {
      const names = await readdir(logs);
      return (await Promise.all(names.map((name) => readFile(join(logs, name), 'utf8')))).join();
    },
    stop: async () => {
      const ended = once(child, 'exit');
      if (child.kill('SIGTERM')) await ended;
      await rm(dir, { recursive: true, force: true });
    },
  };
}

/** With Debian's own nginx.conf around it, as an operator has it. The path of that. */
async function configure(
  dir: string,
  root: string,
  { port, httpPort }: Place,
  upstreams: readonly number[],
): Promise<string> {
  await cp(join(root, 'etc/nginx'), join(dir, 'etc'), { recursive: true });
  const main = join(dir, 'etc/nginx.conf');
  const folders: Change[] = [
    ['/etc/nginx', join(dir, 'etc')],
    ['/var/log/nginx', join(dir, 'log')],
  ];
  const text = replaced(await readFile(main, 'utf8'), [
    ...folders,
    ['/run/nginx.pid', join(dir, 'nginx.pid')],
    // As the file's head asks.
    ['worker_connections 768;', 'worker_connections 32768;'],
    ['events {', 'worker_rlimit_nofile 65536;\nworker_shutdown_timeout 60s;\nevents {'],
  ]);
  await writeFile(main, text);
  const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (each) => `${each}_temp_path ${join(dir, each)};\n`,
  );
  await writeFile(join(dir, 'etc/conf.d/00-soak.conf'), paths.join(''));
  const server = (at: number) => `server 127.0.0.1:${at} max_fails=2 fail_timeout=10s;`;
  const shipped = new URL('../../../apps/market/deploy/nginx/parley.conf', import.meta.url);
  const own = (await readFile(shipped, 'utf8')).replaceAll(/^ +listen \[::\].*\n/gm, '');
  const set = replaced(own, [
    ['server 127.0.0.1:8080 max_fails=2 fail_timeout=10s;', upstreams.map(server).join('\n')],
    ['/etc/letsencrypt/live/market.example/fullchain.pem', join(dir, 'cert.pem')],
    ['/etc/letsencrypt/live/market.example/privkey.pem', join(dir, 'key.pem')],
    ...folders,
    ['listen 80;', `listen 127.0.0.1:${httpPort};`],
    ['listen 443 ', `listen 127.0.0.1:${port} `],
    ['https://market.example$request_uri', `https://localhost:${port}$request_uri`],
    ['server_name market.example;', 'server_name localhost;'],
    // As the comment above it says.
    ['Host $host;', `Host $host:${port};`],
  ]);
  await writeFile(join(dir, 'etc/conf.d/parley.conf'), set);
  return main;
}
