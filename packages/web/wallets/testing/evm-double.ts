// Tests only: a wallet of EVM by EIP-1193 and EIP-6963.

import { createPublicClient, type Hex, hexToString, http } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { icon, person } from './person.ts';
import type { EvmSettings, Told } from './settings.ts';

type Input = { readonly method: string; readonly params?: readonly never[] };
type Sent = Readonly<Record<'from' | 'to' | 'data' | 'value' | 'gas' | 'chainId', Hex>>;

const refusal = { code: 4001, message: 'MetaMask Tx Signature: User denied.' };
const wrong = (code: number, message: string) => ({ code, message });

export function evmDouble(settings: EvmSettings, told: Told): void {
  const { name, privateKey } = settings;
  const own = privateKeyToAccount(`0x${privateKey.replace(/^0x/, '')}`);
  const chains = new Map(Object.entries(settings.chains).map(([id, url]) => [Number(id), url]));
  const listeners: [string, (value: unknown) => void][] = [];
  let chainId = [...chains.keys()][0] ?? 1;
  let accounts: readonly string[] = [];
  told.emit = (event, value) => {
    if (event === 'accountsChanged') accounts = value as string[];
    for (const [wanted, listener] of listeners) if (wanted === event) listener(value);
  };
  const node = () => createPublicClient({ transport: http(chains.get(chainId) ?? '') });
  const mustBeOwn = (address: unknown) => {
    if (`${address}`.toLowerCase() !== own.address.toLowerCase() || accounts.length === 0) {
      throw wrong(4100, 'The requested account has not been authorized by the user.');
    }
  };
  const methods: Readonly<Record<string, (...params: never[]) => Promise<unknown>>> = {
    eth_requestAccounts: async () => {
      if (accounts.length > 0) return accounts;
      await person(told, 'eth_requestAccounts', refusal);
      accounts = [own.address.toLowerCase()];
      return accounts;
    },
    eth_accounts: async () => accounts,
    eth_chainId: async () => `0x${chainId.toString(16)}`,
    wallet_switchEthereumChain: async ({ chainId: wanted }: { chainId: string }) => {
      if (!chains.has(Number(wanted))) throw wrong(4902, `Unrecognized chain ID "${wanted}".`);
      await person(told, 'wallet_switchEthereumChain', refusal);
      chainId = Number(wanted);
      told.emit('chainChanged', wanted);
      return null;
    },
    wallet_addEthereumChain: async (added: { chainId: string; rpcUrls: string[] }) => {
      await person(told, 'wallet_addEthereumChain', refusal);
      chains.set(Number(added.chainId), added.rpcUrls[0] ?? '');
      return null;
    },
    personal_sign: async (text: Hex, address: string) => {
      mustBeOwn(address);
      await person(told, 'personal_sign', refusal);
      return own.signMessage({ message: hexToString(text) });
    },
    eth_signTypedData_v4: async (address: string, json: string) => {
      mustBeOwn(address);
      const { domain, types, primaryType, message } = JSON.parse(json);
      if (types.EIP712Domain === undefined) throw wrong(-32_602, 'no EIP712Domain');
      if (Number(domain.chainId ?? chainId) !== chainId) {
        throw wrong(-32_603, `Provided chainId "${domain.chainId}" must match "${chainId}"`);
      }
      await person(told, 'eth_signTypedData_v4', refusal);
      // As a wallet does it: the domain is of the fields that the request names.
      return own.signTypedData({ domain, types, primaryType, message });
    },
    eth_sendTransaction: async ({ from, to, data, value, gas, chainId: wanted }: Sent) => {
      mustBeOwn(from);
      if (Number(wanted) !== chainId) throw wrong(-32_603, `chainId should be ${chainId}`);
      await person(told, 'eth_sendTransaction', refusal);
      const fees = await node().estimateFeesPerGas();
      const raw = await own.signTransaction({
        type: 'eip1559',
        chainId,
        to,
        data,
        value: BigInt(value),
        gas: BigInt(gas),
        nonce: await node().getTransactionCount({ address: own.address, blockTag: 'pending' }),
        maxFeePerGas: fees.maxFeePerGas,
        maxPriorityFeePerGas: fees.maxPriorityFeePerGas,
      });
      return node().sendRawTransaction({ serializedTransaction: raw });
    },
  };
  const provider = {
    request: async ({ method, params = [] }: Input) => {
      const known = methods[method];
      if (known === undefined) throw wrong(4200, `The method "${method}" is not supported.`);
      return known(...params);
    },
    on: (event: string, listener: (value: unknown) => void) =>
      void listeners.push([event, listener]),
  };
  const rdns = `test.${name.toLowerCase().replace(/[^a-z]/g, '')}`;
  const info = Object.freeze({ uuid: crypto.randomUUID(), name, icon, rdns });
  const detail = Object.freeze({ info, provider });
  const announce = () =>
    void dispatchEvent(new CustomEvent('eip6963:announceProvider', { detail }));
  addEventListener('eip6963:requestProvider', announce);
  announce();
}
