// Proof that a wallet signed a message: EIP-191, or EIP-1271 and EIP-6492 by a node of its chain.

import { ParleyError } from '@parley/core/errors.ts';
import { erc6492SignatureValidatorAbi, erc6492SignatureValidatorByteCode, type Hex } from 'viem';
import {
  bytesToHex,
  encodeDeployData,
  encodeFunctionData,
  getAddress,
  hashMessage,
  hexToBytes,
  parseAbi,
} from 'viem/utils';
import { recoverKeyHash } from '../kit/recoverable.ts';
import { bareSignature, hexIn, notIn } from '../kit/signature-text.ts';
import { AnswerTooLong } from '../nodes/exchange.ts';
import { isCallFailure, type Rpc, RpcError } from '../nodes/rpc.ts';
import { parseEvmAddress } from './address.ts';

export type EvmProof = {
  readonly address: string;
  readonly message: string;
  /** Hex. By a key: 65 bytes r, s, v with low s and v 27, 28, 0 or 1 (no EIP-2098). */
  readonly signature: string;
  readonly nodes?: readonly Rpc[];
};

/** Contract wallets sign with a few owners' signatures and, undeployed, their init code. */
const mostSignatureBytes = 8_192;

function refuse(why: string): ParleyError {
  return new ParleyError('bad_signature', `the signature is not valid for this message: ${why}`);
}

/**
 * With 0x, which some wallets leave out. A contract whose owners approved the text on its chain has
 * an empty one. Throws `bad_signature` where it is no hex.
 */
export function readEvmSignature(text: string): Hex {
  const bare = bareSignature(text);
  if (bare === '0x') return bare;
  const hex = hexIn(bare);
  if (hex === null) throw refuse(notIn('hex', bare));
  return `0x${hex}`;
}

/** A contract must accept on one chain and refuse on none. Throws `bad_signature`. */
export async function verifyEvmProof(proof: EvmProof, signal: AbortSignal): Promise<string> {
  const { message, nodes = [] } = proof;
  const address = parseEvmAddress(proof.address);
  const signature = readEvmSignature(proof.signature);
  if (signature.length > 2 + 2 * mostSignatureBytes) {
    throw refuse(`it is longer than ${mostSignatureBytes} bytes`);
  }
  const compact = 'it is a compact signature (EIP-2098), and 65 bytes r, s, v are wanted';
  const isCompact = signature.length === 130;
  const other = isCompact ? compact : 'no key signature';
  const signer = signature.length === 132 ? recoverSigner(message, signature) : other;
  if (signer === address) return address;
  const verdicts = await Promise.all(
    nodes.map((node) => contractSays(node, address, message, signature, signal)),
  );
  // The same address may be another owner's contract on another chain: all that exist must agree.
  if (verdicts.includes('accepts') && !verdicts.includes('refuses')) return address;
  if (nodes.length > 0 && !isCompact) {
    throw refuse(`${address} neither signed it nor accepts it as a contract`);
  }
  throw refuse(signer.startsWith('0x') ? `it was made by ${signer}, not ${address}` : signer);
}

/** The address whose key made a 65-byte signature, or why there is none. */
function recoverSigner(message: string, signature: Hex): string {
  const digest = hexToBytes(hashMessage(message));
  const recovered = recoverKeyHash(digest, hexToBytes(signature));
  return 'why' in recovered ? recovered.why : getAddress(bytesToHex(recovered.keyHash));
}

/** The whole word: a contract that echoes the call begins with its four bytes, the selector. */
const magic1271 = `0x1626ba7e${'0'.repeat(56)}`;
/** More than owners' signatures, passkeys and a deployment take: a node must not work long. */
const mostGas = `0x${(3_000_000).toString(16)}`;
/** Not the zero address, from which some contracts take anything as a trial. */
const nobody = `0x${'5afe'.repeat(10)}`;
/** The limit of a wallet's answer; one word is meant. A node's client for proofs reads no more. */
export const mostProofBytes = 65_536;
const suffix6492 = '6492'.repeat(16);

type Verdict = 'accepts' | 'refuses' | 'not there';

async function contractSays(
  node: Rpc,
  address: string,
  message: string,
  signature: Hex,
  signal: AbortSignal,
): Promise<Verdict> {
  const code = await asked(node, 'eth_getCode', address, signal);
  const isThere = code !== '0x' && code !== null;
  const accepts = await contractAccepts(node, address, isThere, message, signature, signal);
  if (accepts) return 'accepts';
  return isThere ? 'refuses' : 'not there';
}

async function contractAccepts(
  node: Rpc,
  address: string,
  isThere: boolean,
  message: string,
  signature: Hex,
  signal: AbortSignal,
): Promise<boolean> {
  const hash = hashMessage(message);
  const call = async (transaction: Record<string, string>) => {
    const limited = { ...transaction, from: nobody, gas: mostGas };
    return String(await asked(node, 'eth_call', limited, signal));
  };
  if (signature.toLowerCase().endsWith(suffix6492)) {
    // Deploys inside the call where needed, then asks by EIP-1271; never falls back to a key.
    const data = encodeDeployData({
      abi: erc6492SignatureValidatorAbi,
      bytecode: erc6492SignatureValidatorByteCode,
      args: [address as Hex, hash, signature],
    });
    return /^0x0*1$/.test(await call({ data }));
  }
  if (!isThere) return false;
  const data = encodeFunctionData({
    abi: parseAbi(['function isValidSignature(bytes32, bytes) view returns (bytes4)']),
    args: [hash, signature],
  });
  const answer = await call({ to: address, data });
  return answer.toLowerCase().startsWith(magic1271);
}

/** `0x` where the wallet's code fails. A node's own no says nothing of the wallet. */
async function asked(
  node: Rpc,
  method: 'eth_getCode' | 'eth_call',
  of: string | Record<string, string>,
  signal: AbortSignal,
): Promise<unknown> {
  try {
    return await node.call(method, [of, 'latest'], signal);
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    const { cause, message } = error;
    const isTooLong = method === 'eth_call' && cause instanceof AnswerTooLong;
    if (isCallFailure(error) || isTooLong) return '0x';
    const { chain } = node;
    const sentence = `the ${chain} node does not say whether this wallet signed: ${message}`;
    throw new ParleyError('chain_unavailable', sentence, { chain }, { cause: error });
  }
}
