// A market's word for a token counts on dev networks alone.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { getAddress } from 'viem/utils';
import type { AppChain } from '../../core/app-chain.ts';
import { isVerified, knownAsset, type ListedAsset } from './tokens.ts';

const usdc = '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48';
const tether = 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t';
const pinned = { contract: '', creation: '' };
const mainnetSolana = '5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d';
const chains: readonly AppChain[] = [
  { family: 'bitcoin', chain: 'btc', nodes: [], bitcoin: 'mainnet' },
  { family: 'evm', chain: 'eth', nodes: [], chainId: 1 },
  // A market names its chains as it likes: what they are says their id.
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
  const contracts = [...text.matchAll(/'(0x[0-9a-fA-F]{40})'/g)].map(([, found = '']) => found);
  assert.ok(contracts.length > 12);
  for (const each of contracts) assert.equal(each, getAddress(each));
  assert.equal(new Set(contracts).size, contracts.length);
  assert.equal(knownAsset(null, null), null);
});
