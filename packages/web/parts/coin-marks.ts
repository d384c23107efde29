// Pictures of coins and chains as `data:` URLs, loaded when the first one is drawn.

import arbitrum from '@iconify-json/token/icon/arbitrum-one';
import avax from '@iconify-json/token/icon/avax';
import base from '@iconify-json/token/icon/base';
import bnb from '@iconify-json/token/icon/bnb';
import btc from '@iconify-json/token/icon/btc';
import eth from '@iconify-json/token/icon/eth';
import eurc from '@iconify-json/token/icon/eurc';
import optimism from '@iconify-json/token/icon/optimism';
import pol from '@iconify-json/token/icon/pol';
import sol from '@iconify-json/token/icon/sol';
import trx from '@iconify-json/token/icon/trx';
import usdc from '@iconify-json/token/icon/usdc';
import usdt from '@iconify-json/token/icon/usdt';

export type Marks = ReadonlyMap<string, string>;

/** White shapes on the colour that people know the coin by. */
const marks = {
  arbitrum: drawn(arbitrum, '#213147'),
  avax: drawn(avax, '#e84142'),
  base: drawn(base, '#0000ff'),
  bnb: drawn(bnb, '#f0b90b'),
  btc: drawn(btc, '#f7931a'),
  eth: drawn(eth, '#627eea'),
  eurc: drawn(eurc, '#0b53bf'),
  optimism: drawn(optimism, '#ff0420'),
  pol: drawn(pol, '#7b3fe4'),
  sol: drawn(sol, '#8752f3'),
  trx: drawn(trx, '#c4342b'),
  usdc: drawn(usdc, '#0b53bf'),
  usdt: drawn(usdt, '#009393'),
};

/** By symbol, as the app's own table of assets spells it. */
export const coinMarks: Marks = new Map([
  ['BTC', marks.btc],
  ['ETH', marks.eth],
  ['SOL', marks.sol],
  ['TRX', marks.trx],
  ['USDC', marks.usdc],
  ['USDT', marks.usdt],
  ['USDT0', marks.usdt],
  ['EURC', marks.eurc],
  ['POL', marks.pol],
  ['BNB', marks.bnb],
  ['AVAX', marks.avax],
]);

/** By the chain's key where the app knows it, else by its family. */
export const chainMarks: Marks = new Map([
  ['bitcoin', marks.btc],
  ['ethereum', marks.eth],
  ['evm', marks.eth],
  ['base', marks.base],
  ['optimism', marks.optimism],
  ['arbitrum', marks.arbitrum],
  ['polygon', marks.pol],
  ['bsc', marks.bnb],
  ['avalanche', marks.avax],
  ['tron', marks.trx],
  ['solana', marks.sol],
]);

/** `shapes` fill their field: at four fifths they fit into the circle that a mark is cut to. */
function drawn(shapes: string, color: string): string {
  const svg =
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24"><path fill="${color}" ` +
    `d="M0 0h24v24H0z"/><g color="#fff" transform="translate(2.4 2.4) scale(.8)">${shapes}</g></svg>`;
  return `data:image/svg+xml,${encodeURIComponent(svg)}`;
}
