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
[addresses.cold]
bitcoin = "bc1q"
[[pairs]]
base = "btc"
quote = "usdc"
least = "0.001"
most = "0.25"
spread_bps = 30
price = "btc-usd"
`;

test('a file of settings becomes values', () => {
  const config = parseConfig(whole, '/etc/m/maker.toml');
  const { markets, store, chains, assets, prices, pairs, addresses } = config;
  assert.equal(store, '/etc/m/store');
  assert.equal(markets[0]?.login, 'ethereum');
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
  assert.deepEqual(addresses.get('cold'), { bitcoin: 'bc1q' });
  const [pair] = pairs;
  assert.equal(pair?.name, 'btc/usdc');
  assert.deepEqual([pair?.least, pair?.most], [100_000n, 25_000_000n]);
  assert.deepEqual([pair?.spreadBps, pair?.slipBps, pair?.gives], [30n, 15n, ['base', 'quote']]);
});

const one = '{ from = "0.01", spread_bps = 9 }';
const tiers = 'spread_bps = 30\ntiers = [';
const skew = 'target = "1"\nskew_bps = 3\nskew_per = ';
const median = '[prices.m]\ntype = "median"\nof = ';

test('tiers, skew, bounds, medians and a hedge become values', () => {
  const text = whole
    .replace('spread_bps = 30', `${tiers}${one}]\nleast_spread_bps = -3`)
    .replace('decimals = 6', `decimals = 6\n${skew}"0.5"\nsell_down_to = "0"\nbuy_up_to = 7`)
    .replace('[[pairs]]', `${median}["btc-usd", "b", "c"]\n[[pairs]]`)
    .concat('[prices.b]\ntype = "fixed"\nvalue = 1\n[prices.c]\ntype = "fixed"\nvalue = 1\n')
    .concat('[hedge]\nurl = "https://hedge.example"\ntoken_file = "t"\n');
  const { pairs, assets, prices, hedge } = parseConfig(text, '/etc/m/maker.toml');
  assert.deepEqual(pairs[0]?.tiers, [{ from: 1_000_000n, spreadBps: 9n }]);
  // Half of the smallest spread.
  assert.deepEqual([pairs[0]?.leastSpreadBps, pairs[0]?.slipBps], [-3n, 4n]);
  const [btc, usdc] = assets;
  assert.deepEqual([btc?.lean, btc?.sellDownTo, btc?.buyUpTo], [null, null, null]);
  assert.deepEqual(usdc?.lean, { target: 1_000_000n, per: 500_000n, bps: 3n, mostBps: 100n });
  assert.deepEqual([usdc?.sellDownTo, usdc?.buyUpTo], [0n, 7_000_000n]);
  const { from } = prices.find(({ name }) => name === 'm') ?? {};
  const of = ['btc-usd', 'b', 'c'];
  assert.deepEqual(from, { type: 'median', of, outlierBps: 100n, quorum: 2 });
  const to = { url: 'https://hedge.example', tokenFile: '/etc/m/t' };
  assert.deepEqual(hedge, { to, timeoutMs: 10_000, giveUpSeconds: 86_400 });
});

test('a maker of several markets has a name, a key and an address for each', () => {
  const more = '[markets.east]\nurl = "https://east.example/"\nlogin = "bitcoin"\n';
  const shown = (text: string) =>
    parseConfig(text, '/etc/m/maker.toml').markets.map(({ name, url, keyName }) =>
      [name, url, keyName].join(' '),
    );
  const first = 'market.example https://market.example market-key.json';
  const east = 'east https://east.example market-key-east.json';
  assert.deepEqual(shown(`${whole}${more}`), [first, east]);
  const none = whole.replace('[market]', '[markets.west]');
  assert.deepEqual(shown(none), ['west https://market.example market-key-west.json']);
  const twice = `${whole}${more.replace('east.example', 'market.example')}`;
  assert.throws(() => shown(twice), /markets\.east\.url: is the market of another table/);
  assert.throws(
    () => shown(`${whole}${more.replace('bitcoin', 'x')}`),
    /markets\.east\.login: must/,
  );
  const without = whole.replace(/\[market\]\n.*\n.*\n/, '');
  assert.throws(() => shown(without), /market: is missing, and so is \[markets\.NAME\]/);
});

test('each fault is named with its place', () => {
  for (const [from, to, fault] of [
    ['store = "store"', 'store =', /is no TOML in line \d+: /],
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
    ['bitcoin = "bc1q"', 'base = "0x"', /addresses\.cold\.base: names none of \[chains\]/],
    ['base = "btc"', 'base = "eth"', /pairs\.0\.base: "eth" is none/],
    ['price = "btc-usd"', 'price = "eth-usd"', /pairs\.0\.price: "eth-usd" is none/],
    ['least = "0.001"', 'least = "0.5"', /pairs\.0\.least: must be above 0/],
    ['spread_bps = 30', 'spread_bps = 30\nlevels = ["0.3"]', /levels: must be within/],
    ['spread_bps = 30', 'spread_bps = 30\nlevels = "0.1"', /pairs\.0\.levels: .*array/],
    ['spread_bps = 30', 'spread_bps = 6000', /pairs\.0\.spread_bps: .*5000/],
    [
      'spread_bps = 30',
      'spread_bps = 30\nleast_spread_bps = 31',
      /least_spread_bps: must be at most 30/,
    ],
    [
      'spread_bps = 30',
      `${tiers}{ from = "0.001", spread_bps = 9 }]`,
      /tiers\.0\.from: .* `least`/,
    ],
    ['spread_bps = 30', `${tiers}${one}, ${one}]`, /tiers\.1\.from: .* the tier before it/],
    ['spread_bps = 30', `${tiers}{ from = "0.26", spread_bps = 9 }]`, /tiers\.0\.from: .* `most`/],
    ['decimals = 6', 'decimals = 6\ntarget = "1"', /usdc\.target: `skew_per` and `skew_bps` go/],
    ['decimals = 6', `decimals = 6\n${skew}"0"`, /usdc\.skew_per: must be above 0/],
    [
      'decimals = 6',
      'decimals = 6\nsell_down_to = "5"\nbuy_up_to = "5"',
      /usdc\.sell_down_to: must be below `buy_up_to`/,
    ],
    ['type = "http"', 'type = "median"', /prices\.btc-usd\.of: is missing/],
    ['[[pairs]]', `${median}["btc-usd", "no"]\n[[pairs]]`, /prices\.m\.of\.1: "no" is none/],
    [
      '[[pairs]]',
      `${median}["btc-usd", "btc-usd"]\n[[pairs]]`,
      /m\.of\.1: "btc-usd" is there twice/,
    ],
    ['[[pairs]]', `${median}["btc-usd", "m"]\n[[pairs]]`, /m\.of\.1: "m" is a median itself/],
    ['[[pairs]]', `${median}["btc-usd", "m"]\nquorum = 3\n[[pairs]]`, /m\.quorum: 3 of 2/],
    [
      '[[pairs]]',
      '[hedge]\ntimeout_seconds = 5\n[[pairs]]',
      /hedge\.command: or url must be given/,
    ],
    ['[[pairs]]', '[hedge]\ncommand = ["a"]\ntoken_file = "b"\n[[pairs]]', /hedge\.token_file: /],
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
