// `parley-maker CONFIG check`: the needs of a maker before it quotes, a line each with its numbers.
// It signs nothing, and asks the market for its clock alone.

import { withResolvers } from '@parley/core/engines.ts';
import { factsOf } from '@parley/core/families.ts';
import type { Millis } from '@parley/core/nominal.ts';
import { parleyClient } from '@parley/sdk/client.ts';
import { clockFault, lookAtBlocks } from '@parley/sdk/clock.ts';
import { messageOf } from '@parley/sdk/errors.ts';
import { formatAmount } from '@parley/sdk/people.ts';
import { closeChains, type OwnChains, openChains } from './chains.ts';
import type { Config } from './config/config.ts';
import { type Log, silentLog } from './log.ts';
import { openPrices } from './prices/sources.ts';
import { holdingOf } from './rules/inventory.ts';
import { approximate } from './rules/price.ts';
import { createStock } from './stock.ts';

/** All that `parley-maker check` asks. A line that takes longer says so. */
const checkMs = 30_000;
const locale = 'en';

/** Says each line; resolves to whether all of it is well. */
export async function check(
  config: Config,
  say: (line: string) => void,
  movedMs: () => Millis = () => 0,
): Promise<boolean> {
  const now = () => Date.now() + movedMs();
  const chains = await openChains(config.chains, () => Math.floor(now() / 1_000));
  try {
    for (const [chain, { wallet }] of Object.entries(chains)) say(`${chain}: ${wallet.address}`);
    const lines = await found(config, chains, now);
    for (const { text } of lines) say(text);
    return lines.every(({ isWell }) => isWell);
  } finally {
    await closeChains(chains);
  }
}

type Line = { readonly text: string; readonly isWell: boolean };

const well = (text: string): Line => ({ text, isWell: true });
const bad = (text: string): Line => ({ text, isWell: false });

/** All at once: each part has the whole time. */
export async function found(config: Config, chains: OwnChains, now: () => Millis): Promise<Line[]> {
  const parts = [
    holdingsOf(config, chains, now),
    clocksOf(config, chains, now),
    pricesOf(config, now),
  ];
  return [...(await Promise.all(parts)).flat(), ...addressesOf(config, chains)];
}

/** Those that `withdraw` would refuse, by their family and network. */
function addressesOf({ addresses }: Config, chains: OwnChains): Line[] {
  return [...addresses].flatMap(([name, of]) =>
    Object.entries(of).map(([chain, written]) => {
      try {
        const to = chains[chain]?.source.adapter.parseAddress(written);
        return well(`address ${name} on ${chain}: ${to}`);
      } catch (error) {
        return bad(`address ${name} on ${chain}: ${messageOf(error)}`);
      }
    }),
  );
}

/** Balances, and for how many swaps the coin of each chain pays. */
export async function holdingsOf(
  config: Config,
  chains: OwnChains,
  now: () => Millis,
): Promise<Line[]> {
  const faults = new Map<unknown, unknown>();
  const log: Log = {
    ...silentLog,
    warn: (_, facts = {}) => faults.set(facts.holding, facts.error),
  };
  const { assets } = config;
  const signal = AbortSignal.timeout(checkMs);
  const doubts = { read: () => {} };
  const stock = createStock({ chains, assets, log, doubts, now, signal, warnBelow: new Map() });
  await stock.read();
  const heldIn = (chain: string, token: string | null, decimals: number) => {
    const holding = holdingOf({ chain, token });
    const units = stock.balances.get(holding)?.units;
    const fault = faults.get(holding);
    const amount = units === undefined ? null : formatAmount(units, decimals, { locale });
    return { amount, fault: fault ?? (amount === null ? 'no node answered in time' : null) };
  };
  const held = assets.map(({ name, chain, token, decimals }) => {
    const { amount, fault } = heldIn(chain, token, decimals);
    return (fault === null ? well : bad)(`${name} on ${chain}: ${fault ?? amount}`);
  });
  const gas = config.chains.map(({ chain, family, warnBelowSwaps: least }) => {
    const { amount, fault } = heldIn(chain, null, factsOf[family].coin.decimals);
    const swaps = stock.payable.get(chain) ?? 0;
    const text = `gas on ${chain}: ${fault ?? `${amount}, for ${swaps} swaps`}`;
    if (fault !== null) return bad(text);
    return swaps < least ? bad(`${text}, and the settings want ${least}`) : well(text);
  });
  return [...held, ...gas];
}

const way = (ahead: number) => `${Math.abs(ahead)} s ${ahead < 0 ? 'behind' : 'ahead'}`;

/** This machine's clock against the market's and the last blocks. A block may be old. */
async function clocksOf(
  { markets }: Config,
  chains: OwnChains,
  now: () => Millis,
): Promise<Line[]> {
  const seconds = () => Math.floor(now() / 1_000);
  const signal = AbortSignal.timeout(checkMs);
  const sources = Object.values(chains).map(({ source }) => source);
  const [said, blocks] = await Promise.all([
    Promise.all(markets.map(({ url }) => clockOf(url, signal))),
    lookAtBlocks(sources, seconds, signal),
  ]);
  const ofMarkets = said.map(({ market, error }, at) => {
    const of = `clock, of the market${markets.length > 1 ? ` ${markets[at]?.name}` : ''}`;
    return market === null
      ? bad(`${of}: ${error ?? 'it tells no time'}`)
      : well(`${of}: ${way(market)}`);
  });
  const ofBlocks = Object.keys(chains).map((chain) => {
    const about = `clock, of the last block of ${chain}`;
    const ahead = blocks[chain]?.aheadSeconds;
    return ahead === undefined ? bad(`${about}: no node answers`) : well(`${about}: ${way(ahead)}`);
  });
  const faults = new Set(said.map(({ market }) => clockFault({ market, chains: blocks })));
  return [...ofMarkets, ...ofBlocks, ...[...faults].flatMap((each) => (each ? bad(each) : []))];
}

async function clockOf(baseUrl: string, signal: AbortSignal) {
  const client = parleyClient({ baseUrl });
  const error = await client.status({ signal }).then(() => null, messageOf);
  return { market: client.clock.aheadSeconds, error };
}

/** Until each source has given a price, or a fault. */
async function pricesOf(config: Config, now: () => Millis): Promise<Line[]> {
  const faults = new Map<string, string>();
  const { promise: heard, resolve } = withResolvers<void>();
  const look = () => {
    const isOver = [...prices.all()].every(([name, price]) => price !== null || faults.has(name));
    if (isOver) resolve();
  };
  const prices = openPrices(config.prices, {
    now,
    changed: () => look(),
    said: (name, fault) => {
      if (fault !== null) faults.set(name, fault);
      look();
    },
  });
  const limit = setTimeout(resolve, checkMs);
  look();
  await heard;
  clearTimeout(limit);
  const lines = [...prices.all()].map(([name, price]) => {
    if (price !== null) return well(`price ${name}: ${approximate(price)}`);
    const none = `it gave no price in ${checkMs / 1_000} s`;
    return bad(`price ${name}: ${faults.get(name) ?? none}`);
  });
  prices.close();
  return lines;
}
