// EVM and TRON in one form, for what both promise of the contract that they share.

import { randomBytes } from 'node:crypto';
import { before } from 'node:test';
import type { EscrowFacts } from '@parley/core/facts.ts';
import type { EscrowTerms } from '@parley/core/terms.ts';
import type { Hex } from 'viem';
import type { ChainAdapter } from '../../adapter.ts';
import { parseEvmAddress } from '../../evm/address.ts';
import { claimCall as evmClaim, evmDeployment, releaseCall as evmRelease } from '../../evm/plan.ts';
import { deployRuntime, send } from '../../evm/testing/anvil.ts';
import * as evm from '../../evm/testing/swap.ts';
import { evmWorld } from '../../evm/testing/world.ts';
import type { Material, Signed, TypedData } from '../../interface/material.ts';
import type { WatchedEscrow } from '../../interface/reading.ts';
import { tronHex } from '../../tron/address.ts';
import { signTronTransaction } from '../../tron/broadcast.ts';
import { claimCall as tronClaim, releaseCall as tronRelease } from '../../tron/plan.ts';
import * as tron from '../../tron/testing/chain.ts';
import { tronWorld } from '../../tron/testing/world.ts';
import { digestOf, typedDataToSign } from '../typed-data.ts';

export type Leg = {
  readonly secret: string;
  readonly terms: EscrowTerms;
  readonly escrow: WatchedEscrow;
};

const devTokens = ['DevDollar', 'DevTether', 'ReturnsFalse', 'FeeToken'] as const;
export type DevToken = (typeof devTokens)[number];

export type World = {
  readonly funder: string;
  readonly anyone: string;
  readonly contract: string;
  /** Its 20 bytes, hex without 0x. */
  bare(address: string): string;
  newcomer(): string;
  leg(over?: Partial<EscrowTerms>): Promise<Leg>;
  fund(leg: Leg): Promise<string>;
  claim(leg: Leg): Promise<string>;
  refund(leg: Leg): Promise<string>;
  pass(seconds: number): Promise<void>;
  mine(blocks: number): Promise<unknown>;
  /** The contents of the newest block become final. */
  finalize(): Promise<void>;
  /** Over a node that gives no logs, or no old states and blocks either. */
  adapter(lack?: 'logs' | 'past'): Promise<ChainAdapter>;
  /** Over a node whose requests are counted. */
  counted(asked: () => void): Promise<ChainAdapter>;
  /** Calldata to a contract, hex without 0x: from anybody and in a block, failed or not. */
  tell(to: string, data: string): Promise<void>;
  claimData(leg: Leg): string;
  /** The funder has plenty of it. */
  token(name: DevToken): string;
  /** Where this code is put, of at most 32 bytes. */
  put(runtime: string): Promise<string>;
  readonly receiver: string;
  /** The payee itself sends its release. */
  release(leg: Leg): Promise<unknown>;
  /** 65 bytes r, s, v of a text by a key of `receiver`, or of anybody. */
  sign(text: TypedData, by?: 'anyone'): Promise<string>;
  /** The last of it, signed by somebody who may send it. */
  signed(material: Material): Promise<Signed>;
  /** Sends it all, as the one whose transactions they are; `gas`: of each, on EVM. */
  perform(material: Material, gas?: bigint): Promise<void>;
};

/** Takes coins until it is called with data, and from then on all gas. */
export const burning = '36600e575f54600a57005b600a565b60015f5500';
/** Reverts whatever it is called with. */
export const rejecting = '60006000fd';

export const read = (adapter: ChainAdapter, { escrow }: Leg, stored?: EscrowFacts) =>
  adapter.readEscrow(stored === undefined ? escrow : { ...escrow, stored }, tron.signal());

export async function worldOfEvm(): Promise<World> {
  const { chain, adapterOf, adapterOver, mine } = await evmWorld();
  const { funder, anyone } = evm;
  const tokens = new Map<DevToken, Hex>();
  before(async () => {
    for (const name of devTokens) {
      const token = await evm.deployToken(chain, name);
      await evm.mint(chain, token, funder.address, 10n ** 12n);
      tokens.set(name, token);
    }
  });
  return {
    funder: funder.address,
    anyone: anyone.address,
    contract: evmDeployment(chain.chainId).contract,
    bare: (address) => address.slice(2).toLowerCase(),
    newcomer: () => parseEvmAddress(`0x${randomBytes(20).toString('hex')}`),
    leg: (over) => evm.newLeg(chain, over),
    fund: (leg) => evm.fund(chain, leg),
    claim: (leg) => evm.claim(chain, leg),
    refund: (leg) => evm.refund(chain, leg),
    pass: (seconds) => evm.later(chain, seconds),
    mine,
    finalize: () => mine(3),
    adapter: async (lack) => {
      if (lack === undefined) return adapterOf();
      const pruned = { error: { code: -32_000, message: 'missing trie node' } };
      return adapterOver(({ method, params: [, at] }, forward) => {
        if (method === 'eth_getLogs') return { result: [] };
        // The head is asked for by its hash.
        const isOld = method === 'eth_call' && typeof at === 'string' && at !== 'latest';
        return isOld && lack === 'past' ? pruned : forward();
      });
    },
    counted: (asked) =>
      adapterOver((_, forward) => {
        asked();
        return forward();
      }),
    tell: async (to, data) => {
      await send(chain, anyone, { to, data: `0x${data}`, gas: 400_000n });
    },
    claimData: ({ terms, secret }) => evmClaim(terms, evmDeployment(31_337), secret).data.slice(2),
    token: (name) => tokens.get(name) as Hex,
    put: (runtime) => deployRuntime(chain, runtime),
    receiver: evm.receiver.address,
    release: ({ terms }) =>
      send(chain, evm.receiver, evmRelease(terms, evmDeployment(31_337), null)),
    sign: (text, by) =>
      (by === 'anyone' ? anyone : evm.receiver).signTypedData(typedDataToSign(text)),
    signed: async (material) => {
      const call = material.sign === 'evm-tx' ? material.txs.at(-1) : undefined;
      const { to, data } = call ?? {};
      const rest = { type: 'eip1559', chainId: chain.chainId, gas: 10n ** 6n } as const;
      return anyone.signTransaction({ ...rest, to: to as Hex, data: data as Hex });
    },
    perform: async (material, gas) => {
      if (material.sign !== 'evm-tx') throw new Error(`${material.sign} is of another chain`);
      const from = material.from === funder.address ? funder : anyone;
      for (const call of material.txs) await send(chain, from, { ...call, ...(gas && { gas }) });
    },
  };
}

export async function worldOfTron(): Promise<World> {
  const { chain, adapterOf, adapterOver } = await tronWorld();
  const { funder, anyone } = tron;
  const lacking = (lack: 'logs' | 'past'): Promise<ChainAdapter> | ChainAdapter => {
    const sources = [{ url: chain.url, jsonRpcUrl: `${chain.url}/nowhere` }];
    if (lack === 'logs') return tron.adapterOn(chain, [], { sources });
    return adapterOver(({ path, body }, forward) => {
      if (path.endsWith('jsonrpc')) return { status: 404, body: {} };
      const isOld = path === 'wallet/getblockbynum' && body.num !== 0;
      return isOld ? { body: {} } : forward();
    });
  };
  return {
    funder: funder.address,
    anyone: anyone.address,
    contract: chain.deployment.contract,
    bare: (address) => tronHex(address).slice(2),
    newcomer: tron.newcomer,
    leg: async (over) => tron.newLeg(chain, over),
    fund: (leg) => tron.fund(chain, leg),
    claim: (leg) => tron.claim(chain, leg),
    refund: (leg) => tron.refund(chain, leg),
    pass: chain.pass,
    mine: chain.dev.mine,
    finalize: chain.solidify,
    adapter: async (lack) => (lack === undefined ? adapterOf() : lacking(lack)),
    counted: (asked) =>
      adapterOver((_, forward) => {
        asked();
        return forward();
      }),
    tell: async (to, data) => {
      await tron.sendAndMine(chain, anyone, { from: anyone.address, to, data, value: 0n });
    },
    claimData: ({ terms, secret }) => tronClaim(terms, chain.deployment, secret).data,
    token: chain.token,
    put: (runtime) => tron.deploy(chain, runtime),
    receiver: tron.receiver.address,
    release: ({ terms }) =>
      tron.sendAndMine(chain, tron.receiver, tronRelease(terms, chain.deployment, null)),
    sign: async (text, by) => {
      const { key } = by === 'anyone' ? anyone : tron.receiver;
      return `0x${signTronTransaction(key, { txID: digestOf(text).slice(2) }).signature[0]}`;
    },
    signed: async (material) => {
      const all = material.sign === 'tron-txid' ? tron.signAll(funder, material) : [];
      return all.at(-1) as Signed;
    },
    perform: async (material) => {
      if (material.sign !== 'tron-txid') throw new Error(`${material.sign} is of another chain`);
      const by = [funder, anyone, tron.receiver].find(({ address }) => address === material.from);
      for (const signed of tron.signAll(by ?? anyone, material)) {
        await tron.post(chain, signed);
        await chain.dev.mine(1);
      }
    },
  };
}

export const worlds = { EVM: worldOfEvm, TRON: worldOfTron };
