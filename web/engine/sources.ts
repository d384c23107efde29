// A chain by nodes that a page may ask: the adapter of each family is loaded when it is used.

import type { AppChain } from '../../core/app-chain.ts';
import type { UnixSeconds } from '../../core/nominal.ts';
import type { ChainSource } from '../../sdk/chains.ts';
import { worldOf } from './chains.ts';

/** Throws where no policy is known for it, and where nothing is asked. */
export async function sourceOf(
  of: AppChain,
  urls: readonly string[],
  now: () => UnixSeconds,
): Promise<ChainSource> {
  const { chain } = of;
  const [first, second] = urls;
  if (first === undefined) throw new Error(`no node is known for "${chain}": name one of your own`);
  switch (of.family) {
    case 'bitcoin': {
      const { bitcoinSource } = await import('../../sdk/sources/bitcoin.ts');
      const beside = second === undefined ? {} : { second: bitcoinAt(second) };
      return bitcoinSource({
        chain,
        network: of.bitcoin,
        source: bitcoinAt(first),
        ...beside,
        now,
      });
    }
    case 'evm': {
      const { evmSource } = await import('../../sdk/sources/evm.ts');
      return evmSource({ ...of, rpcUrls: urls });
    }
    case 'tron': {
      const { tronSource, devPolicy } = await import('../../sdk/sources/tron.ts');
      const policy = worldOf(of) === null ? { policy: devPolicy } : {};
      const sources = urls.map((url) => ({ url }));
      return tronSource({ chain, deployment: of, sources, ...policy });
    }
    case 'solana': {
      const { solanaSource, devPolicy } = await import('../../sdk/sources/solana.ts');
      const policy = worldOf(of) === null ? { policy: devPolicy } : {};
      const { genesisHash, program } = of;
      const known = genesisHash === '' ? {} : { genesisHash };
      return solanaSource({ chain, rpcUrls: urls, program, ...known, ...policy, now });
    }
  }
}

/** A Core node asks for a user and a password, an Esplora for nothing. */
function bitcoinAt(url: string) {
  return new URL(url).username === '' ? { esploraUrl: url } : { coreUrl: url };
}
