// The cost of a day, from settings and the policies of chains.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import type { ChainAdapter } from '@parley/chains/adapter.ts';
import { evmGasPolicies } from '@parley/chains/evm/gas-policy.ts';
import { evmChains } from '@parley/chains/evm/policy.ts';
import { partBesideClaims } from '@parley/watchtower/bounds.ts';
import type { Gas } from '@parley/watchtower/port.ts';
import type { ChainSettings } from '../settings/chains.ts';
import { parseKeeper } from '../settings/keeper.ts';
import { devKeeper, openGas } from './gas-keys.ts';

const home = mkdtempSync(join(tmpdir(), 'keys-'));
const keyFile = join(home, 'key');
writeFileSync(keyFile, '11'.repeat(32), { mode: 0o600 });
after(() => rmSync(home, { recursive: true }));

function gasOf(chain: string, more: object = {}): Gas {
  const known = Object.entries(evmChains).find(([name]) => name === chain)?.[1];
  const { chainId, policy } = known ?? assert.fail();
  const served = [{ chain, family: 'evm', chainId, policy: chain }] as unknown as ChainSettings[];
  const entry = { chain, keyFile, dailyCap: '0', ...more };
  const { values, wrong } = parseKeeper([entry], served);
  assert.deepEqual(wrong, []);
  const adapter = { chain, policy } as unknown as ChainAdapter;
  return openGas(values, served, new Map([[chain, adapter]])).get(chain) ?? assert.fail();
}
/** The reserve of a claim on a node that lends no state to try it. */
function dearest(chain: string): bigint {
  const { mostGas, reserveFeePerGas } = evmGasPolicies[chain] ?? assert.fail();
  return mostGas * reserveFeePerGas;
}

test('a key takes requests where half of its cap has room for the dearest one', () => {
  for (const chain of Object.keys(evmChains)) {
    const least = partBesideClaims * dearest(chain);
    assert.equal(gasOf(chain, { dailyCap: `${least}` }).takesRequests, true);
    assert.equal(gasOf(chain, { dailyCap: `${least - 1n}` }).takesRequests, false);
    const cheap = { dailyCap: `${least - 1n}`, reserveFeePerGas: '1' };
    assert.equal(gasOf(chain, cheap).takesRequests, true);
  }
});

test('a dev key has room for the dearest relay', () => {
  const chain = 'evm-dev';
  const { chainId, policy } = evmChains[chain] ?? assert.fail();
  const served = [{ chain, family: 'evm', chainId, policy: chain }] as unknown as ChainSettings[];
  const adapter = { chain, policy } as unknown as ChainAdapter;
  const gas = openGas(devKeeper(home, served), served, new Map([[chain, adapter]])).get(chain);
  assert.equal(gas?.takesRequests, true);
});
