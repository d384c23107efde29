// Whether a node is of the network and shows the pinned contracts: their creation proves storage
// too.

import { sha256 } from '@noble/hashes/sha2.js';
import { keccak_256 } from '@noble/hashes/sha3.js';
import { bytesToHex, concatBytes, hexToBytes } from '@noble/hashes/utils.js';
import { escrowsAbi, initCode } from '@parley/contracts/escrows/artifacts/abi.ts';
import { bytesOf, decodeFields, type Shape } from '@parley/contracts/tron/protobuf.ts';
import { contractTypes } from '@parley/contracts/tron/transaction.ts';
import { ParleyError } from '@parley/core/errors.ts';
import { encodeFunctionData } from 'viem/utils';
import { eachSource } from '../nodes/sources.ts';
import { tronAddressOf } from './address.ts';
import { contractIn } from './broadcast.ts';
import { type Http, NotServed } from './http.ts';
import { chainIdOf, codeAt, headBlock, rawDataOf, tryCall } from './node.ts';
import { domainOf, type TronOrigin } from './plan.ts';
import type { Watch } from './watch.ts';

/** `isLack`: it does not show something, which another node may show for all. */
export type TronFault = { readonly says: string; readonly isLack: boolean };

/** The fault, such as "is of chain id 5, not 7 as configured"; null = nothing. */
export async function tronFault(
  http: Http,
  { chainId, shards = [], formerContracts = [], ...first }: TronOrigin,
  signal: AbortSignal,
): Promise<TronFault | null> {
  const wrong = await networkFault(http, chainId, signal);
  if (wrong !== null) return { says: wrong, isLack: false };
  let lack: TronFault | null = null;
  for (const instance of [first, ...shards, ...formerContracts]) {
    const fault = await instanceFault(http, { chainId, ...instance }, signal);
    if (fault !== null && !fault.isLack) return fault;
    lack ??= fault;
  }
  return lack;
}

async function instanceFault(http: Http, deployment: TronOrigin, signal: AbortSignal) {
  const wrong = await contradiction(http, deployment, signal);
  if (wrong !== null) return { says: wrong, isLack: false };
  const { contract, creation } = deployment;
  const rawData = await rawDataOf(http, creation, signal);
  if (rawData === null) {
    return {
      says: `does not know ${creation}, which is to have created ${contract}`,
      isLack: true,
    };
  }
  const fault = creationFault(rawData, deployment);
  return fault === null ? null : { says: fault, isLack: false };
}

const domainDigits = 64;

async function networkFault(http: Http, chainId: number, signal: AbortSignal) {
  const id = await chainIdOf(http, signal);
  if (id !== chainId) return `is of chain id ${id}, not ${chainId} as configured`;
  if (await servesSolid(http, signal)) return null;
  return (
    'serves no /walletsolidity at its "url": java-tron has a port of its own for it ' +
    '(node.http.solidityPort, usually 8091), which goes into "solidityUrl"'
  );
}

async function contradiction(http: Http, deployment: TronOrigin, signal: AbortSignal) {
  const { chainId, contract } = deployment;
  if ((await codeAt(http, contract, signal)) === null)
    return `shows no escrow contract at ${contract}`;
  // Every id follows from it: a contract that says otherwise would be paid into and never found.
  const data = encodeFunctionData({ abi: escrowsAbi, functionName: 'domain' }).slice(2);
  const call = { from: contract, to: contract, data, value: 0n };
  const { output } = await tryCall(http, 'head', call, signal);
  if (output === domainOf(deployment).slice(2)) return null;
  if (output.length !== domainDigits) {
    return `shows another contract than that of escrows at ${contract}: it answers no domain()`;
  }
  return `shows a contract at ${contract} that was deployed under another chain id than ${chainId}`;
}

/** Final facts are read there: without it every read would fail, and no node could be compared. */
async function servesSolid(http: Http, signal: AbortSignal): Promise<boolean> {
  try {
    await headBlock(http, 'solid', signal);
    return true;
  } catch (error) {
    const { cause } = error as { readonly cause?: unknown };
    if (error instanceof NotServed || cause instanceof NotServed) return false;
    throw error;
  }
}

export async function checkNodes(
  watch: Watch,
  deployment: TronOrigin,
  signal: AbortSignal,
): Promise<void> {
  const { chain } = watch;
  const answers = await eachSource(watch, watch.http, (one) => tronFault(one, deployment, signal));
  const faults = answers.map(({ answer }) => answer);
  // Where none answers, its silence or its words are the error.
  if (answers.length === 0) faults.push(await tronFault(watch.http, deployment, signal));
  // One that shows the creation proves it for all: an address commits to what created it.
  const isProven = faults.includes(null);
  const fault = faults.find((each) => each !== null && !(isProven && each.isLack));
  if (fault === undefined || fault === null) return;
  throw new ParleyError('chain_unavailable', `${chain}: a node ${fault.says}`, { chain });
}

/** core/contract/smart_contract.proto: CreateSmartContract and SmartContract. */
const createShape: Shape = { 1: 'bytes', 2: 'message', 3: 'int', 4: 'int' };
const smartContractShape: Shape = {
  1: 'bytes',
  2: 'bytes',
  3: 'message',
  4: 'bytes',
  5: 'int',
  6: 'int',
  7: 'bytes',
  8: 'int',
  9: 'bytes',
  10: 'bytes',
  11: 'int',
};

/**
 * WalletUtil.generateContractAddress: the hash of the transaction's id and its owner, in base58.
 */
export function createdAddress(txid: string, owner: Uint8Array): string {
  return tronAddressOf(keccak_256(concatBytes(hexToBytes(txid), owner)).subarray(12));
}

/** Words that go on after "a node"; null = nothing. `rawData` in hex. */
export function creationFault(
  rawData: string,
  { contract, creation }: Pick<TronOrigin, 'contract' | 'creation'>,
): string | null {
  const bytes = /^([0-9a-f]{2})+$/.test(rawData) ? hexToBytes(rawData) : new Uint8Array();
  if (bytesToHex(sha256(bytes)) !== creation) return `shows other bytes for ${creation}`;
  const created = creationIn(bytes);
  if (created === null) return `shows in ${creation} no creation of a contract`;
  const address = createdAddress(creation, created.owner);
  if (address !== contract) return `shows that ${creation} created ${address}, not ${contract}`;
  if (`0x${bytesToHex(created.code)}` === initCode) return null;
  return `shows that ${contract} was created by other init code than the pinned`;
}

/** Null of bytes in which no contract is created. */
export function creatorIn(rawData: string): string | null {
  const created = creationIn(hexToBytes(rawData));
  // The byte of a TRON address leads.
  return created && tronAddressOf(created.owner.subarray(1));
}

/** Null of another kind, and of bytes that are written in a way that we do not know. */
function creationIn(rawData: Uint8Array) {
  try {
    const { type, parameter } = contractIn(rawData);
    if (type !== contractTypes.CreateSmartContract) return null;
    const created = decodeFields(parameter, createShape);
    const contract = decodeFields(bytesOf(created, 2), smartContractShape);
    return { owner: bytesOf(created, 1), code: bytesOf(contract, 4) };
  } catch {
    return null;
  }
}
