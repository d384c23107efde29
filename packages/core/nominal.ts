// Types that must not be taken for each other. A literal is taken for any of them.

import type { Family } from './families.ts';

declare const brand: unique symbol;

export type Nominal<T, Name extends string> = T & { readonly [brand]?: Name };

export type UnixSeconds = Nominal<number, 'UnixSeconds'>;
/** Unix milliseconds, or a number of them. */
export type Millis = Nominal<number, 'Millis'>;
/** The units of an asset: wei, sat, sun, lamports or a token's smallest part. */
export type BaseUnits = Nominal<bigint, 'BaseUnits'>;

export type AddressOf<F extends Family> = Nominal<string, `${F} address`>;
export type EvmAddress = AddressOf<'evm'>;
export type TronAddress = AddressOf<'tron'>;
export type BitcoinAddress = AddressOf<'bitcoin'>;
export type SolanaAddress = AddressOf<'solana'>;
