// Marks of coins and chains. A token that the app does not know by its contract never has the mark
// of a known one, whatever its symbol says: it has a letter in a colour of its own.

import type { Asset } from '@parley/sdk/types.ts';
import { type CSSProperties, useEffect } from 'react';
import { held } from '../live.ts';
import { config } from '../market/config.ts';
import { useLive } from '../market/use-live.ts';

type Drawn = typeof import('./coin-marks.ts');

const marks = held<Drawn | null>(null);

function useMarks(): Drawn | null {
  useEffect(() => {
    // Without them each mark stays a letter.
    if (marks.now() === null) import('./coin-marks.ts').then(marks.set, () => {});
  }, []);
  return useLive(marks);
}

type Marked = Pick<Asset, 'symbol' | 'chain' | 'verified'> & Partial<Pick<Asset, 'address'>>;

type CoinProps = {
  /** undefined: not chosen, or not listed any more. */
  asset: Marked | undefined;
  /** In pixels. */
  size?: number;
  /** Whether a small mark names the chain. */
  withChain?: boolean;
};

/** Says nothing by itself: the symbol stands beside it. */
export function Coin({ asset, size = 28, withChain = false }: CoinProps) {
  const all = useMarks();
  const { symbol = '?', chain = '', address = null, verified = false } = asset ?? {};
  const url = verified ? all?.coinMarks.get(symbol) : undefined;
  return (
    <span className="coin" style={sized(size)} aria-hidden="true">
      <Mark url={url} symbol={symbol} seed={`${chain} ${address ?? symbol}`} />
      {withChain && asset !== undefined && address !== null && (
        <span className="coin on-chain">
          <Mark url={chainUrl(all, chain)} symbol={chain} seed={chain} />
        </span>
      )}
    </span>
  );
}

export function ChainMark({ chain, size = 20 }: { chain: string; size?: number }) {
  const all = useMarks();
  return (
    <span className="coin" style={sized(size)} aria-hidden="true">
      <Mark url={chainUrl(all, chain)} symbol={chain} seed={chain} />
    </span>
  );
}

type CoinPairProps = { one: Marked | undefined; other: Marked | undefined; size?: number };

export function CoinPair({ one, other, size = 24 }: CoinPairProps) {
  return (
    <span className="coin-pair" aria-hidden="true">
      <Coin asset={one} size={size} />
      <Coin asset={other} size={size} />
    </span>
  );
}

function chainUrl(all: Drawn | null, chain: string): string | undefined {
  const family = config.chains.find((each) => each.chain === chain)?.family ?? chain;
  return all?.chainMarks.get(chain) ?? all?.chainMarks.get(family);
}

type MarkProps = { url: string | undefined; symbol: string; seed: string };

function Mark({ url, symbol, seed }: MarkProps) {
  if (url !== undefined) return <img src={url} alt="" />;
  const colour = { background: `hsl(${hueOf(seed)} 42% 36%)` };
  return (
    <span className="drawn" style={colour}>
      {[...symbol][0]?.toUpperCase() ?? '?'}
    </span>
  );
}

function sized(size: number): CSSProperties {
  return { '--size': `${size}px` } as CSSProperties;
}

/** The same token has the same colour everywhere: degrees of a hue by FNV-1a. */
export function hueOf(seed: string): number {
  let hash = 0x811c9dc5;
  for (const each of new TextEncoder().encode(seed)) {
    hash = Math.imul(hash ^ each, 0x01000193) >>> 0;
  }
  return hash % 360;
}
