// Wallets of EVM chains, by EIP-1193. They send what they sign, and hand out no bytes.

import { evmSender } from '@parley/sdk/wallets/evm-sender.ts';
import { accountAddress, mustBeSigned, type ProofPlace } from '@parley/sdk/wallets/proofs.ts';
import {
  accountLink,
  asked,
  failed,
  fieldOf,
  hasCode,
  lied,
  machineMs,
  personMs,
  presenceOf,
  settled,
} from './asked.ts';
import type { AccountLink, EvmPlace, FoundWallet } from './types.ts';

type Linked = {
  readonly provider: unknown;
  readonly found: FoundWallet;
};

type Request = { readonly method: string; readonly params?: readonly unknown[] };

/** EIP-3326: the wallet does not know the chain. Some say it in words alone. */
const unknownChain = 4902;
/** It asks its person something already: another prompt would wait behind that. */
const requestOpen = -32_002;
const unknownWords = /wallet_addEthereumChain|unrecogni[sz]ed chain/i;

/** Hex with 0x, which some wallets leave out. */
const hexOfWallet = (said: unknown) =>
  typeof said === 'string' && /^[0-9a-fA-F]{2,}$/.test(said) ? `0x${said}` : said;

function request({ provider, found }: Linked, input: Request) {
  const method = fieldOf(provider, 'request');
  if (typeof method !== 'function') throw lied(found.name, 'takes no requests');
  return Reflect.apply(method, provider, [input]) as unknown;
}

export async function linkEvm(
  provider: unknown,
  found: FoundWallet,
  proof: ProofPlace,
  wanted?: string,
): Promise<AccountLink> {
  const { name } = found;
  const ask = () => request({ provider, found }, { method: 'eth_requestAccounts' });
  const answer = await asked(name, ask, personMs);
  const shared = wanted !== undefined && isAmong(answer, wanted) ? wanted : fieldOf(answer, '0');
  const address = accountAddress('evm', shared, proof);
  const link: Linked = { provider, found };
  const { onGone, watch, mustBeHere } = presenceOf(name, address, async () => {
    const look = () => request(link, { method: 'eth_accounts' });
    return isAmong(await asked(name, look, machineMs), address);
  });
  watch(fieldOf(provider, 'on'), provider, 'accountsChanged');
  const signMessage = async (message: string) => {
    await mustBeHere();
    const bytes = new TextEncoder().encode(message);
    const hex = `0x${Array.from(bytes, (each) => each.toString(16).padStart(2, '0')).join('')}`;
    const personal = { method: 'personal_sign', params: [hex, address] };
    const signature = await asked(name, () => request(link, personal), personMs);
    return mustBeSigned({ family: 'evm', address }, message, signature, proof);
  };
  return accountLink('evm', found, {
    address,
    signMessage,
    onGone,
    on: (at, asks) => {
      const { chainId, rpcUrls } = at;
      const { withinMs } = asks;
      const ready = async () => {
        await mustBeHere();
        await mustBeOn(link, at, withinMs);
      };
      const account = {
        address,
        asks,
        signMessage,
        ready,
        sendTransaction: async (transaction: object, signal: AbortSignal) => {
          const send = { method: 'eth_sendTransaction', params: [transaction] };
          return hexOfWallet(await asked(name, () => request(link, send), withinMs, signal));
        },
        signTypedData: async (json: string, signal: AbortSignal) => {
          const sign = { method: 'eth_signTypedData_v4', params: [address, json] };
          return hexOfWallet(await asked(name, () => request(link, sign), withinMs, signal));
        },
      };
      return evmSender({ chainId, rpcUrl: rpcUrls, account });
    },
  });
}

function isAmong(accounts: unknown, address: string): boolean {
  const wanted = address.toLowerCase();
  return Array.isArray(accounts) && accounts.some((each) => `${each}`.toLowerCase() === wanted);
}

const hexOf = (chainId: number) => `0x${chainId.toString(16)}`;

/** Throws `wrong_network`, with both ids. */
async function mustBeOn(link: Linked, place: EvmPlace, withinMs: number): Promise<void> {
  if ((await chainIdOf(link)) === place.chainId) return;
  const { name } = link.found;
  const ask = (method: string, param: object) =>
    asked(name, () => request(link, { method, params: [param] }), withinMs);
  const change = () => ask('wallet_switchEthereumChain', { chainId: hexOf(place.chainId) });
  const reached = () => settled(() => chainIdOf(link), place.chainId, withinMs);
  try {
    await change();
  } catch (error) {
    if (!mayLackChain(error)) throw error;
    await ask('wallet_addEthereumChain', added(place)).catch((failure: unknown) => {
      throw isUnknownChain(error) || hasSaidNo(failure) ? failure : error;
    });
    // Most wallets switch with it: a second prompt would be declined, or fail.
    if ((await reached()) !== place.chainId) await change();
  }
  const now = await reached();
  if (now === place.chainId) return;
  const sentence = `${name} is on chain ${now ?? 'without an id'}, and this swap is on chain`;
  throw failed('wrong_network', `${sentence} ${place.chainId} (${place.name}): switch it there`);
}

/** Some say that they lack it in words of the person's language alone (Trust Wallet). */
function mayLackChain(error: unknown): boolean {
  return fieldOf(error, 'code') === 'failed' && !hasCode(error, requestOpen);
}

const hasSaidNo = (error: unknown) => fieldOf(error, 'code') === 'declined';

function isUnknownChain(error: unknown): boolean {
  return (
    hasCode(error, unknownChain) || unknownWords.test(error instanceof Error ? error.message : '')
  );
}

function added({ chainId, name, coin, rpcUrls }: EvmPlace): object {
  const nativeCurrency = { name: coin, symbol: coin, decimals: 18 };
  return { chainId: hexOf(chainId), chainName: name, nativeCurrency, rpcUrls };
}

/** Hex with 0x by EIP-695; some wallets answer a number, or its decimal digits. */
async function chainIdOf(link: Linked): Promise<number | null> {
  const { name } = link.found;
  const said = await asked(name, () => request(link, { method: 'eth_chainId' }), machineMs);
  const isNumber = typeof said === 'number' || typeof said === 'bigint';
  const text = isNumber ? `${said}` : said;
  if (typeof text !== 'string' || !/^(?:0x[0-9a-fA-F]{1,13}|\d{1,15})$/.test(text)) return null;
  return Number(text);
}
