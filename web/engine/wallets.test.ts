// Where Bitcoin may be paid: anywhere but at the key of the phrase, which no wallet knows.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bitcoinNetworks } from '../../chains/bitcoin/networks.ts';
import { phraseKeys } from '../../sdk/rescue/derive.ts';
import type { ChainSource } from '../../sdk/settle.ts';
import { EngineError } from './types.ts';
import { payoutWallet } from './wallets.ts';

const phrase = 'legal winner thank year wave sausage worth useful legal winner thank yellow';

test('an address of another wallet is taken, and that of the escrow key in neither spelling', async () => {
  const keys = await phraseKeys(phrase, 'dev');
  const view = { family: 'bitcoin', chain: 'bitcoin', network: bitcoinNetworks.regtest };
  const source = { view } as unknown as ChainSource;
  const [key, other] = [keys.bitcoinKey(0), keys.bitcoinKey(1)];
  assert.equal((await payoutWallet(source, key, other.address)).payout, other.address);
  for (const spelt of [key.address, key.address.toUpperCase()]) {
    const refused = (error: unknown) => error instanceof EngineError && error.code === 'no_payout';
    await assert.rejects(payoutWallet(source, key, spelt), refused, spelt);
  }
});
