// Debian's nginx and Caddy, started with the files of ops/ on loopback. Every path, name and port
// of those is replaced by one of the soak's, and nothing else is.

import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmod, cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { cacheFolder, obtainDebianProgram } from '@parley/dev/devnet/debian-package.ts';
import type { Certificate } from '../support/certificate.ts';
import { waitUntil } from '../support/waiting.ts';

export type Kind = 'nginx' | 'caddy';
export type Program = {
  readonly kind: Kind;
  readonly version: string;
  readonly command: readonly [string, ...string[]];
  /** Where its packages lie unpacked. */
  readonly root: string;
};

const ops = new URL('../../../apps/market/deploy/', import.meta.url);
const packages = {
  nginx: { program: 'nginx', folder: 'sbin', packages: ['nginx', 'nginx-common'] },
  caddy: { program: 'caddy', packages: ['caddy'] },
} as const;

/** Unpacked into the cache: no server is installed. Throws where Debian cannot be asked. */
export async function obtain(kind: Kind): Promise<Program> {
  const wanted = { ...packages[kind], suites: ['bookworm'] };
  const identify = async (file: string, leading: readonly string[]): Promise<Program> => {
    const args = [...leading, kind === 'nginx' ? '-v' : 'version'];
    const { status, stdout, stderr } = spawnSync(file, args, { encoding: 'utf8' });
    const [version] = /\d+\.\d+\.\d+/.exec(stdout + stderr) ?? [];
    if (status !== 0 || version === undefined) throw new Error(`${kind} does not run: ${stderr}`);
    const root = join(dirname(leading.at(-1) ?? ''), '../..');
    return { kind, version, command: [file, ...leading], root };
  };
  const cache = await cacheFolder(join(tmpdir(), 'parley-cache'));
  return obtainDebianProgram(wanted, cache, identify, undefined).catch((cause: unknown) => {
    throw new Error(`this soak needs Debian’s ${kind} (bookworm), which cannot be had`, { cause });
  });
}

/** Where a proxy stands. */
export type Place = {
  readonly httpPort: number;
  readonly port: number;
  readonly certificate: Certificate;
};
export type Change = readonly [from: string, to: string];
export type RunningProxy = Place & {
  readonly url: string;
  readonly upstreams: readonly number[];
  readonly pid: number;
  /** While it is there, the market is closed. */
  readonly maintenance: string;
  /** All that it wrote, of requests and of errors. */
  log(): Promise<string>;
  stop(): Promise<void>;
};

/** One after the other; the replaced text must be there. */
function replaced(text: string, changes: readonly Change[]): string {
  return changes.reduce((now, [from, to]) => {
    assert.ok(now.includes(from), `there is no "${from}"`);
    return now.replaceAll(from, to);
  }, text);
}

export async function startProxy(
  program: Program,
  place: Place,
  upstreams: readonly number[],
  changes: readonly Change[] = [],
): Promise<RunningProxy> {
  const dir = await mkdtemp(join(tmpdir(), `parley-${program.kind}-`));
  // Its workers have a user of their own.
  await chmod(dir, 0o755);
  await mkdir(join(dir, 'log'));
  await writeFile(join(dir, 'cert.pem'), place.certificate.cert);
  await writeFile(join(dir, 'key.pem'), place.certificate.key, { mode: 0o600 });
  const write = program.kind === 'nginx' ? writeNginx : writeCaddy;
  const args = await write(dir, program, { ...place, upstreams, changes });
  const [file, ...leading] = program.command;
  const child = spawn(file, [...leading, ...args], {
    env: { ...process.env, HOME: dir, XDG_DATA_HOME: dir, XDG_CONFIG_HOME: dir },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      said += chunk;
    });
  }
  const log = async () => {
    const files = await readdir(join(dir, 'log'));
    const texts = files.map((name) => readFile(join(dir, 'log', name), 'utf8'));
    return [said, ...(await Promise.all(texts))].join('\n');
  };
  const stop = async () => {
    await ended(child);
    await rm(dir, { recursive: true, force: true });
  };
  const { httpPort } = place;
  await waitUntil(
    async () => {
      if (child.exitCode !== null) throw new Error(`${program.kind} ended: ${await log()}`);
      const answer = await fetch(`http://localhost:${httpPort}/`, { redirect: 'manual' }).then(
        ({ status }) => status,
        () => 0,
      );
      return answer === 301;
    },
    { everyMs: 50 },
  );
  const maintenance = join(dir, program.kind === 'nginx' ? 'etc' : '.', 'parley.maintenance');
  return {
    ...place,
    url: `https://localhost:${place.port}`,
    upstreams,
    pid: child.pid ?? 0,
    maintenance,
    log,
    stop,
  };
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, 'exit');
  child.kill('SIGTERM');
  await exit;
}

type Wanted = Place & {
  readonly upstreams: readonly number[];
  readonly changes: readonly Change[];
};

/** With Debian's own nginx.conf around it, as an operator has it. */
async function writeNginx(dir: string, { root }: Program, wanted: Wanted): Promise<string[]> {
  const { port, httpPort, upstreams, changes } = wanted;
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
  const shipped = await readFile(new URL('nginx/parley.conf', ops), 'utf8');
  const own = replaced(shipped.replaceAll(/^ +listen \[::\].*\n/gm, ''), [
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
    ...changes,
  ]);
  await writeFile(join(dir, 'etc/conf.d/parley.conf'), own);
  return ['-p', dir, '-c', main, '-g', 'daemon off;'];
}

const adminOf = (dir: string) => `unix/${join(dir, 'admin.sock')}`;

async function writeCaddy(dir: string, _: Program, wanted: Wanted): Promise<string[]> {
  const { port, httpPort, upstreams, changes } = wanted;
  const file = join(dir, 'Caddyfile');
  const shipped = await readFile(new URL('caddy/Caddyfile', ops), 'utf8');
  const text = replaced(shipped, [
    ['\n{\n', `\n{\n\tadmin ${adminOf(dir)}\n\tauto_https off\n`],
    ['http://market.example {', `http://localhost:${httpPort} {`],
    ['https://market.example{uri}', `https://localhost:${port}{uri}`],
    [
      '\nmarket.example {',
      `\nhttps://localhost:${port} {\n\ttls ${dir}/cert.pem ${dir}/key.pem\n\tbind 127.0.0.1`,
    ],
    ['/var/log/caddy', join(dir, 'log')],
    ['root /etc/caddy', `root ${dir}`],
    ['127.0.0.1:8080', upstreams.map((each) => `127.0.0.1:${each}`).join(' ')],
    ...changes,
  ]);
  await writeFile(file, text);
  return ['run', '--config', file];
}
