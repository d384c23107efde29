// Which bitcoind to run, and which node it is.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { DevnetError } from '../host/failure.ts';
import type { NodeInfo } from './dev-chain.ts';

const run = promisify(execFile);
const answerLimitMs = 20_000;

/** How to run it: a file, and what comes before the node's own arguments. */
export type Bitcoind = {
  readonly file: string;
  readonly leadingArgs: readonly string[];
  readonly node: NodeInfo;
};

/** Asks the program for its version; throws DevnetError when it does not run. */
export async function identifyBitcoind(
  file: string,
  leadingArgs: readonly string[] = [],
): Promise<Bitcoind> {
  const args = [...leadingArgs, '--version'];
  const { stdout } = await run(file, args, { timeout: answerLimitMs }).catch((cause) => {
    throw new DevnetError(`${file} does not run`, { file }, { cause });
  });
  const name = /knots/i.test(stdout) ? 'Bitcoin Knots' : 'Bitcoin Core';
  return { file, leadingArgs, node: { name, version: /version v?(\S+)/.exec(stdout)?.[1] ?? '' } };
}
