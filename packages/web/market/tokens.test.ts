// A market's word for a token counts on dev networks alone.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { sha256 } from '@noble/hashes/sha2.js';
import type { AppChain } from '@parley/core/app-chain.ts';
import { base58, createBase58check } from '@scure/base';
import { usdc as circleDollar, eurc as circleEuro } from 'viem/tokens';
import { getAddress } from 'viem/utils';
import { isVerified, type ListedAsset } from './tokens.ts';

const base58check = createBase58check(sha256);
const usdc = '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48';
const tether = 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t';
const pinned = { contract: '', creation: '' };
const mainnetSolana = '5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d';
const chains: readonly AppChain[] = [
  { family: 'bitcoin', chain: 'btc', nodes: [], bitcoin: 'mainnet' },
  { family: 'evm', chain: 'eth', nodes: [], chainId: 1 },
  // A market names its chains as it likes: the id identifies them.
  { family: 'evm', chain: 'arbitrum', nodes: [], chainId: 8453 },
  { family: 'evm', chain: 'bsc', nodes: [], chainId: 56 },
  { family: 'tron', chain: 'tron', nodes: [], chainId: 0x2b6653dc, ...pinned },
  { family: 'solana', chain: 'sol', nodes: [], genesisHash: mainnetSolana, program: '' },
];
const listed = (chain: string, address: string | null, symbol: string, decimals: number) =>
  ({ chain, address, symbol, decimals, verified: true }) satisfies ListedAsset;

test('verified is what the table of the app has: chain, contract, symbol and decimals', () => {
  for (const [asset, is] of [
    [listed('eth', usdc, 'USDC', 6), true],
    [listed('eth', usdc.toLowerCase(), 'USDC', 6), true],
    [listed('eth', usdc, 'USDC', 18), false],
    [listed('eth', usdc, 'USDT', 6), false],
    [listed('eth', usdc, 'USDС', 6), false],
    [listed('eth', `0x${'12'.repeat(20)}`, 'USDC', 6), false],
    [listed('arbitrum', usdc, 'USDC', 6), false],
    [listed('arbitrum', '0xaf88d065e77c8cC2239327C5EDb3A432268e5831', 'USDC', 6), false],
    [listed('arbitrum', '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913', 'USDC', 6), true],
    [listed('none', usdc, 'USDC', 6), false],
    [listed('btc', null, 'BTC', 8), true],
    [listed('btc', null, 'ETH', 8), false],
    [listed('eth', null, 'ETH', 18), true],
    [listed('eth', null, 'BTC', 18), false],
    [listed('bsc', null, 'ETH', 18), false],
    [listed('tron', tether, 'USDT', 6), true],
    [listed('tron', tether.toLowerCase(), 'USDT', 6), false],
    [listed('tron', null, 'TRX', 6), true],
    [listed('sol', 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v', 'USDC', 6), true],
    [listed('sol', null, 'SOL', 9), true],
  ] as const) {
    const said = `${asset.chain} ${asset.symbol} ${asset.address}`;
    assert.equal(isVerified(asset, chains, 'mainnet'), is, said);
    assert.equal(isVerified({ ...asset, verified: false }, chains, 'mainnet'), is, said);
  }
});

test('a dev network has tokens of its own: there the market says it', () => {
  const own = listed('evm-dev', `0x${'12'.repeat(20)}`, 'USDX', 6);
  assert.equal(isVerified(own, [], 'dev'), true);
  assert.equal(isVerified({ ...own, verified: false }, [], 'dev'), false);
});

test('no contract of the table has a slip of the pen, and each is there once a chain', () => {
  const text = readFileSync(new URL('tokens.ts', import.meta.url), 'utf8');
  const quoted = [...text.matchAll(/'(\w{32,})'/g)].map(([, found = '']) => found);
  assert.equal(quoted.length, new Set(quoted).size);
  const hex = quoted.filter((each) => each.startsWith('0x'));
  const base58s = new Set(quoted);
  for (const each of hex) {
    assert.equal(each, getAddress(each));
    base58s.delete(each);
  }
  assert.equal(hex.length, evmRows.length);
  for (const each of base58s) {
    // TRON's have a checksum; Solana's are 32 bytes.
    const bytes = base58.decode(each).length;
    if (each.startsWith('T')) assert.equal(base58check.decode(each)[0], 0x41, each);
    else assert.equal(bytes, 32, each);
  }
});

/** Circle's by viem's registry; Tether's, which it lacks, by Tether's own documentation. */
const evmRows: readonly (readonly [chainId: number, symbol: string, contract: string])[] = [
  ...[1, 10, 8453, 42161, 11155111, 11155420, 84532, 421614].map(
    (chainId) => [chainId, 'USDC', listedBy(circleDollar.addresses, chainId)] as const,
  ),
  ...[1, 8453].map(
    (chainId) => [chainId, 'EURC', listedBy(circleEuro.addresses, chainId)] as const,
  ),
  [1, 'USDT', '0xdAC17F958D2ee523a2206206994597C13D831ec7'],
  [10, 'USDT0', '0x01bFF41798a0BcF287b996046Ca68b395DbC1071'],
  [42161, 'USD₮0', '0xFd086bC7CD5C481DCC9C85ebE478A1C0b69FCbb9'],
];

function listedBy(addresses: Readonly<Record<number, string>>, chainId: number): string {
  const address = addresses[chainId];
  assert.ok(address !== undefined, `the registry has none on ${chainId}`);
  return address;
}

test('each row of an EVM chain is that of a second list', () => {
  for (const [chainId, symbol, contract] of evmRows) {
    const chain: AppChain = { family: 'evm', chain: 'x', nodes: [], chainId };
    assert.ok(isVerified(listed('x', contract, symbol, 6), [chain], 'mainnet'), contract);
  }
});
