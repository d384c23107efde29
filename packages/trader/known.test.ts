// The chains that a trader takes are those of its network, and none has the name of another one.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AppChain } from '@parley/core/app-chain.ts';
import { titleOf, worldFault } from './known.ts';

const evm = (chain: string, chainId: number): AppChain => ({
  family: 'evm',
  chain,
  chainId,
  nodes: [],
});
const bitcoin = (chain: string, network: 'mainnet' | 'testnet' | 'regtest'): AppChain => ({
  family: 'bitcoin',
  chain,
  bitcoin: network,
  nodes: [],
});

test('a chain is taken on its own network, and on a main network under no name of another one', () => {
  for (const [chain, network, fault] of [
    [evm('ethereum', 1), 'mainnet', null],
    [evm('base', 8453), 'mainnet', null],
    [bitcoin('bitcoin', 'mainnet'), 'mainnet', null],
    [evm('a name of its own', 8453), 'mainnet', null],
    [evm('constructor', 1), 'mainnet', null],
    [evm('ethereum', 8453), 'mainnet', 'this market calls it "ethereum", and it is Base'],
    [evm('bitcoin', 1), 'mainnet', 'this market calls it "bitcoin", and it is Ethereum'],
    [
      bitcoin('ethereum', 'mainnet'),
      'mainnet',
      'this market calls it "ethereum", and it is Bitcoin',
    ],
    [evm('ethereum', 11155111), 'testnet', null],
    [evm('ethereum', 31337), 'dev', null],
    [evm('evm-dev', 31337), 'dev', null],
  ] as const) {
    assert.equal(worldFault(chain, network), fault, `${chain.chain} on ${network}`);
  }
  assert.match(worldFault(evm('ethereum', 1), 'testnet') ?? '', /of the network "mainnet"/);
  assert.match(worldFault(evm('l2', 84532), 'mainnet') ?? '', /of the network "testnet"/);
  assert.match(worldFault(evm('ethereum', 11155111), 'mainnet') ?? '', /network "testnet"/);
  assert.match(worldFault(evm('other', 99999), 'mainnet') ?? '', /of no network/);
  assert.match(worldFault(evm('evm-dev', 1), 'dev') ?? '', /network "mainnet"/);
  assert.match(worldFault(bitcoin('bitcoin', 'regtest'), 'mainnet') ?? '', /network "dev"/);
});

test('a chain of no table is a dev chain on a dev network, and of an unknown network elsewhere', () => {
  const deployed = { chain: 'tron', chainId: 7, nodes: [] };
  const tron = { family: 'tron', ...deployed } as unknown as AppChain;
  const titles = (['dev', 'mainnet'] as const).map((network) => titleOf(tron, network));
  assert.deepEqual(titles, ['TRON dev chain', 'TRON unknown network']);
});
