// Coins and tokens that the app knows by itself, so that no market sells a look-alike under a known
// symbol. Each row was compared with two sources that do not copy each other, November 2026:
// docs/web.md, "What a token is", names them. A row without two is not here.

import type { AppChain } from '@parley/core/app-chain.ts';
import { type ChainKey, has, type Network } from '@parley/core/families.ts';

type KnownAsset = {
  /** Contract or mint; null: the chain's own coin. */
  readonly token: string | null;
  /** All of which mean it; the issuer's own first. */
  readonly symbols: readonly string[];
  readonly decimals: number;
};

/** The market's description of an asset. */
export type ListedAsset = {
  readonly chain: ChainKey;
  readonly address: string | null;
  readonly symbol: string;
  readonly decimals: number;
  readonly verified: boolean;
};

const ether: KnownAsset = { token: null, symbols: ['ETH'], decimals: 18 };
const usdc = (token: string): KnownAsset => ({ token, symbols: ['USDC'], decimals: 6 });
const eurc = (token: string): KnownAsset => ({ token, symbols: ['EURC'], decimals: 6 });
const usdt = (token: string): KnownAsset => ({ token, symbols: ['USDT'], decimals: 6 });
/** Tether's own on chains where it does not issue: locked on Ethereum, once named USDT. */
const usdt0 = (token: string): KnownAsset => ({
  token,
  // The contract itself says USD₮0, with a tugrik sign.
  symbols: ['USDT0', 'USD₮0', 'USDT'],
  decimals: 6,
});

const bitcoin: readonly KnownAsset[] = [{ token: null, symbols: ['BTC'], decimals: 8 }];

/** By chain id. */
const evm: Readonly<Record<number, readonly KnownAsset[]>> = {
  1: [
    ether,
    usdc('0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48'),
    usdt('0xdAC17F958D2ee523a2206206994597C13D831ec7'),
    eurc('0x1aBaEA1f7C830bD89Acc67eC4af516284b1bC33c'),
  ],
  10: [
    ether,
    usdc('0x0b2C639c533813f4Aa9D7837CAf62653d097Ff85'),
    usdt0('0x01bFF41798a0BcF287b996046Ca68b395DbC1071'),
  ],
  8453: [
    ether,
    usdc('0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913'),
    eurc('0x60a3E35Cc302bFA44Cb288Bc5a4F316Fdb1adb42'),
  ],
  42161: [
    ether,
    usdc('0xaf88d065e77c8cC2239327C5EDb3A432268e5831'),
    usdt0('0xFd086bC7CD5C481DCC9C85ebE478A1C0b69FCbb9'),
  ],
  11155111: [ether, usdc('0x1c7D4B196Cb0C7B01d743Fbc6116a902379C7238')],
  11155420: [ether, usdc('0x5fd84259d66Cd46123540766Be93DFE6D43130D7')],
  84532: [ether, usdc('0x036CbD53842c5426634e7929541eC2318f3dCF7e')],
  421614: [ether, usdc('0x75faf114eafb1BDbe2F0316DF893fd58CE46AA4d')],
};

const tronCoin: KnownAsset = { token: null, symbols: ['TRX'], decimals: 6 };
/** By chain id; Circle has withdrawn its USDC. */
const tron: Readonly<Record<number, readonly KnownAsset[]>> = {
  728126428: [tronCoin, usdt('TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t')],
  3448148188: [tronCoin, usdt('TXYZopYRdj2D9XRtbG411XZZ3kM5VkAeBf')],
  2494104990: [tronCoin],
};

const solanaCoin: KnownAsset = { token: null, symbols: ['SOL'], decimals: 9 };
const devnetUsdc = '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU';
/** By the first block: mainnet-beta, devnet, testnet. */
const solana: Readonly<Record<string, readonly KnownAsset[]>> = {
  '5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d': [
    solanaCoin,
    usdc('EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v'),
    usdt('Es9vMFrzaCERmJfrF4H2FYD4KCoNkY11McCe8BenwNYB'),
    eurc('HzwqbKZw8HxMN6bF2yFZNrht3c2iXXzpKcFu7uBEDKtr'),
  ],
  EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG: [solanaCoin, usdc(devnetUsdc)],
  '4uhcVJyU9pJkvQyS88uRDiswHScCkY3xQawwpjk2NsNY': [solanaCoin],
};

/** null: the app does not know it, or not the chain. */
function knownAsset(of: AppChain | null, token: string | null): KnownAsset | null {
  const all = of === null ? [] : knownOn(of);
  // Base58 has capitals of its own; those of an EVM address are a checksum.
  const plain = (text: string | null) =>
    has(of, 'foldsCase') ? (text?.toLowerCase() ?? null) : text;
  return all.find((each) => plain(each.token) === plain(token)) ?? null;
}

function knownOn(of: AppChain): readonly KnownAsset[] {
  switch (of.family) {
    case 'bitcoin':
      return bitcoin;
    case 'evm':
      return evm[of.chainId] ?? [];
    case 'tron':
      return tron[of.chainId] ?? [];
    case 'solana':
      return solana[of.genesisHash] ?? [];
  }
}

/**
 * Whether an asset is what its symbol says, by the app's own table; on a dev network by the
 * market's word.
 */
export function isVerified(
  { chain, address, symbol, decimals, verified }: ListedAsset,
  chains: readonly AppChain[],
  network: Network,
): boolean {
  if (network === 'dev') return verified;
  const known = knownAsset(chains.find((each) => each.chain === chain) ?? null, address);
  return known !== null && known.decimals === decimals && known.symbols.includes(symbol);
}

/** The market lists none that is longer. */
const most = 32;

/** Without marks that turn or hide the text around them. */
export function plainSymbol(said: string): string {
  const plain = said.slice(0, most * 4).replace(/[\p{C}\p{Z}]+/gu, '');
  return [...plain].slice(0, most).join('');
}
