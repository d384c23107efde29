// Settings: a whole file as values, and one fault of each kind with its path.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { urlOf } from '@parley/trader/sources.ts';
import { ConfigError, parseConfig } from './config.ts';

const whole = `
store = "store"
metrics_port = 9464
[market]
url = "https://market.example"
login = "ethereum"
[chains.bitcoin]
family = "bitcoin"
esplora_url = "https://blockstream.info/api"
second_esplora_url = "https://second.example"
key_file = "keys/bitcoin.key"
[chains.ethereum]
family = "evm"
chain_id = 1
rpc_urls = ["https://one.example", "https://two.example"]
key_file = "keys/ethereum.key"
[assets.btc]
chain = "bitcoin"
decimals = 8
reserve = "0.01"
most_open = "0.5"
[assets.usdc]
chain = "ethereum"
token = "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48"
decimals = 6
most_a_day = 100000
[prices.btc-usd]
type = "http"
url = "https://api.example/ticker"
path = "data.price"
every_seconds = 20
[[pairs]]
base = "btc"
quote = "usdc"
least = "0.001"
most = "0.25"
spread_bps = 30
price = "btc-usd"
`;

test('a file of settings becomes values', () => {
  const { market, store, chains, assets, prices, pairs } = parseConfig(whole, '/etc/m/maker.toml');
  assert.equal(store, '/etc/m/store');
  assert.equal(market.login, 'ethereum');
  assert.equal(chains[0]?.keyFile, '/etc/m/keys/bitcoin.key');
  // A wallet and a source ask each of them, so that one may be gone.
  const [bitcoin, evm] = chains.map(({ nodes }) => nodes.map(urlOf));
  assert.deepEqual(bitcoin, ['https://blockstream.info/api', 'https://second.example']);
  assert.deepEqual(evm, ['https://one.example', 'https://two.example']);
  const [btc, usdc] = assets;
  assert.deepEqual([btc?.reserve, btc?.mostOpen, btc?.mostADay], [1_000_000n, 50_000_000n, null]);
  assert.deepEqual([usdc?.reserve, usdc?.mostADay], [0n, 100_000_000_000n]);
  // Three readings long, and a tenth at once.
  assert.deepEqual([prices[0]?.staleMs, prices[0]?.jumpBps], [60_000, 1_000n]);
  const [pair] = pairs;
  assert.equal(pair?.name, 'btc/usdc');
  assert.deepEqual([pair?.least, pair?.most], [100_000n, 25_000_000n]);
  assert.deepEqual([pair?.spreadBps, pair?.slipBps, pair?.gives], [30n, 15n, ['base', 'quote']]);
});

for (const [what, from, to, fault] of [
  ['no TOML', 'store = "store"', 'store =', /is no TOML/],
  ['an unknown field', 'metrics_port', 'metric_port', /metric_port: is no setting/],
  [
    'an unknown field of a table',
    'reserve = ',
    'reserved = ',
    /assets\.btc\.reserved: is no setting/,
  ],
  ['a market without TLS', 'https://market', 'http://market', /market\.url: must be https/],
  ['a login on no chain', 'login = "ethereum"', 'login = "tron"', /market\.login: must name/],
  ['a missing key', 'key_file = "keys/bitcoin.key"', '', /chains\.bitcoin\.key_file: is missing/],
  [
    'no node',
    'rpc_urls = ["https://one.example", "https://two.example"]',
    '',
    /rpc_urls: must name/,
  ],
  ['a float', 'reserve = "0.01"', 'reserve = 0.01', /reserve: must be a text such as "0.25"/],
  ['too many decimals', '"0.01"', '"0.000000001"', /reserve: .* has 9 decimals/],
  [
    'a coin counted otherwise',
    'decimals = 8',
    'decimals = 7',
    /btc\.decimals: of the chain's coin are 8/,
  ],
  ['an asset on no chain', 'chain = "bitcoin"', 'chain = "base"', /assets\.btc\.chain: names none/],
  ['a pair of no asset', 'base = "btc"', 'base = "eth"', /pairs\[0\]\.base: "eth" is none/],
  ['a pair without a source', 'price = "btc-usd"', 'price = "eth-usd"', /price: "eth-usd" is none/],
  ['sizes the wrong way', 'least = "0.001"', 'least = "0.5"', /least: must be above 0/],
  [
    'a level of no size',
    'spread_bps = 30',
    'spread_bps = 30\nlevels = ["0.3"]',
    /levels: must be within/,
  ],
  [
    'levels that are no list',
    'spread_bps = 30',
    'spread_bps = 30\nlevels = "0.1"',
    /levels: must be a list/,
  ],
  [
    'a spread too wide',
    'spread_bps = 30',
    'spread_bps = 6000',
    /spread_bps: must be a whole number/,
  ],
  [
    'a pair twice',
    '[prices.btc',
    `[[pairs]]\nbase="usdc"\nquote="btc"\nleast="1"\nmost="2"\nspread_bps=1\nprice="btc-usd"
[prices.btc`,
    /usdc\/btc is there twice|btc\/usdc is there twice/,
  ],
] as const) {
  test(`${what} is named`, () => {
    assert.ok(whole.includes(from));
    assert.throws(
      () => parseConfig(whole.replace(from, to), 'maker.toml'),
      (error) => {
        assert.ok(error instanceof ConfigError);
        assert.match(error.message, fault);
        return true;
      },
    );
  });
}

test('a fault does not repeat an address, which may hold a password', () => {
  const wrong = whole.replace('https://one.example', 'ftp://me:hunter2@one.example');
  assert.throws(
    () => parseConfig(wrong, 'maker.toml'),
    (error: Error) => {
      return /rpc_urls: must be an http/.test(error.message) && !error.message.includes('hunter2');
    },
  );
});
