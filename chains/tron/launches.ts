// Launches that a factory tells of: its events in solid blocks.

import { hexToBytes } from '@noble/hashes/utils.js';
import { launchReader, type Steps } from '../kit/launches.ts';
import type { Opened } from '../nodes/opened.ts';
import type { LaunchReader } from '../tokens/launches.ts';
import { tronAddressOf } from './address.ts';
import { blockAt, codeAt, headBlock, secondOf } from './node.ts';
import { bareAddress } from './plan.ts';
import { eachBlock } from './receipts.ts';
import type { Watch } from './watch.ts';

export function launchesOf(watch: Watch, opened: Opened): LaunchReader {
  return launchReader(watch, steps, opened);
}

const steps: Steps<Watch> = {
  // Five minutes of them.
  pageBlocks: 100,
  rewindBlocks: 100,
  newest: async ({ http }, signal) => {
    const solid = await headBlock(http, 'solid', signal);
    return { deep: solid.number, seconds: secondOf(solid) };
  },
  blockAt: async ({ http }, height, signal) => {
    const block = await blockAt(http, height, signal);
    return block && { number: height, hash: block.hash, seconds: secondOf(block) };
  },
  read: async (watch, factory, { last, to }, signal) => {
    const address = bareAddress(factory.address).slice(2);
    const tokens: (string | null)[] = [];
    await eachBlock(watch, last, to, signal, (logs) => {
      for (const { topics, data, ...log } of logs) {
        if (log.address !== address || topics[0] !== factory.topic) continue;
        const token = factory.tokenIn(topics, data);
        tokens.push(token === null ? null : tronAddressOf(hexToBytes(token)));
      }
    });
    return { tokens, end: to };
  },
  isContract: async ({ http }, token, signal) => (await codeAt(http, token, signal)) !== null,
};
