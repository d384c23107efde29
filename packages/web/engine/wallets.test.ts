// Where Bitcoin may be paid: anywhere but at the key of the phrase, which no wallet knows. Whom a
// wallet concerns.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bitcoinNetworks } from '@parley/chains/bitcoin/networks.ts';
import type { ChainSource } from '@parley/sdk/chains.ts';
import { phraseKeys } from '@parley/sdk/rescue/derive.ts';
import type { AccountLink } from '../wallets/types.ts';
import { EngineError, type LegView } from './types.ts';
import { handsOf, payoutWallet } from './wallets.ts';

const phrase = 'legal winner thank year wave sausage worth useful legal winner thank yellow';

test('an address of another wallet is taken, and that of the escrow key in neither spelling', async () => {
  const keys = await phraseKeys(phrase, 'dev');
  const view = { family: 'bitcoin', chain: 'bitcoin', network: bitcoinNetworks.regtest };
  const source = { view } as unknown as ChainSource;
  const key = keys.bitcoinKey(0);
  const other = keys.bitcoinKey(1);
  assert.equal((await payoutWallet(source, key, other.address)).payout, other.address);
  for (const spelt of [key.address, key.address.toUpperCase()]) {
    const refused = (error: unknown) => error instanceof EngineError && error.code === 'no_payout';
    await assert.rejects(payoutWallet(source, key, spelt), refused, spelt);
  }
});

test('a wallet that is connected or gone concerns the legs of its account alone', () => {
  const heard: ((leg: Pick<LegView, 'family' | 'ownAddress'>) => boolean)[] = [];
  const hands = handsOf({ onLink: (isOf) => heard.push(isOf) });
  let go = () => {};
  hands.use({
    family: 'evm',
    signer: { address: '0xABcd' },
    onGone: (gone: () => void) => (go = gone),
  } as unknown as AccountLink);
  go();
  assert.equal(heard.length, 2);
  for (const isOf of heard) {
    assert.ok(isOf({ family: 'evm', ownAddress: '0xabCD' }));
    assert.ok(!isOf({ family: 'evm', ownAddress: '0xabce' }));
    assert.ok(!isOf({ family: 'tron', ownAddress: '0xABcd' }));
  }
});

test('a person’s wallet of an EVM chain is told all nodes of the chain', () => {
  const hands = handsOf({ onLink: () => {} });
  const places: unknown[] = [];
  const on = (place: unknown) => void places.push(place);
  const signer = { address: '0xABcd' };
  hands.use({ family: 'evm', signer, onGone: () => {}, on } as unknown as AccountLink);
  const chain = { family: 'evm', chain: 'base', chainId: 8_453, nodes: [] } as never;
  const nodes = ['https://one.example', 'https://two.example'];
  hands.wallet(chain, nodes, '0xabcd');
  const told = { family: 'evm', chain: 'base', chainId: 8_453, name: 'Base', coin: 'ETH' };
  assert.deepEqual(places, [{ ...told, rpcUrls: nodes }]);
});
