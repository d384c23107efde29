// Wallets of TRON: TIP-6963 and TIP-1193, and TronLink as it was before them. The network is that
// of the block 0 which the wallet's own node shows.

import { accountAddress, mustBeSigned, type ProofPlace } from '@parley/sdk/wallets/proofs.ts';
import { tronWallet } from '@parley/sdk/wallets/tron.ts';
import {
  accountLink,
  asked,
  declined,
  failed,
  fieldOf,
  lied,
  machineMs,
  personMs,
  presenceOf,
  settled,
} from './asked.ts';
import type { AccountLink, FoundWallet, TronPlace } from './types.ts';

type Linked = {
  readonly provider: unknown;
  readonly found: FoundWallet;
};

export async function linkTron(
  provider: unknown,
  found: FoundWallet,
  proof: ProofPlace,
): Promise<AccountLink> {
  const { name } = found;
  await requestAccount(provider, name);
  const address = accountAddress('tron', addressIn(provider), proof);
  const link: Linked = { provider, found };
  const isHere = () => addressIn(provider) === address;
  const { onGone, watch, mustBeHere } = presenceOf(name, address, isHere);
  watch(fieldOf(provider, 'on'), provider, 'accountsChanged');
  const signMessage = async (message: string) => {
    await mustBeHere();
    const sign = trxOf(link, 'signMessageV2');
    const answer = await asked(name, () => sign(message), personMs);
    return mustBeSigned({ family: 'tron', address }, message, answer, proof);
  };
  return accountLink('tron', found, {
    address,
    signMessage,
    onGone,
    on: (at, asks) => {
      const { chain, sources } = at;
      const signTransaction = async (transaction: object, signal: AbortSignal) => {
        await mustBeOn(link, at, asks.withinMs);
        await mustBeHere();
        const sign = trxOf(link, 'sign');
        return asked(name, () => sign(transaction), asks.withinMs, signal);
      };
      return tronWallet({
        chain,
        sources,
        account: { address, asks, signMessage, signTransaction },
      });
    },
  });
}

/** `eth_requestAccounts` by TIP-1193; older ones answer `{ code }`, and 4000 while one is open. */
async function requestAccount(provider: unknown, name: string): Promise<void> {
  const isModern =
    fieldOf(provider, 'isTronLink') !== true || fieldOf(provider, 'ready') === undefined;
  const method = isModern ? 'eth_requestAccounts' : 'tron_requestAccounts';
  const answer = await asked(name, () => request(provider, { method }), personMs);
  const code = fieldOf(answer, 'code');
  if (code === 4001) throw declined(name);
  if (code === 4000) {
    throw failed('failed', `${name} has a request open already: answer it there, then try again`);
  }
}

function request(provider: unknown, input: object): unknown {
  const method = fieldOf(provider, 'request');
  if (typeof method !== 'function') throw new Error('it takes no requests');
  return Reflect.apply(method, provider, [input]);
}

/** False before the person has shared an account. */
function tronWebOf(provider: unknown): unknown {
  return fieldOf(provider, 'tronWeb') || fieldOf(globalThis, 'tronWeb');
}

function addressIn(provider: unknown): unknown {
  return fieldOf(fieldOf(tronWebOf(provider), 'defaultAddress'), 'base58');
}

function trxOf({ provider, found }: Linked, name: string) {
  const trx = fieldOf(tronWebOf(provider), 'trx');
  const method = fieldOf(trx, name);
  return (...input: readonly unknown[]): unknown => {
    if (typeof method !== 'function') throw lied(found.name, `has no ${name}`);
    return Reflect.apply(method, trx, input);
  };
}

async function mustBeOn(link: Linked, place: TronPlace, withinMs: number): Promise<void> {
  const { provider, found } = link;
  if ((await chainIdOf(link)) === place.chainId) return;
  const chainId = hexOf(place.chainId);
  const change = { method: 'wallet_switchEthereumChain', params: [{ chainId }] };
  try {
    await asked(found.name, () => request(provider, change), withinMs);
  } catch (error) {
    if (fieldOf(error, 'code') === 'declined') throw error;
    // Some have no way to be switched: the person does it then.
  }
  const now = await settled(() => chainIdOf(link), place.chainId, withinMs);
  if (now === place.chainId) return;
  const is = now === null ? 'a network that it does not name' : `network ${hexOf(now)}`;
  const sentence = `${found.name} is on ${is}, and this swap is on ${place.chain} (${chainId})`;
  throw failed('wrong_network', `${sentence}: switch the network in the wallet`);
}

const hexOf = (chainId: number) => `0x${chainId.toString(16)}`;

/** null: its node has not shown its first block. */
async function chainIdOf(link: Linked): Promise<number | null> {
  const read = trxOf(link, 'getBlockByNumber');
  const block = await asked(link.found.name, () => read(0), machineMs).catch(() => null);
  const id = fieldOf(block, 'blockID');
  return typeof id === 'string' && /^[0-9a-f]{64}$/.test(id) ? Number(`0x${id.slice(-8)}`) : null;
}
