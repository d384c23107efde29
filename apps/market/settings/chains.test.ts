// PARLEY_CHAINS and PARLEY_ASSETS: everything wrong is named by entry and field, nothing throws.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { bitcoinPolicies } from '@parley/chains/bitcoin/policy.ts';
import { evmChains } from '@parley/chains/evm/policy.ts';
import { solanaChains } from '@parley/chains/solana/policy.ts';
import { tronChains } from '@parley/chains/tron/policy.ts';
import { shardOf } from '@parley/contracts/escrows/ids.ts';
import { parseAssets, parseChains } from './chains.ts';
import { readSettings } from './config.ts';
import { policyOf } from './policies.ts';

const node = 'http://127.0.0.1:1';
const anvil = { family: 'evm', chain: 'evm', chainId: 31_337, rpcUrls: [node] };
const tron = {
  family: 'tron',
  chain: 'tron',
  chainId: 7,
  contract: 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t',
  creation: '0f'.repeat(32),
  sources: [{ url: node, solidityUrl: node, jsonRpcUrl: `${node}/jsonrpc` }],
  world: 'dev',
};
const solana = {
  family: 'solana',
  chain: 'sol',
  genesisHash: '6m8XPjfHzSr6jeQCwhCXCiNvogJNuFUfjxkmNKTbWqva',
  rpcUrls: [node],
  program: '7nSKHwmJDqGUTjSWQLrgD2hfvnBoSQfpZoKNdvbJsTCk',
  world: 'dev',
};
const regtest = { family: 'bitcoin', chain: 'btc', network: 'regtest', rpcUrl: node };

function refused(given: unknown, expected: RegExp): void {
  const { wrong } = parseChains(given, 'dev');
  assert.match(wrong.join('\n'), expected, JSON.stringify(given));
}

test('chains as an operator writes them are taken, numbers of their own included', () => {
  const own = { ...anvil, policy: { like: 'evm-dev', normal: { confirmations: 3 } } };
  const second = { ...regtest, second: { esploraUrl: node } };
  const all = [second, own, tron, { ...solana, mostDriftSeconds: 60 }];
  const { values, wrong } = parseChains(all, 'dev');
  assert.deepEqual(wrong, []);
  assert.deepEqual(values, all);
});

test('contracts of a chain are named beside the first, each once and eight at most', () => {
  const [first, ...more] = Array.from({ length: 9 }, (_, at) => shardOf(at).address);
  const some = { ...anvil, shards: more.slice(0, 2), formerContracts: [first] };
  const own = { ...some, contract: more[2] };
  const { contract, creation } = tron;
  const other = { contract: 'T9yD14Nj9j7xAB4dbGeiX9h8unkKHxuWwb', creation };
  assert.deepEqual(parseChains([own, { ...tron, shards: [other] }], 'dev').wrong, []);
  refused([some], new RegExp(`entry 1 \\("evm"\\): ${first} is named twice among the contracts`));
  refused([{ ...anvil, shards: more }], /9 contracts are named; at most 8 may hold escrows/);
  refused([{ ...anvil, shards: [`${first}0`] }], /field "shards.0" must match/);
  refused([{ ...anvil, shards: [first?.replace('C', 'c')] }], /field "shards": .*checksum/);
  const stranger = { ...anvil, formerContracts: [`0x${'11'.repeat(20)}`] };
  refused([stranger], /it names the contract 0x1{40}, which is none of shard 0 to 255 of the pin/);
  refused([{ ...tron, formerContracts: [{ contract, creation }] }], /is named twice/);
  refused([{ ...tron, shards: [{ contract }] }], /field "shards.0.creation" is missing/);
});

test('a chain that is malformed is named by entry and field', () => {
  refused({}, /must be a JSON array of 1 to 100 chains/);
  refused([null], /entry 1: the entry must be an object/);
  refused([regtest, 7], /entry 2: the entry must be an object/);
  refused([{ ...anvil, family: 'ton' }], /entry 1 \("evm"\): field "family" is "ton"; served are/);
  refused([{ ...tron, contract: solana.program }], /entry 1 \("tron"\): field "contract": .*TRON/);
  refused([{ ...tron, sources: [{ url: 'http://' }] }], /field "sources.0.url" is not a URL/);
  const solidity = { url: node, solidityUrl: 'http://u:p@h' };
  refused([{ ...tron, sources: [solidity] }], /"sources.0.solidityUrl" must not carry a user/);
  const jsonRpc = { url: node, jsonRpcUrl: 'http://u:p@h/jsonrpc' };
  refused([{ ...tron, sources: [jsonRpc] }], /"sources.0.jsonRpcUrl" must not carry a user/);
  refused([{ ...solana, program: '1'.repeat(33) }], /field "program": .*Solana/);
  refused([{ ...solana, genesisHash: undefined }], /field "genesisHash" is missing/);
  refused([{ ...anvil, rpcUrls: ['http://'] }], /field "rpcUrls.0" is not a URL/);
  refused([{ ...anvil, rpcUrls: ['http://u:p@h'] }], /"rpcUrls.0" must not carry a user and pass/);
  refused([{ ...anvil, depthTag: 'latest' }], /field "depthTag" must be one of safe, finalized/);
  refused([{ ...anvil, rpcUrl: node }], /field "rpcUrl" is not known/);
  refused(
    [{ ...anvil, policy: { normal: { confirmations: 0 } } }],
    /"normal.confirmations" must be/,
  );
  refused([{ ...regtest, rpcUrl: undefined }], /entry 1 \("btc"\): it names no node/);
  refused([{ ...regtest, second: {} }], /field "second" names no node/);
  refused([anvil, anvil], /entry 2 \("evm"\): this chain is configured twice/);
});

test('an unknown EVM chain id is refused until the operator says what it is', () => {
  const unknown = { ...anvil, chain: 'x', chainId: 123_456_789, policy: 'sepolia' };
  const wrong = (given: object, network: 'dev' | 'testnet' | 'mainnet') =>
    parseChains([given], network).wrong.join('\n');
  assert.match(wrong(unknown, 'testnet'), /chain id 123456789 is not known here: say .* "world"/);
  assert.equal(wrong({ ...unknown, world: 'testnet' }, 'testnet'), '');
  assert.match(wrong({ ...unknown, world: 'mainnet' }, 'testnet'), /belongs to mainnet, not to/);
  assert.match(
    wrong({ ...unknown, chainId: 5_000, world: 'testnet' }, 'testnet'),
    /"world" is testnet, but chain id 5000 belongs to mainnet/,
  );
});

test('a TRON or Solana chain belongs to the world of its id, or to the one its operator names', () => {
  const wrong = (given: object, network: 'dev' | 'testnet' | 'mainnet') =>
    parseChains([given], network).wrong.join('\n');
  const nile = { ...tron, chainId: 0xcd8690dc, world: undefined };
  assert.equal(wrong(nile, 'testnet'), '');
  assert.match(wrong(nile, 'mainnet'), /"tron" belongs to testnet, not to PARLEY_NETWORK=mainnet/);
  assert.match(wrong({ ...tron, world: undefined }, 'dev'), /chain id 7 is not known here: say/);
  assert.match(
    wrong({ ...tron, chainId: 0x2b6653dc }, 'dev'),
    /"world" is dev, but chain id 728126/,
  );
  const genesisHash = '5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d';
  const main = { ...solana, genesisHash, world: undefined };
  assert.equal(wrong(main, 'mainnet'), '');
  assert.match(wrong(main, 'testnet'), /"sol" belongs to mainnet, not to PARLEY_NETWORK=testnet/);
  assert.match(wrong({ ...solana, world: undefined }, 'dev'), /genesis hash 6m8X\w+ is not known/);
  assert.match(wrong({ ...main, world: 'dev' }, 'dev'), /"world" is dev, but genesis hash 5eykt/);
});

test('an asset that is malformed or of a chain not configured is named, never dropped', () => {
  const chains = [
    { chain: 'btc', family: 'bitcoin' as const },
    { chain: 'evm', family: 'evm' as const },
    { chain: 'tron', family: 'tron' as const },
    { chain: 'sol', family: 'solana' as const },
  ];
  const token = `0x${'Ab'.repeat(20)}`;
  const usd = { chain: 'evm', symbol: 'USD', address: token.toLowerCase(), decimals: 6 };
  const wrong = (...given: unknown[]) => parseAssets(given, chains).wrong.join('\n');
  assert.equal(wrong({ ...usd, highValueFrom: '1000000' }), '');
  assert.equal(wrong({ ...usd, chain: 'tron', address: tron.contract }), '');
  assert.match(wrong({ ...usd, chain: 'tron' }), /"USD on tron".*TRON/);
  assert.equal(wrong({ ...usd, chain: 'sol', address: solana.program }), '');
  assert.match(wrong({ ...usd, chain: 'sol' }), /"USD on sol".*Solana/);
  assert.match(parseAssets({}, chains).wrong.join(), /array of 1 to 10000 assets/);
  assert.match(wrong(usd, null), /PARLEY_ASSETS, entry 2: the entry must be an object/);
  const settings = {
    PARLEY_CHAINS: JSON.stringify([{ ...anvil, rpcUrls: [] }]),
    PARLEY_ASSETS: JSON.stringify([usd]),
  };
  assert.throws(
    () => readSettings(settings),
    ({ message }: Error) =>
      /"rpcUrls" must NOT/.test(message) && !message.includes('PARLEY_ASSETS'),
  );
  assert.match(wrong({ ...usd, chain: 'solana' }), /"USD on solana".*"solana" is not configured/);
  assert.match(wrong({ ...usd, highValueFrom: '9'.repeat(78) }), /from 1 to 2\^256-1/);
  assert.match(wrong({ ...usd, address: '0x1' }), /entry 1 \("USD on evm"\): .*0x1/);
  assert.match(wrong({ ...usd, chain: 'btc' }), /Bitcoin has no tokens/);
  assert.match(wrong(usd, { ...usd, symbol: 'X' }), /entry 2 .*this asset is configured twice/);
});

test('the examples of docs/settings.md start, each on its own network and on no other', () => {
  const text = readFileSync(new URL('../../../docs/settings.md', import.meta.url), 'utf8');
  const blocks = [...text.matchAll(/```json\n([\s\S]*?)```/g)].map(([, json]) => json ?? '');
  const [mainnet = '', testnet = '', assets = '', launchpads = '', ...rest] = blocks;
  const [markets = '', rules = '', prices = '', ...more] = rest;
  assert.deepEqual(more, []);
  assert.equal(
    JSON.parse(prices).currency,
    'USD',
    'an answer to the market, and none of its settings',
  );
  const main = {
    PARLEY_NETWORK: 'mainnet',
    PARLEY_CHAINS: mainnet,
    PARLEY_ASSETS: assets,
    PARLEY_LAUNCHPADS: launchpads,
    PARLEY_MARKET_DATA: markets.replaceAll('…', 'key'),
    PARLEY_LISTING_RULES: rules,
  };
  const test = { PARLEY_NETWORK: 'testnet', PARLEY_CHAINS: testnet };
  const served = [main, test].flatMap((env) => readSettings(env).chains ?? []);
  assert.equal(served.length, 9);
  for (const chain of served) assert.ok(policyOf(chain).policy.floorSeconds > 0);
  assert.throws(() => readSettings({ ...main, PARLEY_NETWORK: 'testnet' }), /belongs to mainnet/);
  assert.throws(() => readSettings({ ...test, PARLEY_NETWORK: 'mainnet' }), /belongs to testnet/);
});

test('the least files of docs/install.md are what its settings name, and start', () => {
  const text = readFileSync(new URL('../../../docs/install.md', import.meta.url), 'utf8');
  const [chains = '', assets = '', ...more] = [...text.matchAll(/```json\n([\s\S]*?)```/g)].map(
    ([, json]) => json ?? '',
  );
  assert.deepEqual(more, []);
  const [, lines = ''] = /parley\.env <<'END'\n([\s\S]*?)\nEND/.exec(text) ?? [];
  const env = Object.fromEntries(lines.split('\n').map((line) => line.split(/=(.*)/s)));
  assert.equal(env.PARLEY_ASSETS, '@/etc/parley/assets.json');
  const settings = readSettings({ ...env, PARLEY_CHAINS: chains, PARLEY_ASSETS: assets });
  assert.deepEqual(
    settings.chains?.map(({ chain }) => chain),
    ['bitcoin', 'ethereum'],
  );
  assert.equal(settings.assets?.length, 3);
});

test('docs/settings.md names every policy', () => {
  const text = readFileSync(new URL('../../../docs/settings.md', import.meta.url), 'utf8');
  const tables = [bitcoinPolicies, evmChains, tronChains, solanaChains];
  const names = [...tables.flatMap((table) => Object.keys(table)), 'tron-dev'];
  const unlisted = names.filter((name) => !text.includes(`\`${name}\``));
  // A second dev chain has the numbers of the first.
  assert.deepEqual(unlisted, ['evm-dev-2']);
});
