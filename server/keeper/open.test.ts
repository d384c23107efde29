// What relays of a day may take, from settings and the policies of chains.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import type { ChainAdapter } from '../../chains/adapter.ts';
import { evmGasPolicies } from '../../chains/evm/gas-policy.ts';
import { evmChains } from '../../chains/evm/policy.ts';
import type { ChainSettings } from '../chain-settings.ts';
import { accountShare } from './bounds.ts';
import { openGas } from './open.ts';
import { parseKeeper } from './settings.ts';

const home = mkdtempSync(join(tmpdir(), 'keys-'));
const keyFile = join(home, 'key');
writeFileSync(keyFile, '11'.repeat(32), { mode: 0o600 });
after(() => rmSync(home, { recursive: true }));

function capOf(chain: string, more: object = {}): bigint {
  const known = Object.entries(evmChains).find(([name]) => name === chain)?.[1];
  const { chainId, policy } = known ?? assert.fail();
  const served = [{ chain, family: 'evm', chainId, policy: chain }] as unknown as ChainSettings[];
  const entry = { chain, keyFile, dailyCap: '1', ...more };
  const { values, wrong } = parseKeeper([entry], served);
  assert.deepEqual(wrong, []);
  const adapter = { chain, policy } as unknown as ChainAdapter;
  return openGas(values, served, new Map([[chain, adapter]])).get(chain)?.relays.cap ?? -1n;
}

/** What a claim reserves on a node that lends no state to try it. */
function dearest(chain: string): bigint {
  const { mostGas, reserveFeePerGas } = evmGasPolicies[chain] ?? assert.fail();
  return mostGas * reserveFeePerGas;
}

test('by default each account may have its dearest claim relayed, on every EVM chain', () => {
  for (const chain of Object.keys(evmChains)) {
    assert.ok(capOf(chain) / accountShare >= 2n * dearest(chain), chain);
  }
  const twice = 2n * (evmGasPolicies.arbitrum?.reserveFeePerGas ?? 0n);
  assert.equal(capOf('arbitrum', { reserveFeePerGas: `${twice}` }), 2n * capOf('arbitrum'));
});

test('a cap that would refuse every relay is refused, but for none at all', () => {
  const least = accountShare * dearest('arbitrum');
  assert.equal(capOf('arbitrum', { relayCap: `${least}` }), least);
  assert.equal(capOf('arbitrum', { relayCap: '0' }), 0n);
  const says = new RegExp(`relayCap ${least - 1n} refuses relays.* ${least} at least, or 0`);
  assert.throws(() => capOf('arbitrum', { relayCap: `${least - 1n}` }), says);
});
