// A recorded feed in small: one market, one pair, and the lines that come.

import type { Rfq } from '@parley/sdk/types.ts';
import type { Observed } from '../lines.ts';

/** The key files are nowhere: paper trading reads none. */
export const settings = `
store = "store"
[market]
url = "https://one.example"
login = "ethereum"
[chains.bitcoin]
family = "bitcoin"
esplora_url = "https://esplora.example"
key_file = "keys/none"
[chains.ethereum]
family = "evm"
chain_id = 1
rpc_urls = ["https://node.example"]
key_file = "keys/none"
[assets.btc]
chain = "bitcoin"
decimals = 8
[assets.usdc]
chain = "ethereum"
token = "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48"
decimals = 6
[prices.btc-usd]
type = "http"
url = "https://price.example"
stale_seconds = 86400
[[pairs]]
base = "btc"
quote = "usdc"
price = "btc-usd"
least = "0.001"
most = "1"
spread_bps = 50
`;

/** The beginning of a minute. */
export const at0 = 1_800_000_000_000;
const market = 'one';
const fees = { fund: '10', claim: '5', refund: '5', deposit: '0', settlesFromAmount: false };
const token = '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48';

export const priceOf = (said: string, ms: number) =>
  ({ is: 'price', at: at0 + ms, source: 'btc-usd', said }) satisfies Observed;

export const head: readonly Observed[] = [
  {
    is: 'market',
    at: at0,
    market,
    assets: [
      { id: 'id-btc', chain: 'bitcoin', token: null, decimals: 8 },
      { id: 'id-usdc', chain: 'ethereum', token, decimals: 6 },
    ],
  },
  { is: 'feed', at: at0, market, isLive: true },
  { is: 'costs', at: at0, holding: 'bitcoin coin', costs: fees },
  { is: 'costs', at: at0, holding: `ethereum ${token}`, costs: fees },
  priceOf('60000', 0),
];

/** The taker sells 0.01 BTC. */
export function rfqOf(id: string, ms: number) {
  const rfq = {
    id,
    direction: 'sell_base',
    baseAssetId: 'id-btc',
    quoteAssetId: 'id-usdc',
    baseAmount: '1000000',
    creatorId: 'taker',
    creatorStanding: null,
    expiresAt: new Date(at0 + 3_600_000).toISOString(),
  } as Rfq;
  return { is: 'rfq', at: at0 + ms, market, rfq } satisfies Observed;
}

export const goneOf = (rfqId: string, ms: number) =>
  ({ is: 'gone', at: at0 + ms, market, rfqId, why: 'agreed' }) satisfies Observed;

type AgreedHow = { at?: number; baseAmount?: string; direction?: Rfq['direction'] };

/** `minuteMs`: which minute the market names. */
export function agreementOf(quoteAmount: string, minuteMs: number, how: AgreedHow = {}) {
  const { at = 0, baseAmount = '1000000', direction = 'sell_base' } = how;
  const agreedAt = new Date(at0 + minuteMs).toISOString();
  return {
    is: 'agreement',
    at: at0 + at,
    market,
    baseAssetId: 'id-btc',
    quoteAssetId: 'id-usdc',
    agreement: { direction, baseAmount, quoteAmount, agreedAt },
  } satisfies Observed;
}
