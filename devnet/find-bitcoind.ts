// Where a bitcoind can be had: one that is named, one on the PATH, or Debian's package.
import { constants } from 'node:fs';
import { access, mkdir } from 'node:fs/promises';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import { type Bitcoind, identifyBitcoind } from './bitcoin-program.ts';
import { obtainDebianBitcoind } from './debian-bitcoind.ts';
import { DevnetError } from './failure.ts';
import { isExecutable } from './processes.ts';

/**
 * `spareFolder` takes what is fetched where the user's cache, which clones share, cannot be
 * written. Throws DevnetError with how to get one.
 */
export async function findBitcoind(
  named: string | undefined,
  spareFolder: string,
  signal: AbortSignal | undefined,
): Promise<Bitcoind> {
  if (named !== undefined && named !== '') {
    if (isExecutable(named)) return identifyBitcoind(named);
    throw new DevnetError(`PARLEY_BITCOIND names ${named}, which is not a program`);
  }
  for (const folder of (process.env.PATH ?? '').split(delimiter)) {
    const file = join(folder, 'bitcoind');
    if (folder !== '' && isExecutable(file)) return identifyBitcoind(file);
  }
  const shared = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'parley');
  const cache = (await isWritable(shared)) ? shared : spareFolder;
  try {
    return await obtainDebianBitcoind(cache, signal);
  } catch (cause) {
    throw new DevnetError(
      'no bitcoind was found and none could be fetched from Debian: install Bitcoin Core or ' +
        'Knots, or set PARLEY_BITCOIND to its bitcoind, and start again',
      { reason: cause instanceof Error ? cause.message : String(cause) },
      { cause },
    );
  }
}

async function isWritable(folder: string): Promise<boolean> {
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await access(folder, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}
