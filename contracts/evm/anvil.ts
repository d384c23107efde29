// Starts a private anvil for building, measuring and testing the contracts, and stops it again.
// The binary is taken from its platform package: the wrapper package wants an install script.
import { type ChildProcess, spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

const require = createRequire(import.meta.url);
const ARCH: Readonly<Record<string, string>> = { x64: 'amd64', arm64: 'arm64' };
const START_MS = 20_000;
/** Gas rules of the measurements. Pinned, because a fork changes prices. */
export const HARDFORK = 'prague';

class ToolError extends Error {
  constructor(tool: string, what: string, options?: ErrorOptions) {
    super(`${tool}: ${what}`, options);
    this.name = 'ToolError';
  }
}

/** Path of the native binary of a Foundry tool, as npm installed it for this platform. */
export function foundryBinary(tool: 'anvil' | 'forge'): string {
  const arch = ARCH[process.arch] ?? process.arch;
  const name = `@foundry-rs/${tool}-${process.platform}-${arch}`;
  try {
    return join(dirname(require.resolve(`${name}/package.json`)), 'bin', tool);
  } catch (cause) {
    throw new ToolError(tool, `${name} is not installed; run npm ci`, { cause });
  }
}

function listening(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let seen = '';
    const timer = setTimeout(
      () => reject(new ToolError('anvil', `not listening after ${START_MS} ms`)),
      START_MS,
    );
    child.once('error', (cause) => reject(new ToolError('anvil', 'cannot start', { cause })));
    child.once('exit', (code) => reject(new ToolError('anvil', `ended with ${code}: ${seen}`)));
    child.stdout?.on('data', (chunk: Buffer) => {
      seen = (seen + chunk.toString()).slice(-4096);
      const address = /Listening on (127\.0\.0\.1:\d+)/.exec(seen)?.[1];
      if (address === undefined) return;
      clearTimeout(timer);
      resolve(`http://${address}`);
    });
  });
}

/** Runs `work` against a fresh chain on a free loopback port; the chain ends with it. */
export async function withAnvil<T>(
  work: (rpcUrl: string) => Promise<T>,
  extraArguments: readonly string[] = [],
): Promise<T> {
  const child = spawn(
    foundryBinary('anvil'),
    ['--host', '127.0.0.1', '--port', '0', '--hardfork', HARDFORK, ...extraArguments],
    { stdio: ['ignore', 'pipe', 'ignore'] },
  );
  const ended = new Promise<void>((resolve) => {
    child.once('exit', () => resolve());
    child.once('error', () => resolve());
  });
  try {
    return await work(await listening(child));
  } finally {
    child.kill('SIGKILL');
    await ended;
  }
}
