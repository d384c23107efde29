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
  const formOf = (file: string) => {
    const [first] = parseConfig(file, '/etc/m/maker.toml').chains;
    return first?.family === 'bitcoin' ? first.form : null;
  };
  const plain = whole.replace('family = "bitcoin"', 'family = "bitcoin"\nform = "p2wsh"');
  assert.deepEqual([formOf(whole), formOf(plain)], ['p2tr', 'p2wsh']);
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

test('each fault is named with its place', () => {
  for (const [from, to, fault] of [
    ['store = "store"', 'store =', /is no TOML/],
    ['metrics_port', 'metric_port', /the settings: .*"metric_port"/],
    ['reserve = ', 'reserved = ', /assets\.btc: .*"reserved"/],
    ['https://market', 'http://market', /market\.url: must be https/],
    ['login = "ethereum"', 'login = "tron"', /market\.login: must name/],
    ['key_file = "keys/bitcoin.key"', '', /chains\.bitcoin\.key_file: is missing/],
    ['"https://one.example", "https://two.example"', '', /chains\.ethereum\.rpc_urls: /],
    ['family = "evm"', 'family = "tron"', /chains\.ethereum\.contract: /],
    ['family = "evm"', 'family = "doge"', /chains\.ethereum\.family: /],
    ['second_esplora_url', 'core_url', /chains\.bitcoin\.core_url: or esplora_url/],
    ['reserve = "0.01"', 'reserve = 0.01', /reserve: must be a text such as "0.25"/],
    ['"0.01"', '"0.000000001"', /reserve: .* has 9 decimals/],
    ['decimals = 8', 'decimals = 7', /btc\.decimals: of the chain's coin are 8/],
    ['chain = "bitcoin"', 'chain = "base"', /assets\.btc\.chain: names none/],
    ['[assets.btc]', '[assets.BTC]', /assets\.BTC: /],
    ['base = "btc"', 'base = "eth"', /pairs\.0\.base: "eth" is none/],
    ['price = "btc-usd"', 'price = "eth-usd"', /pairs\.0\.price: "eth-usd" is none/],
    ['least = "0.001"', 'least = "0.5"', /pairs\.0\.least: must be above 0/],
    ['spread_bps = 30', 'spread_bps = 30\nlevels = ["0.3"]', /levels: must be within/],
    ['spread_bps = 30', 'spread_bps = 30\nlevels = "0.1"', /pairs\.0\.levels: .*array/],
    ['spread_bps = 30', 'spread_bps = 6000', /pairs\.0\.spread_bps: .*5000/],
    ['every_seconds = 20', 'least = "none"', /prices\.btc-usd\.least: .*no price above zero/],
    [
      '[prices.btc',
      '[[pairs]]\nbase="usdc"\nquote="btc"\nleast="1"\nmost="2"\nspread_bps=1\nprice="btc-usd"\n[prices.btc',
      /usdc\/btc is there twice|btc\/usdc is there twice/,
    ],
  ] as const) {
    assert.ok(whole.includes(from), from);
    assert.throws(
      () => parseConfig(whole.replace(from, to), 'maker.toml'),
      (error) => {
        assert.ok(error instanceof ConfigError);
        assert.match(error.message, fault);
        return true;
      },
    );
  }
});

test('a fault does not repeat an address, which may hold a password', () => {
  const wrong = whole.replace('https://one.example', 'ftp://me:hunter2@one.example');
  assert.throws(
    () => parseConfig(wrong, 'maker.toml'),
    (error: Error) => {
      return (
        /rpc_urls\.0: must be an http/.test(error.message) && !error.message.includes('hunter2')
      );
    },
  );
});
