// A node with any number of transactions of strangers around the true ones of an escrow.

import type { TestContext } from 'node:test';
import { base58, base64 } from '@scure/base';
import { unsignedTransaction } from '../message.ts';
import { type Call, lyingNode } from './nodes.ts';
import { type World, walletOf } from './world.ts';

type Answer = Record<string, unknown>;
type Listed = {
  readonly signature: string;
  readonly slot: number;
  readonly err: null;
  readonly confirmationStatus: string;
};

/** The entries that strangers wrote, by where they lie; may grow. */
export type Crowd = {
  /** The escrow, or its vault. */
  readonly address: string;
  readonly isToken: boolean;
  /** Above all true ones, the newest of them not final. */
  above: number;
  shallow: number;
  /** Slots above the newest true one. */
  slotsAbove: number;
  /** Below the newest of the true ones. */
  below: number;
  /** The address's holdings at the newest true one, and after. */
  readonly held: { readonly open: bigint; readonly settled: bigint };
  /** The answer for one of them; the usual one names the address and tells what it holds. */
  answer(usual: object): Promise<object> | object;
  /** Every other call. */
  lie(call: Call, forward: () => Promise<Answer>): Promise<object> | object;
  /** Those of strangers that were asked for, and how often. */
  readonly asked: Map<string, number>;
};

const names = new Map<number, string>();

/** Base58 of a signature with a number in it. */
function nameOf(number: number): string {
  const known = names.get(number);
  if (known !== undefined) return known;
  const bytes = new Uint8Array(64).fill(7);
  new DataView(bytes.buffer).setUint32(0, number);
  const name = base58.encode(bytes);
  names.set(number, name);
  return name;
}

const belowFrom = 1_000_000;
/** The entries below a limit that a list has. */
const pick = (all: readonly Listed[], { before, until, limit }: Record<string, unknown>) => {
  const from = before === undefined ? 0 : all.findIndex((one) => one.signature === before) + 1;
  const end = until === undefined ? -1 : all.findIndex((one) => one.signature === until);
  return all.slice(from, Math.min(end === -1 ? all.length : end, from + Number(limit)));
};

export function newCrowd(of: Pick<Crowd, 'address' | 'held'> & Partial<Crowd>): Crowd {
  return {
    isToken: false,
    above: 0,
    shallow: 0,
    slotsAbove: 0,
    below: 0,
    answer: (usual) => ({ result: usual }),
    lie: (_, forward) => forward(),
    asked: new Map(),
    ...of,
  };
}

export function crowdedNode(context: TestContext, world: World, crowd: Crowd): Promise<string> {
  const { rpcUrl } = world.chain.info;
  const numbers = new Map<string, number>();
  const listed = (number: number, slot: number, isFinal: boolean): Listed => {
    const signature = nameOf(number);
    numbers.set(signature, number);
    const confirmationStatus = isFinal ? 'finalized' : 'confirmed';
    return { signature, slot, err: null, confirmationStatus };
  };
  const wholeList = async (): Promise<Listed[]> => {
    const params = [crowd.address, { commitment: 'confirmed', limit: 1_000 }];
    const body = { jsonrpc: '2.0', id: 1, method: 'getSignaturesForAddress', params };
    const answer = await fetch(rpcUrl, { method: 'POST', body: JSON.stringify(body) });
    const { result: truth } = (await answer.json()) as { result: Listed[] };
    const [newest, ...older] = truth;
    const slot = newest?.slot ?? 1;
    const { above, below, shallow, slotsAbove } = crowd;
    const all = above + shallow;
    return [
      ...Array.from({ length: all }, (_, at) =>
        listed(all - 1 - at, slot + slotsAbove, at >= shallow),
      ),
      ...(newest === undefined ? [] : [newest]),
      ...Array.from({ length: below }, (_, at) =>
        listed(belowFrom + below - at, older[0]?.slot ?? slot, true),
      ),
      ...older,
    ];
  };
  return lyingNode(context, rpcUrl, async (call, forward) => {
    const [first, config] = call.params as [string, Record<string, unknown>];
    const number = numbers.get(first);
    if (call.method === 'getTransaction' && number !== undefined) {
      crowd.asked.set(first, (crowd.asked.get(first) ?? 0) + 1);
      return crowd.answer(transactionOf(crowd, first, number));
    }
    if (call.method === 'getSignaturesForAddress' && first === crowd.address) {
      return crowd.lie(call, async () => ({ result: pick(await wholeList(), config) }));
    }
    return crowd.lie(call, forward);
  });
}

const program = walletOf('some program');
const stranger = walletOf('stranger');

function transactionOf({ address, isToken, held }: Crowd, txid: string, number: number): object {
  const account = { address, signs: false, writes: false };
  const instruction = { program, accounts: [account], data: new Uint8Array() };
  const bytes = unsignedTransaction(stranger, [instruction], program);
  bytes.set(base58.decode(txid), 1);
  const amount = number >= belowFrom ? held.open : held.settled;
  const keys = [stranger, address, program];
  const lamports = keys.map((key) => (key === address && !isToken ? Number(amount) : 0));
  const tokens =
    isToken && amount > 0n ? [{ accountIndex: 1, uiTokenAmount: { amount: String(amount) } }] : [];
  return {
    slot: 1,
    transaction: [base64.encode(bytes), 'base64'],
    meta: {
      err: null,
      innerInstructions: [],
      loadedAddresses: null,
      preBalances: lamports,
      postBalances: lamports,
      preTokenBalances: tokens,
      postTokenBalances: tokens,
    },
  };
}
