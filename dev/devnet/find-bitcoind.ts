// Which bitcoind to run on regtest: one that is named, one on the PATH, or Debian's bitcoin-knots.

import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { DevnetError } from '@parley/host/failure.ts';
import { cacheFolder, obtainDebianProgram } from './debian-package.ts';
import type { NodeInfo } from './dev-chain.ts';
import { isExecutable, programOnPath } from './processes.ts';

const run = promisify(execFile);
const answerLimitMs = 20_000;
export const bitcoindPackage = {
  program: 'bitcoind',
  packages: ['bitcoin-knots'],
  suites: ['trixie', 'trixie-backports'],
};

/** How to run it: a file, and what comes before the node's own arguments. */
export type Bitcoind = {
  readonly file: string;
  readonly leadingArgs: readonly string[];
  readonly node: NodeInfo;
};

/** Asks the program for its version; throws DevnetError when it does not run. */
async function identify(file: string, leadingArgs: readonly string[] = []): Promise<Bitcoind> {
  const args = [...leadingArgs, '--version'];
  const { stdout } = await run(file, args, { timeout: answerLimitMs }).catch((cause) => {
    throw new DevnetError(`${file} does not run`, { file }, { cause });
  });
  const name = /knots/i.test(stdout) ? 'Bitcoin Knots' : 'Bitcoin Core';
  return { file, leadingArgs, node: { name, version: /version v?(\S+)/.exec(stdout)?.[1] ?? '' } };
}

/** `spareFolder`: where the user's cache cannot be written. Throws DevnetError: how to get one. */
export async function findBitcoind(
  named: string | undefined,
  spareFolder: string,
  signal: AbortSignal | undefined,
): Promise<Bitcoind> {
  if (named !== undefined && named !== '') {
    if (isExecutable(named)) return identify(named);
    throw new DevnetError(`PARLEY_BITCOIND names ${named}, which is not a program`);
  }
  const installed = programOnPath('bitcoind');
  if (installed !== null) return identify(installed);
  const cache = await cacheFolder(spareFolder);
  return obtainDebianProgram(bitcoindPackage, cache, identify, signal).catch((cause: unknown) => {
    throw new DevnetError(
      'no bitcoind is on the PATH, and none could be fetched from Debian. Install Bitcoin Core or ' +
        'Knots, or set PARLEY_BITCOIND to its bitcoind, and start again',
      {},
      { cause },
    );
  });
}
