// Calls tried with code and balances that are lent for one eth_call (state overrides).

import { type Escrow, keyOf } from '@parley/contracts/escrows/ids.ts';
import { ParleyError } from '@parley/core/errors.ts';
import type { EscrowTerms } from '@parley/core/terms.ts';
import { encodeAbiParameters, type Hex, keccak256 } from 'viem';
import { decodeErrorResult, encodeFunctionData } from 'viem/utils';
import { mostWords, type Revert, revertIn } from '../escrows/calls.ts';
import type { EvmCall } from '../interface/material.ts';
import { fewMiB, isCallFailure, type Rpc, RpcError } from '../nodes/rpc.ts';
import { probeAbi, probeCode } from './artifacts/probe.ts';
import { balanceOfCall, refused } from './node.ts';
import { contractEscrow, deploymentOf, type EvmDeployment, evmEscrow, idOfEscrow } from './plan.ts';

export type Lent = {
  readonly code?: string;
  readonly balance?: string;
  readonly stateDiff?: Readonly<Record<string, string>>;
};
export type Overrides = Readonly<Record<string, Lent>>;

/** An address that nobody has the key of: pays for trials and holds what they move. */
export const stranger = '0x9a11e4f1A6b4e51D5Cb0e9a5e1b6A6f5d4C3b2a1'.toLowerCase();

export type Failure = Revert & {
  readonly index: number;
};

const noCall = -1;

export function unlent({ chain }: Rpc): ParleyError {
  const sentence = `${chain}: a node takes no state overrides, by which payments are tried (eth_call)`;
  return new ParleyError('chain_unavailable', sentence, { chain });
}

/** Lends a contract that answers its first word, which is 42. */
export async function mustLend(rpc: Rpc, signal: AbortSignal): Promise<void> {
  const code = '0x60005460005260206000f3';
  const lent: Overrides = { [stranger]: { code, stateDiff: { [word(0n)]: word(42n) } } };
  const failure = await tryCall(rpc, { to: stranger }, lent, signal, (answer) => {
    if (answer !== word(42n)) throw unlent(rpc);
  });
  if (failure !== null) throw unlent(rpc);
}

export async function tryCalls(
  rpc: Rpc,
  from: string,
  calls: readonly EvmCall[],
  overrides: Overrides,
  signal: AbortSignal,
): Promise<Failure | null> {
  const data = encodeFunctionData({
    abi: probeAbi,
    functionName: 'run',
    args: [
      calls.map(({ to, value, data: input }) => ({
        to: to as Hex,
        value: BigInt(value),
        data: input as Hex,
      })),
    ],
  });
  const lent = { ...overrides, [from]: { ...overrides[from], code: probeCode } };
  // Where no code is lent, each payment would seem to arrive.
  return tryCall(rpc, { from, to: from, data }, lent, signal, (answer) => {
    if (answer !== word(1n)) throw unlent(rpc);
  });
}

export async function tryCall(
  rpc: Rpc,
  call: Readonly<Record<string, string>>,
  overrides: Overrides | null,
  signal: AbortSignal,
  check: (answer: unknown) => void = () => {},
): Promise<Failure | null> {
  const params = overrides === null ? [call, 'latest'] : [call, 'latest', overrides];
  try {
    check(await rpc.call('eth_call', params, signal));
    return null;
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    if (!isCallFailure(error)) throw refused(rpc, 'eth_call', error);
    return failureOf(error);
  }
}

function failureOf({ data, message }: RpcError): Failure {
  try {
    const { args } = decodeErrorResult({ abi: probeAbi, data: data as Hex });
    const [index, answer] = args;
    return { ...readRevert(answer, message), index: Number(index) };
  } catch {
    return { ...readRevert(data, message), index: noCall };
  }
}

/** Many times what any balance takes: it bounds how long an answer a token can give. */
const balanceGas = '0x7a120';
const mostSlots = 32;
const guessedSlots = 64n;

/**
 * Looks where the token reads (access list), then where compilers put mappings. null: not found.
 * `hope` is told of the likeliest as it is checked.
 */
export async function lendBalance(
  rpc: Rpc,
  token: string,
  holder: string,
  amount: bigint,
  signal: AbortSignal,
  hope: (lent: Overrides) => void = () => {},
): Promise<Overrides | null> {
  const call = { from: holder, to: token, data: balanceOfCall(holder), gas: balanceGas };
  const balanceWith = async (overrides: Overrides): Promise<bigint> => {
    try {
      const answer = await rpc.call('eth_call', [call, 'latest', overrides], signal, fewMiB);
      return typeof answer === 'string' && answer.length >= 66 ? BigInt(answer.slice(0, 66)) : 0n;
    } catch (error) {
      if (error instanceof RpcError) return 0n;
      throw error;
    }
  };
  const slots = await slotsRead(rpc, call, signal);
  // Some tokens keep shares or scaled balances: then a larger number is needed.
  for (const scale of [0n, 40n, 100n]) {
    const value = word((amount << scale) % 2n ** 250n);
    for (const [at, { address, key }] of slots.slice(0, mostSlots).entries()) {
      const lent = { [address]: { stateDiff: { [key]: value } } };
      if (scale === 0n && at === 0) hope(lent);
      if ((await balanceWith(lent)) >= amount) return lent;
    }
  }
  const guesses = guessedKeys(holder);
  const all = Object.fromEntries(guesses.map((key, at) => [key, word(amount + BigInt(at))]));
  const at = (await balanceWith({ [token]: { stateDiff: all } })) - amount;
  const key = at >= 0n && at < guesses.length ? guesses[Number(at)] : undefined;
  if (key === undefined) return null;
  const lent = { [token]: { stateDiff: { [key]: word(amount) } } };
  return (await balanceWith(lent)) >= amount ? lent : null;
}

/** Solidity hashes key then slot, Vyper slot then key. */
function guessedKeys(holder: string): string[] {
  const key = holder.slice(2).toLowerCase().padStart(64, '0');
  const keys: string[] = [];
  for (let slot = 0n; slot < guessedSlots; slot += 1n) {
    const place = word(slot).slice(2);
    keys.push(keccak256(`0x${key}${place}`), keccak256(`0x${place}${key}`));
  }
  return keys;
}

/** The storage that a call reads. The list is empty where the node does not say. */
export async function slotsRead(
  rpc: Rpc,
  call: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<{ readonly address: string; readonly key: string }[]> {
  type Listed = { readonly address: string; readonly storageKeys: readonly string[] };
  try {
    const answer = await rpc.call('eth_createAccessList', [call, 'latest'], signal, fewMiB);
    const { accessList } = answer as { readonly accessList: readonly Listed[] };
    return accessList.flatMap(({ address, storageKeys }) =>
      storageKeys.map((key) => ({ address, key })),
    );
  } catch (error) {
    if (error instanceof RpcError || error instanceof TypeError) return [];
    throw error;
  }
}

function word(value: bigint): string {
  return `0x${value.toString(16).padStart(64, '0')}`;
}

/** Decodes revert data. `message` is what the node said, for when there is no data. */
export function readRevert(data: string | null, message: string): Revert {
  if (data === null) return { name: null, words: message.slice(0, mostWords) };
  if (data === '0x') return { name: null, words: 'it reverts without a reason' };
  return revertIn(data as Hex);
}

const openState = 1n;
const stateShift = 30n;
const idShift = 32n;

export function laneSlot(escrow: Escrow): Hex {
  const types = [{ type: 'uint256' }, { type: 'uint256' }] as const;
  return keccak256(encodeAbiParameters(types, [keyOf(escrow), 0n]));
}

export function openWord(id: Hex, counter: number): Hex {
  const start = (BigInt(id) >> idShift) << idShift;
  const word = start | (openState << stateShift) | BigInt(counter);
  return `0x${word.toString(16).padStart(64, '0')}`;
}

/** The storage to lend the contract so that the escrow of these terms is open. It is lent no
 * money. */
export function lentOpen(terms: EscrowTerms, deployment: EvmDeployment): Overrides {
  const escrow = contractEscrow(terms);
  const id = idOfEscrow(evmEscrow(terms, deployment).address);
  const stateDiff = { [laneSlot(escrow)]: openWord(id, escrow.counter) };
  return { [deploymentOf({ deployment }, terms).contract]: { stateDiff } };
}
