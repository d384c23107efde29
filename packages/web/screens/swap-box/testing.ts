// Assets and levels for tests of the box.

import type { Direction } from '@parley/core/trade.ts';
import type { Asset, Level } from '@parley/sdk/types.ts';

export const listed = (
  id: string,
  chain: string,
  decimals: number,
  more: Partial<Asset> = {},
): Asset => ({
  id,
  chain,
  symbol: id.toUpperCase(),
  address: null,
  decimals,
  enabled: true,
  verified: true,
  source: 'curated',
  ...more,
});

export const btc = listed('btc', 'bitcoin', 8);
export const usd = listed('usd', 'ethereum', 6, { address: '0xA0b8' });
export const eth = listed('eth', 'ethereum', 18);
export const assets = [
  btc,
  usd,
  eth,
  listed('old', 'tron', 6, { enabled: false }),
  listed('fake', 'tron', 6, { symbol: 'USDT', verified: false, address: 'TFake' }),
];

type Said = {
  readonly maker: string;
  readonly direction?: Direction;
  /** For `size`, default 1 000. */
  readonly price: number;
  readonly size?: number;
  readonly least?: number | null;
  readonly settled?: number;
  readonly abandoned?: number;
  readonly expiresAt?: string;
};

export function levelOf(said: Said): Level {
  const { maker, price, size = 1_000, least = null, settled = 0, abandoned = 0 } = said;
  const { direction = 'sell_base', expiresAt = '2030-01-01T00:00:00.000Z' } = said;
  return {
    makerId: maker,
    direction,
    makerStanding: { settled, abandoned },
    baseAmount: `${size}`,
    quoteAmount: `${price}`,
    leastBaseAmount: least === null ? null : `${least}`,
    expiresAt,
  } as unknown as Level;
}
