// What stands for Nile and for Solana's devnet: a java-tron where PARLEY_JAVA_TRON names one and a
// validator where PARLEY_SOLANA_VALIDATOR does, else simulators, which are no nodes. All have the
// ids of those networks, so that programs hold them to the rules of those networks.

import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { DevChain } from '../../devnet/dev-chain.ts';
import { javaTronChain } from '../../devnet/nodes/java-tron.ts';
import { validatorChain } from '../../devnet/nodes/solana-validator.ts';
import { solanaChain } from '../../devnet/solana-chain.ts';
import { tronChain } from '../../devnet/tron-chain.ts';
import { clusterDoor } from './cluster-door.ts';

/** Of Nile's first block: its last four bytes are the chain id. */
const nileGenesis = '0000000000000000d698d4192c56cb6be724a558448e2684802de4d6cd8690dc';
const nileChainId = 0xcd8690dc;
/**
 * What the first block of our java-tron names as the one before it. The chain id is the end of the
 * first block's hash, and with this one it is Nile's. Found by trying; it has no other meaning.
 */
const nileParent = `${'0'.repeat(56)}02d4fdc2`;
const devnetGenesis = 'EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG';
const tickMs = 100;

const quiet = { info: () => {}, warn: () => {}, error: () => {} };
const clock = { now: () => Math.floor(Date.now() / 1_000) };

export type Other = {
  /** For people: what it is. */
  readonly title: string;
  readonly chain: DevChain;
  readonly rpcUrl: string;
  readonly token: string;
  stop(): Promise<void>;
};

export async function startTron(work: string): Promise<Other> {
  const classPath = process.env.PARLEY_JAVA_TRON;
  const dir = join(work, 'nile');
  const chain = classPath
    ? await javaTronChain('nile', { classPath, dir, log: quiet, parentHash: nileParent })
    : await tronChain('nile', { dir, log: quiet, clock, genesisId: nileGenesis });
  const { chainId, node } = chain.info;
  if (chainId !== nileChainId) {
    await chain.stop();
    throw new Error(`${node.name} has chain id ${chainId}, not Nile's ${nileChainId}`);
  }
  return ticked(chain, `chain id ${chainId}`);
}

export async function startSolana(work: string): Promise<Other> {
  const validator = process.env.PARLEY_SOLANA_VALIDATOR;
  const own = { dir: join(work, 'solana'), log: quiet };
  const chain = validator
    ? await validatorChain('solana-devnet', { ...own, validator })
    : await solanaChain({
        ...own,
        chain: 'solana-devnet',
        clock,
        genesisHash: devnetGenesis,
      });
  if (!validator) return ticked(chain, `genesis ${devnetGenesis}`);
  const door = await clusterDoor(chain.info.rpcUrl, devnetGenesis);
  const other = ticked(chain, `behind a door that says genesis ${devnetGenesis}`);
  const stop = async () => {
    await door.close();
    await other.stop();
  };
  return { ...other, rpcUrl: door.url, stop };
}

/** A simulator makes a block when it is told to; a node does so by itself. */
function ticked(chain: DevChain, id: string): Other {
  const { node, rpcUrl, tokens = [], hasOwnClock = false } = chain.info;
  let isOver = false;
  const ticking = (async () => {
    while (!isOver && !hasOwnClock) {
      await chain.tick();
      await sleep(tickMs);
    }
  })();
  ticking.catch(() => undefined);
  return {
    title: `${hasOwnClock ? `${node.name} ${node.version}` : 'SIMULATOR'}, ${id}`,
    chain,
    rpcUrl,
    token: tokens[0]?.address ?? '',
    stop: async () => {
      isOver = true;
      await ticking;
      await chain.stop();
    },
  };
}
