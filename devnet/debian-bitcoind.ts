// A bitcoind for regtest where none is installed: Debian's own bitcoin-knots package. Never for
// real money.
import { type Bitcoind, identifyBitcoind } from './bitcoin-program.ts';
import { obtainDebianProgram } from './debian-package.ts';

/** Uses what an earlier start unpacked into `cache`, else fetches it. */
export function obtainDebianBitcoind(
  cache: string,
  signal: AbortSignal | undefined,
): Promise<Bitcoind> {
  const wanted = {
    program: 'bitcoind',
    packages: ['bitcoin-knots'],
    suites: ['trixie', 'trixie-backports'],
  };
  return obtainDebianProgram(wanted, cache, identifyBitcoind, signal);
}
