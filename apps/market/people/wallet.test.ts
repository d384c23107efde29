// The content of the texts that wallets sign in the browser: chains by settings, and statements
// that no other text could be taken for.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { families } from '@parley/core/families.ts';
import { base58 } from '@scure/base';
import type { ChainSettings } from '../settings/chains.ts';
import { payoutStatement } from './payouts.ts';
import { isPlain, writeSignInText } from './sign-in-text.ts';
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
  const payouts = [true, false].map((paid) => payoutStatement('evm', 'this wallet', paid));
  const signIns = purposes.map((each) => signInStatement(each, 'Parley'));
  for (const statement of [...signIns, ...payouts]) {
    assert.doesNotMatch(statement, /create an api key|link this wallet|authorise this wallet/i);
    assert.ok(isPlain(statement));
  }
  assert.equal(new Set([...signIns, ...payouts]).size, 5);
});

// The app of TRON on a Ledger: a text is cut behind 255 bytes, and its signature is of the rest.
test("a TRON wallet's text has less than 255 bytes, of the longest wallet vouched for too", () => {
  const taproot = `bc1p${'q'.repeat(58)}`;
  const domain = 'market-place.example';
  assert.equal(domain.length, 20);
  const write = (statement: string) =>
    writeSignInText({
      family: 'tron',
      domain,
      address: 'TMVQGm1qAQYVdetCeGRRkTWYYrLXuHK2HC',
      statement,
      uri: `https://${domain}`,
      chain: '',
      nonce: base58.encode(new Uint8Array(16).fill(255)),
      issuedAt: new Date(0),
      expiresAt: new Date(600_000),
    });
  const statements = [
    ...purposes.map((each) => signInStatement(each, 'Parley')),
    ...families.flatMap((family) => {
      const whom = family === 'bitcoin' ? [taproot] : [`0x${'ab'.repeat(20)}`, '1'.repeat(44)];
      return [true, false].flatMap((paid) =>
        ['this wallet', ...whom].map((wallet) => payoutStatement(family, wallet, paid)),
      );
    }),
  ];
  const lengths = statements.map((each) => Buffer.byteLength(write(each)));
  assert.equal(Math.max(...lengths), 253);
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
const solana = (genesisHash: string): ChainSettings => {
  return { family: 'solana', chain: 'solana', genesisHash, rpcUrls, program: '' };
};

test('the chain line is of the chains that are served', () => {
  const chains = [evm(8_453), evm(10), solana('EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG')];
  const served = { network: 'testnet', chains, devEvmChains: 1 } as const;
  assert.equal(chainLineOf(served, 'evm', null), '8453');
  assert.equal(chainLineOf(served, 'evm', 10), '10');
  assert.throws(() => chainLineOf(served, 'evm', 1), /is 1; wallets sign in on 8453, 10/);
  assert.equal(chainLineOf(served, 'solana', null), 'devnet');
});

test('where a family has no chain here, it is the one of the market', () => {
  const lines = (network: 'mainnet' | 'testnet') => {
    const settings = { network, chains: [], devEvmChains: 1 };
    return (['evm', 'solana'] as const).map((each) => chainLineOf(settings, each, null));
  };
  assert.deepEqual(lines('mainnet'), ['1', 'mainnet']);
  assert.deepEqual(lines('testnet'), ['11155111', 'testnet']);
});

test('on the dev network every dev EVM chain counts', () => {
  const dev = { network: 'dev', chains: null, devEvmChains: 2 } as const;
  assert.equal(chainLineOf(dev, 'evm', null), '31337');
  assert.equal(chainLineOf(dev, 'evm', 31_338), '31338');
  assert.throws(() => chainLineOf(dev, 'evm', 31_339), /31337, 31338/);
  assert.equal(chainLineOf({ ...dev, devEvmChains: 0 }, 'evm', null), '31337');
});
