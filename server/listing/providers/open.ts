// The providers that the settings name, ready to be asked. Keys are put where they are sent, and
// nowhere else.

import type { ChainKey } from '../../../core/families.ts';
import type { ProviderSettings } from '../../settings/listing.ts';
import { type Clock, realClock } from './clock.ts';
import { combined } from './combine.ts';
import { dexScreener, dexScreenerBase, dexScreenerPerMinute } from './dexscreener.ts';
import type { ChainIdentity, MarketData, Provider } from './facts.ts';
import {
  coinGeckoBases,
  coinGeckoHeaders,
  geckoPerMinute,
  geckoTerminal,
  geckoTerminalBase,
} from './geckoterminal.ts';
import { goPlus, goPlusBase, goPlusLimited, goPlusPerMinute } from './goplus.ts';
import { type ClientOptions, jsonClient } from './http.ts';

export type MarketDataLog = { warn(facts: object, sentence: string): void };

export function openMarketData(
  settings: readonly ProviderSettings[],
  chains: readonly ({ readonly chain: ChainKey } & ChainIdentity)[],
  log: MarketDataLog,
  clock: Clock = realClock,
): MarketData | null {
  if (settings.length === 0) return null;
  const providers = settings.map((each) => openProvider(each, log, clock));
  const byKey = new Map(chains.map((each) => [each.chain, each]));
  return combined(providers, byKey, (provider, failure) =>
    log.warn({ provider, kind: failure.kind, why: failure.message }, 'no market data'),
  );
}

function openProvider(settings: ProviderSettings, log: MarketDataLog, clock: Clock): Provider {
  const { provider: name, url, perMinute } = settings;
  const client = (own: Pick<ClientOptions, 'base' | 'perMinute' | 'headers' | 'limited'>) =>
    jsonClient({
      name,
      clock,
      changed: (open) => log.warn({ provider: name, open }, 'market data provider left alone'),
      ...own,
      base: url ?? own.base,
      perMinute: perMinute ?? own.perMinute,
    });
  const now = () => clock.now();
  switch (name) {
    case 'geckoterminal':
      return geckoTerminal(client({ base: geckoTerminalBase, perMinute: geckoPerMinute }), now);
    case 'coingecko': {
      const { plan, key } = settings;
      const headers = { [coinGeckoHeaders[plan]]: key };
      const own = { base: coinGeckoBases[plan], perMinute: geckoPerMinute, headers };
      return geckoTerminal(client(own), now);
    }
    case 'dexscreener':
      return dexScreener(client({ base: dexScreenerBase, perMinute: dexScreenerPerMinute }), now);
    case 'goplus': {
      const own = { base: goPlusBase, perMinute: goPlusPerMinute, limited: goPlusLimited };
      return goPlus(client(own));
    }
  }
}
