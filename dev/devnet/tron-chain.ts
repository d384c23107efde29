// The TRON simulator as a dev chain: contracts, tokens, a faucet, blocks, a clock that moves.

import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js';
import { RefusedRequest } from '@parley/host/failure.ts';
import type { Log } from '@parley/host/log.ts';
import type { TronChain } from '../simulators/tron/chain.ts';
import { FormatError, parseAddress } from '../simulators/tron/protobuf.ts';
import { Refusal } from '../simulators/tron/refusal.ts';
import {
  defaultSolidityLag,
  type Simulator,
  startSimulator,
} from '../simulators/tron/simulator.ts';
import type { ChainHead, ChainInfo, DevChain, DevToken, Gift } from './dev-chain.ts';
import { amountOf, cannotSend, mintCall, tokenGift } from './faucet.ts';
import { pace } from './pace.ts';
import { keptPort } from './processes.ts';
import { deployContracts, type TronContracts } from './tron-contracts.ts';

export type TronChainOptions = {
  readonly dir: string;
  readonly log: Log;
  readonly clock: { now(): number };
  readonly solidityLag?: number;
  readonly hasSolidityPort?: boolean;
  /** See SimulatorOptions. */
  readonly genesisId?: string;
};

export type TronDevChain = DevChain & {
  readonly info: ChainInfo & { readonly chainId: number } & Pick<
      TronContracts,
      'escrows' | 'escrowsCreation'
    >;
  readonly simulator: Simulator;
};

const sun = 1_000_000n;
const coins = { usual: 10_000n * sun, most: 10_000_000n * sun, unit: 'sun' };

export async function tronChain(chain: string, options: TronChainOptions): Promise<TronDevChain> {
  const { dir, log, clock, solidityLag = defaultSolidityLag, hasSolidityPort = false } = options;
  const { genesisId } = options;
  const port = await keptPort(dir);
  const nowMs = () => clock.now() * 1_000 + (Date.now() % 1_000);
  const simulator = await startSimulator({
    dir,
    log,
    nowMs,
    solidityLag,
    port,
    hasSolidityPort,
    genesisId,
  });
  try {
    return await onSimulator(chain, simulator, solidityLag);
  } catch (error) {
    await simulator.stop();
    throw error;
  }
}

async function onSimulator(
  chain: string,
  simulator: Simulator,
  solidityLag: number,
): Promise<TronDevChain> {
  const contracts = await deployContracts(simulator);
  const mintable = [...contracts.tokens, ...contracts.hostileTokens];
  const { tick, mine } = mining(simulator, solidityLag);
  await mine(solidityLag + 1); // what was deployed is solid
  return {
    info: {
      chain,
      family: 'tron',
      rpcUrl: simulator.url,
      chainId: simulator.chain.chainId,
      node: { name: 'parley-tron-simulator', version: '1' },
      ...contracts,
    },
    nativeSymbol: 'TRX',
    simulator,
    head: async () => headOf(simulator.chain),
    mine,
    tick,
    give: (gift) => give(simulator, mintable, gift),
    moveTo: () => mine(1), // the clock has moved already
    setAutomatic: async (automatic) => simulator.setAutomatic(automatic),
    takeBack: (blocks) => simulator.chain.takeBack(blocks),
    stop: () => simulator.stop(),
  };
}

function headOf(chain: TronChain): ChainHead {
  const { number, timestamp } = chain.tip('head').header;
  const time = Math.floor(timestamp / 1_000);
  return { height: number, time, medianTime: time };
}

/** After anything happened a block a tick until it is solid; otherwise one now and then. */
function mining({ chain, isAutomatic }: Simulator, solidityLag: number) {
  const rhythm = pace(solidityLag);
  let seen = chain.tip('head');
  const look = (): number => {
    const top = chain.tip('head');
    const { number } = top.header;
    if (number <= seen.header.number && top.id !== seen.id) rhythm.wake(number); // taken back
    for (let at = seen.header.number + 1; at <= number; at++) {
      if ((chain.block(at)?.transactions.length ?? 0) > 0) rhythm.wake(at);
    }
    seen = top;
    return number;
  };
  const make = async (blocks: number) => {
    for (let n = 0; n < blocks; n++) await chain.mine();
    rhythm.mined(performance.now());
  };
  return {
    mine: async (blocks: number) => {
      await make(blocks);
      rhythm.wake(look());
    },
    tick: async () => {
      const height = look();
      const waiting = chain.pending() > 0;
      if (isAutomatic() && rhythm.isDue(height, waiting, performance.now())) await make(1);
    },
  };
}

async function give(simulator: Simulator, tokens: readonly DevToken[], gift: Gift) {
  const to = receiver(gift.address);
  try {
    if (gift.token === null) {
      const amount = amountOf(gift, coins);
      const contract = { to_address: to, amount };
      const { txid } = await simulator.sendAsFaucet('TransferContract', contract);
      return { txid, amount };
    }
    const { contract, amount } = minting(tokens, gift, to);
    const { txid } = await simulator.sendAsFaucet('TriggerSmartContract', contract);
    return { txid, amount };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    throw cannotSend(error);
  }
}

function receiver(text: string): Uint8Array {
  const refused = new RefusedRequest(400, `${text} is not a TRON address.`);
  try {
    const bytes = parseAddress(text, !/^41[0-9a-fA-F]{40}$/.test(text));
    if (bytes.length === 21 && bytes[0] === 0x41) return bytes;
  } catch (error) {
    if (!(error instanceof FormatError)) throw error;
  }
  throw refused;
}

function minting(tokens: readonly DevToken[], gift: Gift, to: Uint8Array) {
  const { token, amount } = tokenGift(tokens, gift);
  const data = hexToBytes(mintCall(bytesToHex(to.subarray(1)), amount));
  return { contract: { contract_address: parseAddress(token, true), data }, amount };
}
