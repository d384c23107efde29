// Several providers as one: asked in their order, each only for what those before it did not know.

import type { ChainKey } from '@parley/core/families.ts';
import { type MarketNumber, marketNumbers } from '../../settings/listing.ts';
import {
  type ChainIdentity,
  type MarketData,
  type MarketFacts,
  type Provider,
  ProviderFailure,
  type Sourced,
  type Told,
} from './facts.ts';

/** A pool has as much on its other side; some times that is delay, more is no market. */
const mostLiquidityOfCap = 10;

export type Failed = (provider: string, failure: ProviderFailure) => void;

type Known = { -readonly [Name in MarketNumber]: Sourced<number> | null };

export function combined(
  providers: readonly Provider[],
  chains: ReadonlyMap<ChainKey, ChainIdentity>,
  failed: Failed,
): MarketData {
  async function ask(provider: Provider, ...rest: LookRest): Promise<Told | null> {
    try {
      return await provider.look(...rest);
    } catch (error) {
      if (!(error instanceof ProviderFailure)) throw error;
      failed(provider.name, error);
      return null;
    }
  }

  return {
    look: async (chain, address, signal): Promise<MarketFacts> => {
      const known = Object.fromEntries(marketNumbers.map((each) => [each, null])) as Known;
      let honeypot: Sourced<boolean> | null = null;
      const asked: string[] = [];
      const unavailable: string[] = [];
      const identity = chains.get(chain);
      for (const provider of identity === undefined ? [] : providers) {
        const wanted = new Set<MarketNumber | 'honeypot'>(
          marketNumbers.filter((each) => known[each] === null),
        );
        if (wanted.size === 0) break;
        const network = provider.chainOf(identity as ChainIdentity);
        if (network === null) continue;
        if (honeypot === null) wanted.add('honeypot');
        asked.push(provider.name);
        const told = await ask(provider, network, address, wanted, signal);
        // The caller has gone: that says nothing about a provider.
        if (told === null) signal.throwIfAborted();
        if (told === null) unavailable.push(provider.name);
        const source = provider.name;
        for (const each of marketNumbers) known[each] ??= sourced(told?.[each], source);
        honeypot ??= sourced(told?.honeypot, source);
      }
      const doubtful = doubtfulIn(known);
      if (doubtful.length > 0) Object.assign(known, { capUsd: null, liquidityUsd: null });
      return {
        ...known,
        honeypot,
        asked,
        unavailable: [...new Set([...unavailable, ...doubtful])],
      };
    },
  };
}

type LookRest = Parameters<Provider['look']>;

function sourced<Value>(value: Value | null | undefined, source: string): Sourced<Value> | null {
  return value === undefined || value === null ? null : { value, source };
}

/** The providers that gave numbers of which one must be wrong: neither is believed. */
function doubtfulIn({ capUsd, liquidityUsd }: Known): readonly string[] {
  if (capUsd === null || liquidityUsd === null) return [];
  if (liquidityUsd.value <= capUsd.value * mostLiquidityOfCap) return [];
  return [capUsd.source, liquidityUsd.source];
}
