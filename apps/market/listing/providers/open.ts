// The providers that the settings name, ready to be asked. Keys are put where they are sent, and
// nowhere else.

import type { ChainKey } from '@parley/core/families.ts';
import type { ProviderSettings } from '../../settings/listing.ts';
import { combined } from './combine.ts';
import type { ChainIdentity, MarketData, Provider } from './facts.ts';
import { geckoTerminal } from './geckoterminal.ts';
import { goPlus, goPlusLimited } from './goplus.ts';
import { type JsonClient, jsonClient } from './http.ts';
import { type Clock, realClock } from './pace.ts';

type Known = {
  readonly base: string;
  /** The published limit; GoPlus publishes none without a key, so a guess on the careful side. */
  readonly perMinute: number;
  readonly open: (client: JsonClient, now: () => number) => Provider;
  readonly limited?: (body: unknown) => boolean;
};

const known: Readonly<Record<ProviderSettings['provider'], Known>> = {
  geckoterminal: {
    base: 'https://api.geckoterminal.com/api/v2',
    perMinute: 30,
    open: geckoTerminal,
  },
  coingecko: {
    base: 'https://api.coingecko.com/api/v3/onchain',
    perMinute: 30,
    open: geckoTerminal,
  },
  goplus: {
    base: 'https://api.gopluslabs.io/api/v1',
    perMinute: 20,
    open: goPlus,
    limited: goPlusLimited,
  },
};
/** The address of CoinGecko where a key is paid for. */
const proBase = 'https://pro-api.coingecko.com/api/v3/onchain';

type MarketDataLog = { warn(facts: object, sentence: string): void };

/** Null where no provider is named. */
export function openMarketData(
  settings: readonly ProviderSettings[],
  chains: readonly ({ readonly chain: ChainKey } & ChainIdentity)[],
  log: MarketDataLog,
  clock: Clock = realClock,
): MarketData | null {
  if (settings.length === 0) return null;
  const providers = settings.map((each) => {
    const { provider: name, url, perMinute } = each;
    const { open, limited, ...own } = known[name];
    const keyed = each.provider === 'coingecko' ? each : null;
    const client = jsonClient({
      name,
      clock,
      base: url ?? (keyed?.plan === 'pro' ? proBase : own.base),
      perMinute: perMinute ?? own.perMinute,
      ...(limited === undefined ? {} : { limited }),
      ...(keyed === null ? {} : { headers: { [`x-cg-${keyed.plan}-api-key`]: keyed.key } }),
    });
    return open(client, () => clock.now());
  });
  const byKey = new Map(chains.map((each) => [each.chain, each]));
  return combined(providers, byKey, (provider, failure) =>
    log.warn({ provider, kind: failure.kind, why: failure.message }, 'no market data'),
  );
}
