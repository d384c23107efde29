// Simulators of TRON and Solana that stand for Nile and the devnet: the same ids, so that programs
// hold them to the rules of those networks. They are no nodes, and the soak says so.

import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { solanaChain } from '../../devnet/solana-chain.ts';
import { tronChain } from '../../devnet/tron-chain.ts';

/** Of Nile's first block: its last four bytes are the chain id. */
const nileGenesis = '0000000000000000d698d4192c56cb6be724a558448e2684802de4d6cd8690dc';
const devnetGenesis = 'EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG';
const tickMs = 100;

const quiet = { info: () => {}, warn: () => {}, error: () => {} };
const clock = { now: () => Math.floor(Date.now() / 1_000) };

export async function startSimulated(work: string) {
  const tron = await tronChain('nile', {
    ...{ dir: join(work, 'nile'), log: quiet, clock, genesisId: nileGenesis },
  });
  const solana = await solanaChain({
    ...{ chain: 'solana-devnet', dir: join(work, 'solana'), log: quiet, clock },
    genesisHash: devnetGenesis,
  });
  let isOver = false;
  const ticking = (async () => {
    while (!isOver) {
      await tron.tick();
      await solana.tick();
      await sleep(tickMs);
    }
  })();
  ticking.catch(() => undefined);
  return {
    tron,
    solana,
    stop: async () => {
      isOver = true;
      await ticking;
      await Promise.all([tron.stop(), solana.stop()]);
    },
  };
}

export type Simulated = Awaited<ReturnType<typeof startSimulated>>;
