import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js';
import { hashlockOf } from '@parley/core/hashlock.ts';
import type { EscrowTerms } from '@parley/core/terms.ts';
import { freshLane } from '@parley/core/testing.ts';
import { recorder } from '@parley/dev/devnet/testing/start.ts';
import { type TronDevChain, tronChain } from '@parley/dev/devnet/tron-chain.ts';
import { buildRaw, deployedAddress, reference } from '@parley/dev/simulators/tron/messages.ts';
import { faucetAddress } from '@parley/dev/simulators/tron/simulator.ts';
import type { Signed, TronMaterial } from '../../interface/material.ts';
import type { WatchedEscrow } from '../../interface/reading.ts';
import { type TronAdapter, tronAdapter } from '../adapter.ts';
import { parseTronAddress, tronAddressOf, tronHex } from '../address.ts';
import { readTronSigned, signTronTransaction } from '../broadcast.ts';
import {
  claimCall,
  fundCalls,
  referenceTo,
  refundCall,
  type TronCall,
  type TronOrigin,
  tronEscrow,
  tronTransaction,
} from '../plan.ts';
import { tronDevPolicy } from '../policy.ts';
import { tronAddressOfKey } from '../proof.ts';
import type { TronAdapterOptions } from '../watch.ts';

export const solidityLag = 3;

export type Account = { readonly key: Uint8Array; readonly address: string };

function account(byte: number): Account {
  const key = new Uint8Array(32).fill(byte);
  return { key, address: tronAddressOfKey(key) };
}

export const funder = account(0x21);
export const receiver = account(0x22);
export const anyone = account(0x23);
const accounts = [funder, receiver, anyone];

export function newcomer(): string {
  return tronAddressOf(randomBytes(20));
}

export type TestChain = {
  readonly url: string;
  readonly dev: TronDevChain;
  readonly deployment: TronOrigin;
  token(name: string): string;
  solidify(): Promise<void>;
  pass(seconds: number): Promise<void>;
  now(): number;
  stop(): Promise<void>;
};

/** With its accounts funded, and no block unless asked for. */
export async function startTron(): Promise<TestChain> {
  const dir = await mkdtemp(join(tmpdir(), 'parley-tron-'));
  let offset = 0;
  const clock = { now: () => Math.floor(Date.now() / 1_000) + offset };
  const { log } = recorder();
  const dev = await tronChain('tron-dev', { dir, log, clock, solidityLag });
  await dev.setAutomatic(false);
  const { info, simulator } = dev;
  const tokens = [...(info.tokens ?? []), ...(info.hostileTokens ?? [])];
  for (const { address } of accounts) {
    await dev.give({ address, token: null, amount: null });
    for (const { address: token } of tokens) await dev.give({ address, token, amount: null });
  }
  await dev.mine(solidityLag);
  return {
    url: info.rpcUrl,
    dev,
    deployment: {
      chainId: info.chainId,
      contract: info.escrows,
      creation: info.escrowsCreation,
    },
    token: (name) => tokens.find(({ contract }) => contract === name)?.address as string,
    solidify: () => dev.mine(solidityLag),
    pass: async (seconds) => {
      offset += seconds;
      await dev.mine(1);
    },
    now: () => Math.floor(simulator.chain.tip('head').header.timestamp / 1_000),
    stop: async () => {
      await dev.stop();
      await rm(dir, { recursive: true, force: true });
    },
  };
}

export type Leg = {
  readonly secret: string;
  readonly terms: EscrowTerms;
  readonly escrow: WatchedEscrow;
};

export function newLeg(chain: TestChain, over: Partial<EscrowTerms> = {}): Leg {
  const secret = randomBytes(32).toString('hex');
  const terms: EscrowTerms = {
    chain: 'tron-dev',
    hashlock: hashlockOf(secret),
    payout: { address: receiver.address, pubkey: null },
    refund: { address: funder.address, pubkey: null },
    token: null,
    amount: 1_000n,
    timelock: chain.now() + 7_200,
    fundBefore: chain.now() + 3_600,
    lane: freshLane(),
    ...over,
  };
  const { address } = tronEscrow(terms, chain.deployment);
  const since = chain.now();
  return { secret, terms, escrow: { address, terms, requiredConfirmations: 2, since } };
}

export const signal = () => AbortSignal.timeout(60_000);

export const inputOf = ({ escrow }: Leg) => ({ escrow, feeRateSatPerVbyte: null, isPublic: false });

export function adapterOn(
  { url, deployment }: TestChain,
  urls: readonly string[] = [],
  over: Partial<TronAdapterOptions> = {},
): TronAdapter {
  return tronAdapter({
    chain: 'tron-dev',
    deployment,
    sources: (urls.length > 0 ? urls : [url]).map((each) => ({ url: each })),
    policy: tronDevPolicy,
    http: { attemptTimeoutMs: 5_000, rounds: 1 },
    ...over,
  });
}

export async function send(chain: TestChain, by: Account, call: TronCall): Promise<string> {
  const { id, header } = chain.dev.simulator.chain.tip('head');
  const unsigned = tronTransaction(
    { ...call, from: by.address },
    {
      ...referenceTo({ number: header.number, hash: id }),
      expiration: header.timestamp + 600_000,
      timestamp: header.timestamp,
      feeLimitSun: 100_000_000n,
    },
  );
  return post(chain, signTronTransaction(by.key, unsigned));
}

/** A payment of 1 sun to the receiver, with this calldata in its memo. */
export function quoting(chain: TestChain, by: Account, data: string) {
  const { id, header } = chain.dev.simulator.chain.tip('head');
  const { bytes, hash } = reference(BigInt(header.number), id);
  const [owner_address, to_address] = [by, receiver].map((each) =>
    hexToBytes(tronHex(each.address)),
  );
  const rest = {
    ref_block_bytes: hexToBytes(bytes),
    ref_block_hash: hexToBytes(hash),
    expiration: BigInt(header.timestamp + 600_000),
    data: hexToBytes(data),
    timestamp: BigInt(header.timestamp),
  };
  const contract = { owner_address: owner_address!, to_address: to_address!, amount: 1n };
  const raw = buildRaw('TransferContract', contract, rest, 0n);
  const unsigned = { txID: bytesToHex(sha256(raw)), raw_data_hex: bytesToHex(raw) };
  return signTronTransaction(by.key, unsigned);
}

export async function post(chain: TestChain, signed: object): Promise<string> {
  const { raw, txid } = readTronSigned(signed as Signed);
  const answer = await fetch(`${chain.url}/wallet/broadcasthex`, {
    method: 'POST',
    body: JSON.stringify({ transaction: raw }),
  });
  const said = (await answer.json()) as { result?: boolean; message?: string };
  if (said.result !== true) throw new Error(`not taken: ${said.message}`);
  return txid;
}

export async function sendAndMine(chain: TestChain, by: Account, call: TronCall): Promise<string> {
  const txid = await send(chain, by, call);
  await chain.dev.mine(1);
  return txid;
}

export async function fund(chain: TestChain, { terms }: Leg): Promise<string> {
  const by = accounts.find(({ address }) => address === terms.refund.address) as Account;
  const calls = fundCalls(terms, chain.deployment, 0n);
  for (const call of calls.slice(0, -1)) await sendAndMine(chain, by, call);
  return sendAndMine(chain, by, calls.at(-1) as TronCall);
}

export function claim(chain: TestChain, { terms, secret }: Leg, by = anyone): Promise<string> {
  return sendAndMine(chain, by, claimCall(terms, chain.deployment, secret));
}

export function refund(chain: TestChain, { terms }: Leg, by = anyone): Promise<string> {
  return sendAndMine(chain, by, refundCall(terms, chain.deployment));
}

export function signAll(by: Account, { transactions }: TronMaterial) {
  return transactions.map((each) => signTronTransaction(by.key, each));
}

/** Makes a contract by its init code, hex; returns where it is. */
export async function create({ dev }: TestChain, bytecode: string): Promise<string> {
  const origin = hexToBytes(faucetAddress);
  const new_contract = {
    origin_address: origin,
    bytecode: hexToBytes(bytecode),
    consume_user_resource_percent: 100n,
    name: 'test',
  };
  const { txid } = await dev.simulator.sendAsFaucet('CreateSmartContract', { new_contract });
  return parseTronAddress(bytesToHex(deployedAddress(txid, origin)));
}

/** Puts this code on the chain, hex. */
export function deploy(chain: TestChain, runtime: string): Promise<string> {
  const length = (runtime.length / 2).toString(16).padStart(4, '0');
  return create(chain, `61${length}80600a5f395ff3${runtime}`);
}
