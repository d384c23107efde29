// Tests only: TronLink as it is, by TIP-1193 and TIP-6963.

import { signTronTransaction } from '@parley/chains/tron/broadcast.ts';
import { signTronMessage, tronAddressOfKey } from '@parley/chains/tron/proof.ts';
import { icon, person, seedOf } from './person.ts';
import type { Told, TronSettings } from './settings.ts';

type Transaction = { readonly txID: string };

export function tronDouble({ name, privateKey, url }: TronSettings, told: Told): void {
  const key = seedOf(privateKey);
  const base58 = tronAddressOfKey(key);
  const listeners: [string, (value: unknown) => void][] = [];
  const declined = 'Confirmation declined by user';
  const tronWeb = {
    ready: true,
    defaultAddress: { base58 },
    trx: {
      getBlockByNumber: async (num: number) => {
        const body = JSON.stringify({ num });
        return (await fetch(`${url}/wallet/getblockbynum`, { method: 'POST', body })).json();
      },
      signMessageV2: async (message: string) => {
        await person(told, 'signMessageV2', declined);
        return signTronMessage(key, message);
      },
      sign: async (transaction: Transaction) => {
        await person(told, 'sign', declined);
        return signTronTransaction(key, transaction);
      },
    },
  };
  const provider = {
    isTronLink: true,
    tronWeb: false as false | typeof tronWeb,
    request: async ({ method }: { readonly method: string }) => {
      if (method !== 'eth_requestAccounts') throw { code: 4200, message: `no ${method}` };
      await person(told, method, { code: 4001, message: 'User rejected the request' });
      provider.tronWeb = tronWeb;
      return [tronWeb.defaultAddress.base58];
    },
    on: (event: string, listener: (value: unknown) => void) =>
      void listeners.push([event, listener]),
  };
  told.emit = (event, value) => {
    const [address = ''] = value as string[];
    if (event === 'accountsChanged') tronWeb.defaultAddress = { base58: address };
    for (const [wanted, listener] of listeners) if (wanted === event) listener(value);
  };
  const info = Object.freeze({ uuid: crypto.randomUUID(), name, icon, rdns: 'org.tronlink.test' });
  const detail = Object.freeze({ info, provider });
  const announce = () =>
    void dispatchEvent(new CustomEvent('TIP6963:announceProvider', { detail }));
  addEventListener('TIP6963:requestProvider', announce);
  announce();
}
