// An EVM dev chain: a block for every transaction, more until it is final, faucet and clock.
import type { AnvilNode } from './anvil.ts';
import type { ChainHead, DevChain, DevToken } from './dev-chain.ts';
import { sendGift } from './evm-faucet.ts';
import { blocksAfterActivity, type Pace, pace } from './pace.ts';
import type { Rpc } from './rpc.ts';

const saveEveryMs = 2_000;
/** Saving takes longer as the chain grows; it never takes more than this part of the time. */
const saveShare = 20;

export type Contracts = {
  readonly escrows: string;
  readonly tokens: readonly DevToken[];
  readonly hostileTokens: readonly DevToken[];
};

type Block = { number: string; timestamp: string; hash: string };

export async function evmChain(
  chain: string,
  chainId: number,
  node: AnvilNode,
  clock: { now(): number; isMoved(): boolean },
  deploy: () => Promise<Contracts>,
): Promise<DevChain> {
  const { rpc, rpcUrl } = node;
  const rhythm = pace();
  const saving = saver(node);
  let automatic = true;
  if (clock.isMoved()) await rpc('evm_setTime', [clock.now()]);
  const contracts = await deploy();
  const mintable = [...contracts.tokens, ...contracts.hostileTokens];
  const mine = async (blocks: number) => {
    await rpc('anvil_mine', [`0x${blocks.toString(16)}`, '0x0']);
    rhythm.mined(performance.now());
    rhythm.wake((await headOf(rpc)).height);
  };
  // Anvil forgets the state at older blocks when it ends: readers at depth need new ones.
  await mine(blocksAfterActivity);
  const watch = watcher(rpc, rhythm);
  return {
    info: { chain, family: 'evm', rpcUrl, chainId, node: node.node, ...contracts },
    nativeSymbol: 'ETH',
    head: () => headOf(rpc),
    mine,
    tick: async () => {
      const height = await watch();
      if (automatic && rhythm.isDue(height, false, performance.now())) {
        await rpc('evm_mine');
        rhythm.mined(performance.now());
      }
      await saving.saveIfDue(height);
    },
    give: async (gift) => {
      const sent = await sendGift(node, mintable, gift, automatic);
      rhythm.wake((await headOf(rpc)).height);
      return sent;
    },
    moveTo: async (now) => {
      const { time } = await headOf(rpc);
      await rpc('evm_setTime', [Math.max(now, time)]);
      await mine(1);
    },
    setAutomatic: async (value) => {
      automatic = value;
      await rpc('evm_setAutomine', [value]);
    },
    hasEnded: node.running.hasEnded,
    stop: () => node.running.stop(),
  };
}

async function headOf(rpc: Rpc): Promise<ChainHead> {
  const block = await rpc<Block>('eth_getBlockByNumber', ['latest', false]);
  const time = Number(block.timestamp);
  return { height: Number(block.number), time, medianTime: time };
}

/** Wakes the pace at every block with a transaction in it, and when blocks were taken back. */
function watcher(rpc: Rpc, rhythm: Pace): () => Promise<number> {
  let seenHeight = 0;
  let seenHash = '';
  return async () => {
    const block = await rpc<Block>('eth_getBlockByNumber', ['latest', false]);
    const height = Number(block.number);
    if (height <= seenHeight && block.hash !== seenHash) rhythm.wake(height);
    for (let at = Math.max(seenHeight + 1, height - blocksAfterActivity); at <= height; at++) {
      const number = `0x${at.toString(16)}`;
      const count = await rpc<string | null>('eth_getBlockTransactionCountByNumber', [number]);
      if (Number(count ?? 0) > 0) rhythm.wake(at);
    }
    seenHeight = height;
    seenHash = block.hash;
    return height;
  };
}

function saver(node: AnvilNode): { saveIfDue(height: number): Promise<void> } {
  let savedHeight = -1;
  let nextAtMs = 0;
  return {
    saveIfDue: async (height) => {
      const startedMs = performance.now();
      if (height === savedHeight || startedMs < nextAtMs) return;
      await node.save();
      const endedMs = performance.now();
      savedHeight = height;
      nextAtMs = endedMs + Math.max(saveEveryMs, (endedMs - startedMs) * saveShare);
    },
  };
}
