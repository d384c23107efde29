// A Solana key: it signs texts and transactions, and reads what became of them. settle sends.

import { ed25519 } from '@noble/curves/ed25519.js';
import type { SolanaMaterial } from '@parley/chains/interface/material.ts';
import { type Rpc, rpcClient } from '@parley/chains/nodes/rpc.ts';
import { readTransaction, withBlockhash } from '@parley/chains/solana/message.ts';
import {
  blockHeight,
  isBlockhashValid,
  latestBlockhash,
  statusOf,
} from '@parley/chains/solana/node.ts';
import { blockhashBlocks, blockhashSeconds } from '@parley/chains/solana/policy.ts';
import { signSolanaMessage, solanaAddressOfSeed } from '@parley/chains/solana/proof.ts';
import { base58, base64 } from '@scure/base';
import { WalletError } from '../errors.ts';
import type { MessageSigner } from '../keys.ts';
import { type Kept, versionsOf } from '../stores/store.ts';
import {
  type Asks,
  byOneNode,
  oneOfManyTimeoutMs,
  outcomeByAll,
  type SolanaWallet,
  type TxOutcome,
} from './wallet.ts';

export type SolanaSignerOptions = {
  /** 64 bytes, seed and public key, in base58 or as bytes; or the seed alone, 32 bytes. */
  readonly secretKey: string | Uint8Array;
};

/** A wallet of a person (`solana:signTransaction`): its answer is checked here. */
export type SolanaAccount = {
  readonly address: string;
  readonly asks: Asks;
  signMessage(message: string): Promise<string>;
  /** Bytes of the whole transaction, to bytes of the signed one. Throws WalletError. */
  signTransaction(transaction: Uint8Array, signal: AbortSignal): Promise<unknown>;
};

export type SolanaWalletOptions = (SolanaSignerOptions | { readonly account: SolanaAccount }) & {
  readonly chain: string;
  readonly rpcUrls: readonly string[];
};

const seedBytes = 32;
const signatureBytes = 64;
/** How far a node may be behind the one that named a blockhash it does not know. */
const mostBlocksBehind = 300;

export function solanaMessageSigner(options: SolanaSignerOptions): MessageSigner {
  const { seed, address } = keyOf(options);
  return {
    family: 'solana',
    address,
    signMessage: async (message) => signSolanaMessage(seed, message),
  };
}

export function solanaWallet(options: SolanaWalletOptions): SolanaWallet & MessageSigner {
  const { chain, rpcUrls } = options;
  const nodes = nodesOf(chain, rpcUrls);
  const { signed, asks, ...signer } =
    'account' in options ? asked(options.account) : byKey(options);
  return {
    ...signer,
    family: 'solana',
    ...(asks === undefined ? {} : { asks }),
    sign: (material, signal) => {
      const by = { address: signer.address, signed };
      if (asks === undefined) return sign(nodes, by, material, signal);
      return signInTime(nodes, by, material, signal);
    },
    outcome: (kept, signal) => outcomeByAll(nodes, signal, (rpc) => outcomeOf(rpc, kept, signal)),
  };
}

function nodesOf(chain: string, urls: readonly string[]): readonly Rpc[] {
  if (urls.length < 2) return [rpcClient({ chain, urls })];
  const short = { rounds: 1, attemptTimeoutMs: oneOfManyTimeoutMs };
  return urls.map((url) => rpcClient({ chain, urls: [url], ...short }));
}

type Key = { readonly seed: Uint8Array; readonly address: string };

function keyOf({ secretKey }: SolanaSignerOptions): Key {
  const bytes = typeof secretKey === 'string' ? base58.decode(secretKey) : secretKey;
  if (bytes.length !== seedBytes && bytes.length !== 2 * seedBytes) {
    throw new Error(`a Solana secret key has 64 bytes, or 32 as a seed, not ${bytes.length}`);
  }
  const seed = bytes.slice(0, seedBytes);
  const address = solanaAddressOfSeed(seed);
  if (bytes.length > seedBytes && base58.encode(bytes.subarray(seedBytes)) !== address) {
    throw new Error('the public key in this Solana secret key is not that of its seed');
  }
  return { seed, address };
}

type Signing = {
  readonly address: string;
  /** Its 64 bytes over the message of these bytes of a transaction. */
  signed(transaction: Uint8Array, message: Uint8Array, signal: AbortSignal): Promise<Uint8Array>;
};

type Signer = MessageSigner & Signing & { readonly asks?: Asks };

function byKey(options: SolanaSignerOptions): Signer {
  const { seed } = keyOf(options);
  const signed: Signing['signed'] = async (_, message) => ed25519.sign(message, seed);
  return { ...solanaMessageSigner(options), signed };
}

function asked({ address, asks, signMessage, signTransaction }: SolanaAccount): Signer {
  const signed: Signing['signed'] = async (transaction, message, signal) => {
    const answer = await signTransaction(transaction, signal);
    return signatureIn(answer, message, address);
  };
  return { family: 'solana', address, asks, signMessage, signed };
}

/** Some wallets add instructions of their own: such a message is unknown, and is not sent. */
function signatureIn(answer: unknown, message: Uint8Array, address: string): Uint8Array {
  const lies = (what: string, cause?: unknown) =>
    new WalletError('lied', `the wallet ${what}: this side sent nothing`, { cause });
  if (!(answer instanceof Uint8Array)) throw lies('has answered no transaction');
  const wanted = Uint8Array.of(1, ...new Uint8Array(signatureBytes), ...message);
  if (answer.length !== wanted.length) {
    throw lies(`has signed ${answer.length} bytes in place of the ${wanted.length} asked for`);
  }
  const signature = answer.slice(1, 1 + signatureBytes);
  const isSame = answer.every(
    (byte, at) => (at >= 1 && at <= signatureBytes) || byte === wanted[at],
  );
  if (!isSame) throw lies('has signed another transaction than the one asked for');
  if (!ed25519.verify(signature, message, base58.decode(address), { zip215: false })) {
    throw lies(`has not signed it with the key of ${address}`);
  }
  return signature;
}

async function sign(
  nodes: readonly Rpc[],
  { signed, address }: Signing,
  { transaction }: SolanaMaterial,
  signal: AbortSignal,
): Promise<Kept> {
  const { message, signers, keys, blockhash } = readTransaction(transaction);
  if (signers !== 1 || keys[0] !== address) {
    throw new Error(`this wallet signs alone as ${address}, not with ${signers} as ${keys[0]}`);
  }
  const end = (rpc: Rpc) => endOf(rpc, blockhash, signal);
  const lastValidBlockHeight = await byOneNode(nodes, signal, end);
  const signature = await signed(base64.decode(transaction), message, signal);
  const raw = base64.encode(Uint8Array.of(1, ...signature, ...message));
  return { txid: base58.encode(signature), raw, lastValidBlockHeight };
}

/**
 * A person has 30 s to read it, on a device too. So it names a block of the moment of the prompt,
 * which no check of the material depends on, and a signature that comes too late is not sent.
 */
async function signInTime(
  nodes: readonly Rpc[],
  by: Signing,
  material: SolanaMaterial,
  signal: AbortSignal,
): Promise<Kept> {
  const newest = (rpc: Rpc) => latestBlockhash(rpc, 'confirmed', signal);
  const { blockhash } = await byOneNode(nodes, signal, newest);
  const transaction = withBlockhash(material.transaction, blockhash);
  const kept = await sign(nodes, by, { ...material, transaction }, signal);
  const height = await byOneNode(nodes, signal, (rpc) => blockHeight(rpc, 'processed', signal));
  if (height <= (kept.lastValidBlockHeight ?? height)) return kept;
  const sentence =
    `the signature came after the ${blockhashSeconds} s that a Solana transaction lives, so it was ` +
    'not sent: have your device open and ready, then try again';
  throw new WalletError('late', sentence);
}

/**
 * The builder of a transaction may err or lie: one's own node counts. A hash it knows is of a block
 * at its height or below.
 */
async function endOf(rpc: Rpc, blockhash: string, signal: AbortSignal): Promise<number> {
  const isKnown = await isBlockhashValid(rpc, blockhash, 'processed', signal);
  const height = await blockHeight(rpc, 'processed', signal);
  return height + blockhashBlocks + (isKnown ? 0 : mostBlocksBehind);
}

/** A finalized block above its last height, without the transaction in any block, is its end. */
async function outcomeOf(rpc: Rpc, kept: Kept, signal: AbortSignal): Promise<TxOutcome> {
  // Asked first: a transaction that enters a block between the two questions only looks as if it
  // waited.
  const finalized = await blockHeight(rpc, 'finalized', signal);
  const statuses = [];
  for (const txid of versionsOf(kept)) statuses.push(await statusOf(rpc, txid, signal));
  if (statuses.some((status) => status?.failed === false)) return { state: 'succeeded' };
  const [newest = null] = statuses;
  if (newest?.finalized) return { state: 'reverted' };
  const { lastValidBlockHeight = Number.POSITIVE_INFINITY } = kept;
  if (newest === null && finalized > lastValidBlockHeight) return { state: 'lost' };
  return { state: 'waiting', next: true, gap: false };
}
