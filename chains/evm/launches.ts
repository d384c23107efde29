// Launches that a factory tells of, at the depth that money waits for.

import { getAddress } from 'viem/utils';
import { type Factory, launchReader, type Steps } from '../kit/launches.ts';
import type { Opened } from '../nodes/opened.ts';
import type { LaunchReader } from '../tokens/launches.ts';
import { blockAt, codeAt, headBlock, type Log } from './node.ts';
import { eachRange } from './scan.ts';
import type { Watch } from './watch.ts';

/** `depth`: blocks that hold a launch, its own included, before it counts. */
export function launchesOf(watch: Watch, depth: number, opened: Opened): LaunchReader {
  return launchReader(watch, stepsAt(depth), opened);
}

function stepsAt(depth: number): Steps<Watch> {
  const steps: Steps<Watch> = {
    pageBlocks: 10_000,
    rewindBlocks: 512,
    newest: async ({ rpc }, signal) => {
      const { number, timestamp } = await headBlock(rpc, signal);
      return { deep: Math.max(0, number - depth + 1), seconds: timestamp };
    },
    blockAt: async ({ rpc }, height, signal) => {
      const block = await blockAt(rpc, height, false, signal);
      return block && { number: block.number, hash: block.hash, seconds: block.timestamp };
    },
    read: async (watch, factory, { last, to }, signal) => {
      const { address, topic } = factory;
      const filters = [{ address, topics: [`0x${topic}`] }];
      const tokens: (string | null)[] = [];
      let end = last.number;
      try {
        await eachRange(watch, filters, last.number + 1, to, signal, (logs, rangeEnd) => {
          for (const log of logs) {
            const isIn = log.block > end && log.block <= rangeEnd;
            if (log.address === address && isIn) tokens.push(tokenOf(factory, log));
          }
          end = rangeEnd;
        });
      } catch (error) {
        // What was read counts: some providers give little at a time.
        if (end === last.number) throw error;
      }
      return { tokens, end };
    },
    isContract: async ({ rpc }, token, signal) => {
      return (await codeAt(rpc, token, 'latest', signal)) !== '0x';
    },
  };
  return steps;
}

function tokenOf(factory: Factory, { topics, data }: Log): string | null {
  const plain = (hex: string) => hex.slice(2).toLowerCase();
  const token = factory.tokenIn(topics.map(plain), plain(data));
  return token === null ? null : getAddress(`0x${token}`);
}
