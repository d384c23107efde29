// A real Valkey or Redis for tests and benchmarks: one on the PATH, else Debian's package, unpacked
// into the user's cache. Where neither can be had the test fails and says what to install.

import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createConnection } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect as connectTls } from 'node:tls';
import { promisify } from 'node:util';
import { cacheFolder, obtainDebianProgram } from '@parley/dev/devnet/debian-package.ts';
import {
  loopback,
  programOnPath,
  type Running,
  startProgram,
} from '@parley/dev/devnet/processes.ts';
import { freePort } from '@parley/host/free-port.ts';
import type { Certificate } from './certificate.ts';

const run = promisify(execFile);
const readyLimitMs = 30_000;
const answerLimitMs = 20_000;

type Program = { readonly file: string; readonly leadingArgs: readonly string[] };

export type TestValkey = {
  readonly url: string;
  /** Ends it as a crash would, and all that it held. */
  kill(): Promise<void>;
  /** Starts it again at the same address. */
  start(): Promise<void>;
  /** It keeps its connections and answers nothing until `resume`. */
  pause(): void;
  resume(): void;
  stop(): Promise<void>;
};

/** `options` as in its configuration file; with a certificate it speaks nothing but TLS. */
export async function startValkey(
  options: Readonly<Record<string, string>> = {},
  certificate?: Certificate,
): Promise<TestValkey> {
  const { file, leadingArgs } = await findValkey();
  const folder = await mkdtemp(join(tmpdir(), 'parley-valkey-'));
  const port = await freePort();
  const ports =
    certificate === undefined ? { port: String(port) } : await overTls(folder, port, certificate);
  const given = { save: '', appendonly: 'no', bind: loopback, ...ports, ...options };
  const program = {
    name: 'the Valkey server',
    file,
    args: [...leadingArgs, ...Object.entries(given).flatMap(([name, to]) => [`--${name}`, to])],
    folder,
  };
  const start = async () => {
    const ask = () => answers(port, certificate);
    return (await startProgram(program, readyLimitMs, ask)).running;
  };
  let running: Running = await start();
  const signal = (name: NodeJS.Signals) => process.kill(running.child.pid!, name);
  const kill = async () => {
    if (running.hasEnded()) return;
    running.child.ref();
    const ended = new Promise((resolve) => running.child.once('exit', resolve));
    signal('SIGKILL');
    await ended;
  };
  return {
    url: `${certificate === undefined ? 'redis' : 'rediss'}://${loopback}:${port}`,
    kill,
    start: async () => {
      running = await start();
    },
    pause: () => signal('SIGSTOP'),
    resume: () => signal('SIGCONT'),
    stop: async () => {
      await kill();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

export const valkeyPackage = {
  program: 'valkey-server',
  packages: ['valkey-server', 'valkey-tools'],
  // Those of bitcoind, whose list of packages is fetched anyway.
  suites: ['trixie-backports', 'trixie'],
};

export async function findValkey(): Promise<Program> {
  const installed = programOnPath('valkey-server') ?? programOnPath('redis-server');
  if (installed !== null) return { file: installed, leadingArgs: [] };
  const identify = async (file: string, leadingArgs: readonly string[]) => {
    await run(file, [...leadingArgs, '--version'], { timeout: answerLimitMs });
    return { file, leadingArgs };
  };
  try {
    const cache = await cacheFolder(join(tmpdir(), `parley-programs-${process.getuid?.() ?? 0}`));
    return await obtainDebianProgram(valkeyPackage, cache, identify, undefined);
  } catch (cause) {
    throw new Error(
      'these tests need a real Valkey or Redis server: none is on the PATH, and none could be ' +
        'fetched from Debian; install valkey-server or redis-server and run them again',
      { cause },
    );
  }
}

async function overTls(folder: string, port: number, { cert, key }: Certificate) {
  const certFile = join(folder, 'cert.pem');
  const keyFile = join(folder, 'key.pem');
  await Promise.all([writeFile(certFile, cert), writeFile(keyFile, key, { mode: 0o600 })]);
  return {
    port: '0',
    'tls-port': String(port),
    'tls-cert-file': certFile,
    'tls-key-file': keyFile,
    'tls-auth-clients': 'no',
  };
}

/** Throws unless something on the port answers PING; NOAUTH is an answer too. */
function answers(port: number, certificate?: Certificate): Promise<void> {
  return new Promise((resolve, reject) => {
    const at = { host: loopback, port };
    const socket =
      certificate === undefined
        ? createConnection(at)
        : connectTls({ ...at, ca: certificate.ca, checkServerIdentity: () => undefined });
    socket.setTimeout(1_000, () => socket.destroy(new Error('no answer')));
    socket.once('connect', () => socket.write('PING\r\n'));
    socket.once('data', (bytes) => {
      socket.destroy();
      if (/^(\+PONG|-NOAUTH)/.test(bytes.toString())) resolve();
      else reject(new Error(bytes.toString().trim()));
    });
    socket.once('error', reject);
  });
}
