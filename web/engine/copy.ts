// The engine of a saved copy: what a rescue file says of chains is all it begins with. It keeps
// nothing beyond its page, and asks no market.

import type { AppChain } from '../../core/app-chain.ts';
import type { ParleyClient } from '../../sdk/client.ts';
import { ParleyApiError } from '../../sdk/errors.ts';
import type { RescueChain, RescueFile } from '../../sdk/rescue/file.ts';
import { memoryStore } from '../../sdk/stores/memory.ts';
import { type OpenEngine, openEngine } from './engine.ts';
import { memoryKept } from './kept.ts';

const pollMs = 5_000;

export function copyEngine({ network, chains }: RescueFile): Promise<OpenEngine> {
  return openEngine({
    ...{ name: 'parley-copy', network, chains: chains.map(appChainOf), client: nobody },
    ...{ store: memoryStore(), kept: memoryKept(), isSecure: false, pollMs },
    // Whose clock is wrong sees it by the chains.
    marketClock: async () => ({ offsetSeconds: 0, atMs: null }),
    clockEveryMs: 3_600_000,
  });
}

/** A market that is gone: every question fails as one that had no answer. */
const nobody = new Proxy({} as ParleyClient, {
  get: (_, name) => {
    // Whoever awaits it has it, and no answer of its own.
    if (name === 'then') return undefined;
    return noAnswer;
  },
});

async function noAnswer(): Promise<never> {
  const message = 'a saved copy asks no market';
  throw new ParleyApiError({ status: 0, code: 'no_answer', message });
}

/** Without nodes: a person names them. */
export function appChainOf(of: RescueChain): AppChain {
  const nodes: readonly string[] = [];
  const { chain } = of;
  switch (of.family) {
    case 'bitcoin':
      return { family: 'bitcoin', chain, bitcoin: of.network as 'mainnet', nodes };
    case 'evm': {
      const { contract, shards = [], formerContracts = [] } = of.deployment;
      const names = (all: readonly { readonly contract: string }[]) =>
        all.map((each) => each.contract);
      const beside = { shards: names(shards), formerContracts: names(formerContracts) };
      return { family: 'evm', chain, chainId: of.chainId, contract, ...beside, nodes };
    }
    case 'tron': {
      // A source of TRON pins the transactions that created its contracts too.
      const origin = of.deployment as Omit<AppChain & { family: 'tron' }, 'nodes'>;
      return { ...origin, family: 'tron', chain, nodes };
    }
    case 'solana': {
      const { genesisHash = '', deployment } = of;
      return { family: 'solana', chain, genesisHash, program: deployment.program, nodes };
    }
  }
}
