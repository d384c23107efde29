// An EVM dev chain: a block for every transaction at once, further blocks until it is deep, a
// faucet, and a clock that moves.
import { getAddress, isAddress } from 'viem';
import type { AnvilNode } from './anvil.ts';
import type { ChainHead, ChainInfo, DevChain, DevToken, Gift } from './dev-chain.ts';
import { DevnetError, RefusedRequest } from './failure.ts';
import { blocksAfterActivity, pace } from './pace.ts';
import { RpcError } from './rpc.ts';

/** The first account of anvil's well-known mnemonic; it deploys and it gives. */
export const faucetAddress = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266';
export const faucetPrivateKey =
  '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80';

const wei = 10n ** 18n;
const defaultGiftWei = 100n * wei;
const giftLimitWei = 10_000n * wei;
const defaultGiftTokens = 1_000_000n;
const giftLimitTokens = 1_000_000_000n;
const receiptLimitMs = 10_000;
const saveEveryMs = 2_000;
/** Saving takes longer as the chain grows; it never takes more than this share of the time. */
const saveShare = 20;

export type Contracts = {
  readonly factory: string;
  readonly tokens: readonly DevToken[];
  readonly hostileTokens: readonly DevToken[];
};

type Block = { number: string; timestamp: string };

export async function evmChain(
  chain: string,
  chainId: number,
  node: AnvilNode,
  clock: { now(): number; isMoved(): boolean },
  deploy: (node: AnvilNode) => Promise<Contracts>,
): Promise<DevChain> {
  const { rpc } = node;
  const rhythm = pace();
  const saving = saver(node);
  let automatic = true;

  const head = async (): Promise<ChainHead> => {
    const block = await rpc<Block>('eth_getBlockByNumber', ['latest', false]);
    const time = Number(block.timestamp);
    return { height: Number(block.number), time, medianTime: time };
  };
  const mine = async (blocks: number) => {
    await rpc('anvil_mine', [`0x${blocks.toString(16)}`, '0x0']);
    const { height } = await head();
    rhythm.mined(performance.now());
    rhythm.wake(height);
  };
  if (clock.isMoved()) await rpc('evm_setTime', [clock.now()]);
  const contracts = await deploy(node);
  // Anvil forgets the state at older blocks when it starts: readers at depth need new ones.
  await mine(blocksAfterActivity);
  let seenHeight = (await head()).height;

  const tick = async () => {
    const { height } = await head();
    for (let at = Math.max(seenHeight + 1, height - blocksAfterActivity); at <= height; at++) {
      const number = `0x${at.toString(16)}`;
      const count = await rpc<string | null>('eth_getBlockTransactionCountByNumber', [number]);
      if (Number(count ?? 0) > 0) rhythm.wake(at);
    }
    seenHeight = height;
    if (automatic && rhythm.isDue(height, false, performance.now())) {
      await rpc('evm_mine');
      rhythm.mined(performance.now());
    }
    await saving.saveIfDue(height);
  };
  const mintable = [...contracts.tokens, ...contracts.hostileTokens];
  const info: ChainInfo = {
    chain,
    family: 'evm',
    rpcUrl: node.rpcUrl,
    chainId,
    node: node.node,
    ...contracts,
  };
  return {
    info,
    nativeSymbol: 'ETH',
    head,
    mine,
    tick,
    give: async (gift) => {
      const sent = await send(node, mintable, gift, automatic);
      rhythm.wake((await head()).height);
      return sent;
    },
    moveTo: async (now) => {
      const { time } = await head();
      await rpc('evm_setTime', [Math.max(now, time)]);
      await mine(1);
    },
    setAutomatic: async (value) => {
      automatic = value;
      await rpc('evm_setAutomine', [value]);
    },
    stop: async () => {
      await saving.save().catch(() => undefined);
      await node.running.stop();
    },
  };
}

type Saver = { saveIfDue(height: number): Promise<void>; save(): Promise<void> };

function saver(node: AnvilNode): Saver {
  let savedHeight = -1;
  let nextAtMs = 0;
  const saveAt = async (height: number) => {
    const startedMs = performance.now();
    await node.save();
    const endedMs = performance.now();
    savedHeight = height;
    nextAtMs = endedMs + Math.max(saveEveryMs, (endedMs - startedMs) * saveShare);
  };
  return {
    save: () => saveAt(savedHeight),
    saveIfDue: async (height) => {
      if (height !== savedHeight && performance.now() >= nextAtMs) await saveAt(height);
    },
  };
}

async function send(
  node: AnvilNode,
  tokens: readonly DevToken[],
  gift: Gift,
  automatic: boolean,
): Promise<{ txid: string; amount: bigint }> {
  const { address } = gift;
  if (!isAddress(address, { strict: true })) {
    throw new RefusedRequest(400, `${address} is not an EVM address (or its checksum is wrong).`);
  }
  const { call, amount } = gift.token === null ? ether(gift) : minting(tokens, gift);
  const txid = await node
    .rpc<string>('eth_sendTransaction', [{ from: faucetAddress, ...call }])
    .catch((error: unknown) => {
      if (!(error instanceof RpcError)) throw error;
      throw new RefusedRequest(409, `The faucet cannot send now: ${error.message}`);
    });
  if (!automatic) await node.rpc('evm_mine');
  await untilMined(node, txid);
  return { txid, amount };
}

type Sending = {
  readonly call: { to: string; value?: string; data?: string };
  readonly amount: bigint;
};

function ether({ address, amount }: Gift): Sending {
  const value = amount ?? defaultGiftWei;
  checkLimit(value, giftLimitWei, 'wei');
  return { call: { to: address, value: `0x${value.toString(16)}` }, amount: value };
}

/** `mint(address,uint256)` of the dev tokens, open to everyone. */
function minting(tokens: readonly DevToken[], { address, token, amount }: Gift): Sending {
  const known = tokens.find((entry) => entry.address.toLowerCase() === token?.toLowerCase());
  if (known === undefined) throw new RefusedRequest(400, `The faucet has no token ${token}.`);
  const unit = 10n ** BigInt(known.decimals);
  const value = amount ?? defaultGiftTokens * unit;
  checkLimit(value, giftLimitTokens * unit, `units of ${known.symbol}`);
  const to = getAddress(address).slice(2).toLowerCase().padStart(64, '0');
  const data = `0x40c10f19${to}${value.toString(16).padStart(64, '0')}`;
  return { call: { to: known.address, data }, amount: value };
}

function checkLimit(value: bigint, limit: bigint, unit: string): void {
  if (value >= 1n && value <= limit) return;
  throw new RefusedRequest(400, `The faucet gives 1 to ${limit} ${unit} at a time, not ${value}.`);
}

async function untilMined(node: AnvilNode, txid: string): Promise<void> {
  const until = performance.now() + receiptLimitMs;
  while (performance.now() < until) {
    const receipt = await node.rpc<{ status: string } | null>('eth_getTransactionReceipt', [txid]);
    if (receipt?.status === '0x1') return;
    if (receipt !== null) throw new RefusedRequest(409, `The gift ${txid} failed on chain.`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new DevnetError(`the gift ${txid} was not mined`, { txid });
}
