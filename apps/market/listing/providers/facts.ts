// The facts that providers of market data have about a token. Every number names its provider; an
// unknown number is null, and never 0. These are others' estimates in USD, compared with thresholds
// and never settled, so they are plain numbers and not base units.

import type { ChainKey, EachOf } from '@parley/core/families.ts';
import type { MarketNumber } from '../../settings/listing.ts';

export type Sourced<Value> = { readonly value: Value; readonly source: string };

export type MarketFacts = Readonly<Record<MarketNumber, Sourced<number> | null>> & {
  readonly honeypot: Sourced<boolean> | null;
  readonly asked: readonly string[];
  /** The providers that gave no usable answer: a null may be known later. */
  readonly unavailable: readonly string[];
};

export type MarketData = {
  /** A provider that fails is named in the answer. Throws only what ended `signal`. */
  look(chain: ChainKey, address: string, signal: AbortSignal): Promise<MarketFacts>;
};

/**
 * The numbers that one provider knows of a token; a number that it leaves out or gives as null it
 * does not.
 */
export type Told = { readonly [Name in MarketNumber]?: number | null } & {
  readonly honeypot?: boolean | null;
};

export type Wanted = ReadonlySet<MarketNumber | 'honeypot'>;

export type Provider = {
  readonly name: string;
  chainOf(chain: ChainIdentity): string | null;
  /** The known part of `wanted`, by as few requests as it can. Throws `ProviderFailure`. */
  look(chain: string, address: string, wanted: Wanted, signal: AbortSignal): Promise<Told>;
};

/** As much of a chain's settings as says which chain of the world it is. */
export type ChainIdentity = EachOf<{
  evm: { readonly family: 'evm'; readonly chainId: number };
  tron: { readonly family: 'tron'; readonly chainId: number };
  solana: { readonly family: 'solana'; readonly genesisHash: string };
  bitcoin: { readonly family: 'bitcoin' };
}>;

/** `limited`: by it or by our own limit; `misanswered`: about another token or chain. */
export type FailureKind = 'unreachable' | 'limited' | 'unreadable' | 'misanswered';

/** No usable answer. Its sentence never holds an address of ours, a key, or what was answered. */
export class ProviderFailure extends Error {
  readonly kind: FailureKind;

  constructor(kind: FailureKind, sentence: string, options?: ErrorOptions) {
    super(sentence, options);
    this.name = 'ProviderFailure';
    this.kind = kind;
  }
}
