// Where a bitcoind can be had: one that is named, one on the PATH, or Debian's package.

import { DevnetError } from '../host/failure.ts';
import { type Bitcoind, identifyBitcoind } from './bitcoin-program.ts';
import { obtainDebianBitcoind } from './debian-bitcoind.ts';
import { cacheFolder } from './debian-package.ts';
import { isExecutable, programOnPath } from './processes.ts';

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
  const installed = programOnPath('bitcoind');
  if (installed !== null) return identifyBitcoind(installed);
  const cache = await cacheFolder(spareFolder);
  try {
    return await obtainDebianBitcoind(cache, signal);
  } catch (cause) {
    throw new DevnetError(
      'no bitcoind is on the PATH, and none could be fetched from Debian. Install Bitcoin Core or ' +
        'Knots, or set PARLEY_BITCOIND to its bitcoind, and start again',
      {},
      { cause },
    );
  }
}
