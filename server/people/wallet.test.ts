// What stands in the texts that wallets sign in the browser: chains by settings, and statements
// that no other text could be taken for.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ChainSettings } from '../settings/chains.ts';
import { isPlain } from './sign-in-text.ts';
import { productIn, signInStatement } from './wallet.ts';
import { chainLineOf } from './wallet-chains.ts';

const purposes = ['sign-in', 'add', 'renew'] as const;
const site = {
  origin: 'https://market.example',
  host: 'market.example',
  hostname: 'market.example',
  secure: true,
};

test('no statement has the words of another text that wallets sign', () => {
  for (const purpose of purposes) {
    const statement = signInStatement(purpose, 'Parley');
    assert.doesNotMatch(statement, /create an api key|link this wallet|authorise this wallet/i);
    assert.ok(isPlain(statement));
  }
  assert.equal(new Set(purposes.map((each) => signInStatement(each, 'Parley'))).size, 3);
});

test('the product is named as it is where wallets show its letters, else by its site', () => {
  const nameOf = (productName: string) => productIn({ productName }, site);
  assert.equal(nameOf("Desk & Co (it's new)"), "Desk & Co (it's new)");
  for (const name of ['Ünïon', '交換', 'a"b', 'a\\b', 'x'.repeat(81), '']) {
    assert.equal(nameOf(name), 'market.example', name);
  }
});

const rpcUrls = ['https://node.example'];
const evm = (chainId: number): ChainSettings => {
  return { family: 'evm', chain: `evm-${chainId}`, chainId, rpcUrls };
};
const tron = (chainId: number): ChainSettings => {
  const contract = 'TMVQGm1qAQYVdetCeGRRkTWYYrLXuHK2HC';
  return { family: 'tron', chain: 'tron', chainId, contract, creation: '', sources: [] };
};
const solana = (genesisHash: string): ChainSettings => {
  return { family: 'solana', chain: 'solana', genesisHash, rpcUrls, program: '' };
};
const bitcoin: ChainSettings = { family: 'bitcoin', chain: 'bitcoin', network: 'signet' };

test('the chain line is of the chains that are served', () => {
  const chains = [
    evm(8_453),
    evm(10),
    tron(0x2b6653dc),
    solana('EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG'),
    bitcoin,
  ];
  const served = { network: 'testnet', chains, devEvmChains: 1 } as const;
  assert.equal(chainLineOf(served, 'evm', null), '8453');
  assert.equal(chainLineOf(served, 'evm', 10), '10');
  assert.throws(() => chainLineOf(served, 'evm', 1), /is 1; wallets sign in on 8453, 10/);
  assert.equal(chainLineOf(served, 'tron', null), '0x2b6653dc');
  assert.equal(chainLineOf({ ...served, chains: [tron(255)] }, 'tron', null), '0x000000ff');
  assert.equal(chainLineOf(served, 'solana', null), 'devnet');
  assert.equal(chainLineOf(served, 'bitcoin', null), 'signet');
});

test('where a family has no chain here, it is the one of the market', () => {
  const lines = (network: 'mainnet' | 'testnet') => {
    const settings = { network, chains: [], devEvmChains: 1 };
    return (['evm', 'tron', 'solana', 'bitcoin'] as const).map((each) =>
      chainLineOf(settings, each, null),
    );
  };
  assert.deepEqual(lines('mainnet'), ['1', '0x2b6653dc', 'mainnet', 'mainnet']);
  assert.deepEqual(lines('testnet'), ['11155111', '0xcd8690dc', 'testnet', 'testnet']);
});

test('on the dev network every dev EVM chain counts', () => {
  const dev = { network: 'dev', chains: null, devEvmChains: 2 } as const;
  assert.equal(chainLineOf(dev, 'evm', null), '31337');
  assert.equal(chainLineOf(dev, 'evm', 31_338), '31338');
  assert.throws(() => chainLineOf(dev, 'evm', 31_339), /31337, 31338/);
  assert.equal(chainLineOf({ ...dev, devEvmChains: 0 }, 'evm', null), '31337');
});
