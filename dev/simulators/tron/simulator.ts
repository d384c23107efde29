// Starts the TRON dev chain. It is a SIMULATOR: an EVM engine with the TVM's addresses and energy
// prices behind java-tron's HTTP API, not a TRON node. README.md says what is missing.

import { join } from 'node:path';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { keccak_256 } from '@noble/hashes/sha3.js';
import { bytesToHex, concatBytes, hexToBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import type { Log } from '@parley/host/log.ts';
import type { Block } from './blocks.ts';
import { openChain, type TronChain } from './chain.ts';
import { listen } from './http.ts';
import {
  buildRaw,
  type ContractKind,
  reference,
  type Transaction,
  transactionOf,
} from './messages.ts';
import { defaultExpirationMs } from './parameters.ts';
import type { Message } from './protobuf.ts';
import { Refusal } from './refusal.ts';

/** Public by design: it owns all TRX of the simulated chain, and nothing anywhere else. */
export const faucetKey = sha256(utf8ToBytes('the faucet of a simulated TRON chain'));
export const faucetAddress = addressOfKey(faucetKey);

export function addressOfKey(key: Uint8Array): string {
  const hash = keccak_256(secp256k1.getPublicKey(key, false).subarray(1));
  return `41${bytesToHex(hash.subarray(12))}`;
}

/** As on the main network, where 19 of 27 witnesses confirm. */
export const defaultSolidityLag = 19;

export type SimulatorOptions = {
  readonly dir: string;
  readonly log: Log;
  readonly nowMs: () => number;
  readonly port?: number;
  readonly solidityLag?: number;
  /** /walletsolidity on a port of its own, as java-tron has it; else on the one, as gateways. */
  readonly hasSolidityPort?: boolean;
  /** The id of the first block of the network that it stands for, hex. Default: its own. */
  readonly genesisId?: string | undefined;
};

export type Simulator = {
  readonly url: string;
  readonly solidityUrl: string;
  readonly chain: TronChain;
  /** A block for every transaction at once (the default), or none unless `mine` is called. */
  setAutomatic(automatic: boolean): void;
  isAutomatic(): boolean;
  /** Signed by the faucet, broadcast and mined; throws where it does not succeed. */
  sendAsFaucet(kind: ContractKind, contract: Message): Promise<Transaction>;
  stop(): Promise<void>;
};

/** The most that a java-tron takes before its witnesses vote for more. */
const faucetFeeLimit = 1_000_000_000n;

export async function startSimulator(options: SimulatorOptions): Promise<Simulator> {
  const { dir, log, nowMs } = options;
  const inner = await openChain({
    file: join(dir, 'blocks.jsonl'),
    nowMs,
    solidityLag: options.solidityLag ?? defaultSolidityLag,
    log,
    rich: faucetAddress,
    genesisId: options.genesisId,
  });
  // Expiration is counted from the newest block: it must not be of last week.
  await inner.mine();
  let automatic = true;
  let mining: Promise<unknown> = Promise.resolve();
  const mineSoon = () => {
    mining = mining
      .then(() => (inner.pending() > 0 && automatic ? inner.mine() : undefined))
      .catch((error: Error) => {
        log.error({ reason: error.message }, 'TRON simulator: a block could not be made');
      });
  };
  const chain: TronChain = {
    ...inner,
    broadcast: async (tx) => {
      await inner.broadcast(tx);
      // after the answer: being taken is one thing, being in a block another
      if (automatic) setImmediate(mineSoon);
    },
  };
  const parts = { chain, nowMs, log };
  const solidRoom = ['walletsolidity'];
  const mainRooms = ['wallet', 'jsonrpc', ...(options.hasSolidityPort ? [] : solidRoom)];
  const server = await listen({ ...parts, rooms: mainRooms }, options.port ?? 0).catch(
    async (error) => {
      await inner.stop();
      throw error;
    },
  );
  const solid = options.hasSolidityPort ? await listen({ ...parts, rooms: solidRoom }, 0) : server;
  log.info({ url: server.url }, 'TRON: a SIMULATOR, not a TRON node, speaks its HTTP API');
  return {
    url: server.url,
    solidityUrl: solid.url,
    chain,
    setAutomatic: (value) => {
      automatic = value;
      if (value) mineSoon();
    },
    isAutomatic: () => automatic,
    sendAsFaucet: (kind, contract) => sendAsFaucet(inner, nowMs, kind, contract),
    stop: async () => {
      await Promise.all([server.close(), solid === server ? undefined : solid.close()]);
      await mining;
      await inner.stop();
    },
  };
}

/** A signed transaction that refers to the newest block. */
export function signed(
  tip: Pick<Block, 'id' | 'header'>,
  key: Uint8Array,
  kind: ContractKind,
  contract: Message,
  timestampMs: number,
  lifeMs = defaultExpirationMs,
): Transaction {
  const ref = reference(BigInt(tip.header.number), tip.id);
  const isTransfer = kind === 'TransferContract';
  const rest = {
    ref_block_bytes: hexToBytes(ref.bytes),
    ref_block_hash: hexToBytes(ref.hash),
    expiration: BigInt(Math.max(tip.header.timestamp, timestampMs) + lifeMs),
    timestamp: BigInt(timestampMs),
    ...(isTransfer ? {} : { fee_limit: faucetFeeLimit }),
  };
  const rawBytes = buildRaw(kind, contract, rest, 0n);
  const hash = sha256(rawBytes);
  const flat = secp256k1.sign(hash, key, { prehash: false, format: 'recovered' });
  const signature = concatBytes(flat.subarray(1), Uint8Array.of((flat[0] as number) + 27));
  return transactionOf(rawBytes, [signature]);
}

async function sendAsFaucet(
  chain: TronChain,
  nowMs: () => number,
  kind: ContractKind,
  contract: Message,
): Promise<Transaction> {
  const whole = { owner_address: hexToBytes(faucetAddress), ...contract };
  const tx = signed(chain.tip('head'), faucetKey, kind, whole, nowMs());
  await chain.broadcast(tx);
  await chain.mine();
  const place = chain.find(tx.txid);
  const stored = place?.block.transactions[place.index];
  if (stored?.contractRet === 'SUCCESS') return tx;
  throw new Refusal('CONTRACT_VALIDATE_ERROR', `it ended with ${stored?.contractRet}`);
}
