// Tests only: a market that offers signatures for the funding of a token. It sends what was signed
// with a gas key of its own. And that token, on the anvil of four-chains.ts.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { evmDeployment, fundCalls } from '@parley/chains/evm/plan.ts';
import { authorizationAlternative, signedCall } from '@parley/chains/evm/ways.ts';
import type { TokenAbilities } from '@parley/chains/interface/fund-ways.ts';
import type {
  EvmCall,
  EvmMaterial,
  FundAlternative,
  TokenDomain,
} from '@parley/chains/interface/material.ts';
import { waitUntil } from '@parley/verify/test/support/waiting.ts';
import { encodeFunctionData, type Hex, parseAbi } from 'viem';
import type { FundQuery, ParleyClient } from '../client.ts';
import { ParleyApiError } from '../errors.ts';
import type { SettleInput } from '../settle.ts';
import { sourceIn } from '../trade.ts';
import type { EvmWallet } from '../wallets/wallet.ts';
import type { Scene } from './four-chains.ts';
import { type Anvil, evmKey } from './sides.ts';

const chainId = 31_337;
const deployment = evmDeployment(chainId);
const folder = join(import.meta.dirname, '../../../contracts/escrows/artifacts');

export const coinAbi = parseAbi([
  'function mint(address to, uint256 value)',
  'function balanceOf(address) view returns (uint256)',
  'function allowance(address, address) view returns (uint256)',
  'function permit(address, address, uint256, uint256, uint8, bytes32, bytes32)',
]);

export type Coin = {
  readonly address: string;
  readonly decimals: number;
  readonly abilities: TokenAbilities;
  mint(to: string, value: bigint): Promise<void>;
  read(functionName: 'balanceOf' | 'allowance', args: readonly string[]): Promise<bigint>;
};

/** A dollar with permits and authorizations, as USDC has them. */
export async function newCoin(anvil: Anvil): Promise<Coin> {
  const { bytecode } = JSON.parse(readFileSync(join(folder, 'DevCoin.json'), 'utf8')) as {
    bytecode: Hex;
  };
  const [from] = await anvil.call<string[]>('eth_accounts');
  const sent = async (call: object) => {
    const txid = await anvil.call<string>('eth_sendTransaction', [{ from, ...call }]);
    type Receipt = { contractAddress: string | null } | null;
    const ask = () => anvil.call<Receipt>('eth_getTransactionReceipt', [txid]);
    return (await waitUntil(ask))?.contractAddress ?? '';
  };
  const address = await sent({ data: bytecode });
  const domain: TokenDomain = {
    name: 'Dev Coin',
    version: '2',
    chainId: `${chainId}`,
    verifyingContract: address,
  };
  return {
    address,
    decimals: 6,
    abilities: { permit: domain, authorization: domain },
    mint: async (to, value) => {
      const args = [to as Hex, value] as const;
      await sent({
        to: address,
        data: encodeFunctionData({ abi: coinAbi, functionName: 'mint', args }),
      });
    },
    read: async (functionName, args) => {
      const data = encodeFunctionData({ abi: coinAbi, functionName, args: args as never });
      return BigInt(await anvil.call<string>('eth_call', [{ to: address, data }, 'latest']));
    },
  };
}

type Relay = {
  /** The relay's signatures, in order. */
  readonly given: { readonly signature: string; readonly escrow: string }[];
  /** The use it makes of a signature: sends it, refuses it, or says that it has sent it. */
  does: 'send' | 'refuse' | 'pretend';
  /** Changes what it offers. */
  alter: (alternative: FundAlternative) => unknown;
};

type Offering = {
  readonly scene: Scene;
  readonly coin: Coin;
  readonly keeper: EvmWallet;
  readonly party: 'maker' | 'taker';
};

/** The side with this market; it gives leg `a`. */
export function offering(
  input: SettleInput,
  { scene, coin, keeper, party }: Offering,
): { readonly input: SettleInput; readonly relay: Relay } {
  const relay: Relay = { given: [], does: 'send', alter: (each) => each };
  const market = scene.market.client(party);
  const termsNow = () => scene.market.watched('a').terms;
  const opening = () => {
    const { a: laneSignature } = scene.market.lent;
    return laneSignature ? { laneSignature } : {};
  };
  const owner = termsNow().refund.address;
  const source = sourceIn(input.chains, evmKey);
  const { ways } = source.adapter;
  if (ways === undefined) throw new Error('no source with ways');
  const never = new AbortController().signal;
  const fund = async (_: string, leg: 'a', { allowance = 'exact', sign }: FundQuery = {}) => {
    const built = (await market.fund('', leg)) as EvmMaterial;
    const terms = termsNow();
    const held = await coin.read('allowance', [owner, deployment.contract]);
    const asked = {
      escrow: scene.market.watched('a'),
      abilities: coin.abilities,
      isFresh: true,
      allowance,
      needsAllowance: held < terms.amount,
      authorizes: sign !== undefined,
      deadline: terms.fundBefore ?? 0,
      ...opening(),
    };
    const isOffered = relay.does !== 'refuse' || relay.given.length === 0;
    const offered = (await ways.alternatives(asked, never)) ?? [];
    return {
      ...built,
      txs: fundCalls(terms, deployment, held, { allowance, ...opening() }),
      alternatives: offered.map((each) =>
        relay.alter(each.way === 'permit' ? each : { ...each, relay: isOffered }),
      ),
    };
  };
  let sent: string | null = null;
  const submit = async (call: EvmCall): Promise<string> => {
    const kept = await keeper.sign(chainId, call, never);
    const { adapter } = source;
    return adapter.broadcast(await adapter.readSigned(kept.raw, never), never);
  };
  const relayFunding = async (
    _: string,
    __: string,
    given: { readonly signature: string; readonly escrow: string },
  ) => {
    relay.given.push(given);
    if (relay.does === 'refuse') {
      const message = 'the cap of fundings is used up';
      throw new ParleyApiError({ status: 409, code: 'relay_unavailable', message });
    }
    const { laneSignature } = opening();
    const { abilities } = coin;
    const own = authorizationAlternative(termsNow(), deployment, abilities, laneSignature);
    const call = own?.call;
    if (call == null) throw new Error('no authorization');
    if (relay.does === 'send') sent ??= await submit(signedCall(call, given.signature));
    return { relayed: true, txid: sent ?? `0x${'00'.repeat(32)}` };
  };
  const client = { ...market, fund, relayFunding } as unknown as ParleyClient;
  return { input: { ...input, client }, relay };
}
