// The wallets that settle a swap: the phrase's key on Bitcoin, and a person's own elsewhere. The
// own one is asked when the person says so, and never by itself.

import type { AppChain } from '@parley/core/app-chain.ts';
import { type ChainKey, type Family, has } from '@parley/core/families.ts';
import type { ChainSource } from '@parley/sdk/chains.ts';
import type { MessageSigner } from '@parley/sdk/keys.ts';
import type { BitcoinKey } from '@parley/sdk/rescue/derive.ts';
import type { AskedFor, Asks, BitcoinWallet, Wallet } from '@parley/sdk/wallets/wallet.ts';
import { evmTitle } from '@parley/trader/known.ts';
import type { AccountLink, Place } from '../wallets/types.ts';
import { EngineError, type LegView, type Verb } from './types.ts';
import type { Prompt } from './view.ts';

/** A person reads what it signs, and may have to unlock a device first. */
const personMs = 180_000;

export type Hands = ReturnType<typeof handsOf>;

type HandsParts = {
  /** An account was connected here, or has gone: legs of it are signed by another wallet. */
  readonly onLink: (isOf: IsOf, isHere: boolean) => void;
};

/** Whether a leg is of one account. */
export type IsOf = (leg: Pick<LegView, 'family' | 'ownAddress'>) => boolean;

export function handsOf({ onLink }: HandsParts) {
  const links = new Map<string, AccountLink>();
  const wallets = new Map<string, Wallet>();
  const prompts = new Map<string, Map<Verb, Prompt>>();
  const keyOf = (family: Family, address: string) =>
    `${family} ${has(family, 'foldsCase') ? address.toLowerCase() : address}`;
  const set = (swapId: string, verb: Verb, is: Prompt['is']) => {
    const own = prompts.get(swapId) ?? new Map<Verb, Prompt>();
    prompts.set(swapId, own);
    if (own.get(verb)?.is === is) return;
    own.set(verb, { verb, is, sinceMs: Date.now() });
  };
  const asks: Asks = {
    withinMs: personMs,
    isWanted: ({ swapId, verb }: AskedFor) => {
      const is = prompts.get(swapId)?.get(verb)?.is;
      if (is === undefined) set(swapId, verb, 'needed');
      return is === 'open';
    },
    over: ({ swapId, verb }) => set(swapId, verb, 'declined'),
  };
  return {
    use: (link: AccountLink) => {
      const key = keyOf(link.family, link.signer.address);
      links.set(key, link);
      const isOf: IsOf = ({ family, ownAddress }) => keyOf(family, ownAddress) === key;
      const drop = () => {
        if (links.get(key) !== link) return;
        links.delete(key);
        forget(key);
        onLink(isOf, false);
      };
      const forget = (of: string) => {
        for (const each of wallets.keys()) if (each.startsWith(`${of} `)) wallets.delete(each);
      };
      forget(key);
      link.onGone(drop);
      onLink(isOf, true);
    },
    /** null: its account is not connected. The same object for all swaps of the account. */
    wallet: (chain: AppChain, nodes: readonly string[], address: string): Wallet | null => {
      const key = keyOf(chain.family, address);
      const link = links.get(key);
      const place = placeOf(chain, nodes);
      if (link === undefined || place === null) return null;
      const at = `${key} ${chain.chain} ${nodes.join(' ')}`;
      const wallet = wallets.get(at) ?? link.on(place, asks);
      wallets.set(at, wallet);
      return wallet;
    },
    prompts: (swapId: string) => [...(prompts.get(swapId)?.values() ?? [])],
    /** The person wants to be asked. */
    want: (swapId: string, verb: Verb) => set(swapId, verb, 'open'),
    /** Ends a request that was signed, or is not needed any more. */
    done: (swapId: string, verb?: Verb) => {
      const own = prompts.get(swapId);
      if (verb === undefined) own?.clear();
      else own?.delete(verb);
    },
    /** Whether a wallet may be showing a prompt. */
    isOpen: () =>
      [...prompts.values()].some((own) => [...own.values()].some(({ is }) => is === 'open')),
  };
}

function placeOf(of: AppChain, nodes: readonly string[]): Place | null {
  const { chain } = of;
  switch (of.family) {
    case 'bitcoin':
      return null;
    case 'evm':
      return {
        family: 'evm',
        chain,
        chainId: of.chainId,
        rpcUrls: nodes,
        name: evmTitle(of.chainId),
        coin: 'ETH',
      };
    case 'tron':
      return { family: 'tron', chain, chainId: of.chainId, sources: nodes.map((url) => ({ url })) };
    case 'solana':
      return { family: 'solana', chain, genesisHash: of.genesisHash, rpcUrls: nodes };
  }
}

/** The phrase's key, which signs alone and has no coins. Throws `bad_address`, `wrong_network`. */
export async function keyWallet(
  { view }: ChainSource,
  { privateKey }: BitcoinKey,
  payout: string | null,
): Promise<BitcoinWallet & MessageSigner> {
  if (!has(view, 'coins')) throw new Error(`${view.chain} has no key of the phrase`);
  const { bitcoinWallet } = await import('@parley/sdk/wallets/bitcoin.ts');
  const paid = payout === null ? {} : { payout };
  return bitcoinWallet({ privateKey, network: view.network.name, ...paid });
}

/** Throws as `keyWallet`, and EngineError `no_payout` where it is the address of the key itself. */
export async function payoutWallet(source: ChainSource, key: BitcoinKey, payout: string) {
  const wallet = await keyWallet(source, key, payout);
  if (payout.toLowerCase() !== key.address) return wallet;
  const sentence = 'that is the address of the escrow key itself: name one of your own wallet';
  throw new EngineError('no_payout', sentence);
}

/**
 * In the place of a wallet that is not connected: chains are read without it, and whatever needs it
 * waits.
 */
export function absent(
  family: 'evm' | 'tron' | 'solana',
  chain: ChainKey,
  address: string,
): Wallet {
  const away = async (): Promise<never> => {
    throw new Error(`the wallet of ${address} on ${chain} is not connected: connect it to go on`);
  };
  const asks: Asks = { withinMs: personMs, isWanted: () => false, over: () => {} };
  const waits = { address, asks, outcome: away, sign: away };
  if (!has(family, 'nonces')) return { family, ...waits };
  return { family, ...waits, raise: away, isNonceDeep: away, forget: () => {} };
}
