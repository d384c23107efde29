import { randomBytes } from 'node:crypto';
import { type Hex, parseEther } from 'viem';
import type { GasAccount, GasSlot, GasTransaction, GasWork } from '../../gas/account.ts';
import { parseGasKey } from '../../gas/keys.ts';
import { type EvmAdapter, type EvmAdapterOptions, evmAdapter } from '../adapter.ts';
import { createEvmGasAccount, type EvmGasOptions } from '../gas-account.ts';
import { type EvmGasPolicy, evmGasPolicies } from '../gas-policy.ts';
import { evmChains } from '../policy.ts';
import type { TestChain } from './anvil.ts';
import type { Leg } from './swap.ts';

export const devGas = evmGasPolicies['evm-dev'] as EvmGasPolicy;
export const signal = () => AbortSignal.timeout(60_000);

export type Stranger = {
  readonly adapter: EvmAdapter;
  readonly account: GasAccount;
  slot(over?: Partial<GasSlot>): Promise<GasSlot>;
  sign(work: GasWork, over?: Partial<GasSlot>): Promise<GasTransaction>;
  broadcast(signed: GasTransaction): Promise<void>;
  send(work: GasWork, over?: Partial<GasSlot>): Promise<GasTransaction>;
};

export async function strangerOn(
  chain: TestChain,
  over: Partial<EvmGasOptions> = {},
  nodes: Partial<EvmAdapterOptions> = {},
): Promise<Stranger> {
  const { policy } = evmChains['evm-dev'];
  const rpcUrls = [chain.rpcUrl];
  const adapter = evmAdapter({ chain: 'evm-dev', chainId: 31_337, rpcUrls, policy, ...nodes });
  const key = parseGasKey('evm', randomBytes(32).toString('hex'));
  const account = createEvmGasAccount({ key, adapter, policy: devGas, ...over });
  const address = account.address as Hex;
  await chain.client.setBalance({ address, value: parseEther('10') });
  const slot = async (own: Partial<GasSlot> = {}): Promise<GasSlot> => {
    const nonce = await account.minedNonce(signal());
    return { nonce, above: null, mostCost: parseEther('1'), ...own };
  };
  const sign = async (work: GasWork, own: Partial<GasSlot> = {}) =>
    account.sign(work, await slot(own), signal());
  const broadcast = async (signed: GasTransaction) => {
    await adapter.broadcast(signed, signal());
    // A block is made at once, and a moment after the answer.
    const hash = signed.txid as Hex;
    if (await chain.client.getAutomine()) await chain.client.waitForTransactionReceipt({ hash });
  };
  const send = async (work: GasWork, own: Partial<GasSlot> = {}) => {
    const signed = await sign(work, own);
    await broadcast(signed);
    return signed;
  };
  return { adapter, account, slot, sign, broadcast, send };
}

export function claimOf({ terms, secret }: Leg, isPublic = true): GasWork {
  return { verb: 'claim', terms, secret, isPublic };
}

export function refundOf({ terms }: Leg): GasWork {
  return { verb: 'refund', terms };
}
