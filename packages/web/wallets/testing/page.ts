// Tests only: wallets inside a page, as extensions put them there. They speak the protocols of the
// real ones, sign with real keys, and say yes, no or nothing as a test tells them.

import { bitcoinWallet } from '@parley/sdk/wallets/bitcoin.ts';
import { coreCoins } from '@parley/sdk/wallets/coins.ts';
import { evmDouble } from './evm-double.ts';
import { icon, person } from './person.ts';
import type { Told, WalletSettings } from './settings.ts';
import { solanaDouble } from './solana-double.ts';
import { tronDouble } from './tron-double.ts';

declare const walletSettings: WalletSettings;

/** The doubles that a test reaches as `window.walletDoubles`, by the wallet's name. */
const doubles: Record<string, Told> = {};
Object.assign(globalThis, { walletDoubles: doubles });

function newTold(name: string): Told {
  const told: Told = { does: 'signs', prompts: [], emit: () => {} };
  doubles[name] = told;
  return told;
}

for (const each of walletSettings) {
  const told = newTold(each.name);
  switch (each.family) {
    case 'evm':
      evmDouble(each, told);
      break;
    case 'tron':
      tronDouble(each, told);
      break;
    case 'solana':
      solanaDouble(each, told);
      break;
    case 'bitcoin':
      bitcoinDouble(each, told);
      break;
  }
}

/** WBIP-004, with the methods of sats-connect. */
function bitcoinDouble(
  { name, privateKey, network, coreUrl }: Extract<WalletSettings[number], { family: 'bitcoin' }>,
  told: Told,
): void {
  const source = coreCoins(coreUrl);
  const wallet = bitcoinWallet({ privateKey, network, source });
  const refusal = { code: -32_000, message: 'User rejected request.' };
  const methods: Readonly<Record<string, (params: never) => Promise<unknown>>> = {
    getAddresses: async () => ({
      addresses: [
        { address: 'bc1pordinals', publicKey: '', purpose: 'ordinals', addressType: 'p2tr' },
        {
          address: wallet.address,
          publicKey: wallet.pubkey,
          purpose: 'payment',
          addressType: 'p2wpkh',
        },
      ],
    }),
    signMessage: async ({ message, protocol }: { message: string; protocol: string }) => {
      if (protocol !== 'BIP322') throw { code: -32_602, message: `no protocol ${protocol}` };
      return { address: wallet.address, signature: await wallet.signMessage(message), protocol };
    },
    sendTransfer: async ({ recipients }: { recipients: { address: string; amount: number }[] }) => {
      const [{ address, amount }] = recipients as [{ address: string; amount: number }];
      const signal = AbortSignal.timeout(20_000);
      const { raw, txid } = await wallet.signPayment(address, BigInt(amount), signal);
      await core(coreUrl, 'sendrawtransaction', [raw]);
      return { txid };
    },
  };
  const request = async (method: string, params: never) => {
    try {
      const own = methods[method];
      if (own === undefined) return { error: { code: -32_601, message: `no method ${method}` } };
      await person(told, method, refusal);
      return { jsonrpc: '2.0', id: '1', result: await own(params) };
    } catch (error) {
      return { jsonrpc: '2.0', id: '1', error };
    }
  };
  const own = globalThis as unknown as Record<string, object> & { btc_providers?: object[] };
  const place = 'XverseProviders' in own ? `${name}Providers` : 'XverseProviders';
  own[place] = { BitcoinProvider: { request } };
  own.btc_providers ??= [];
  own.btc_providers.push({
    id: `${place}.BitcoinProvider`,
    name,
    icon,
    methods: Object.keys(methods),
  });
}

async function core(url: string, method: string, params: readonly unknown[]): Promise<unknown> {
  const { origin, username, password } = new URL(url);
  const response = await fetch(origin, {
    method: 'POST',
    headers: {
      authorization: `Basic ${btoa(`${username}:${password}`)}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  });
  const { result, error } = (await response.json()) as { result: unknown; error: unknown };
  if (error) throw error;
  return result;
}
