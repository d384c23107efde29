// What relays and fundings of a day may take, from settings and the policies of chains.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import type { ChainAdapter } from '../../chains/adapter.ts';
import { evmGasPolicies } from '../../chains/evm/gas-policy.ts';
import { evmChains } from '../../chains/evm/policy.ts';
import { accountShare } from '../../watchtower/bounds.ts';
import type { Gas } from '../../watchtower/port.ts';
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
  const entry = { chain, keyFile, dailyCap: '1', ...more };
  const { values, wrong } = parseKeeper([entry], served);
  assert.deepEqual(wrong, []);
  const adapter = { chain, policy } as unknown as ChainAdapter;
  return openGas(values, served, new Map([[chain, adapter]])).get(chain) ?? assert.fail();
}
const capOf = (chain: string, more: object = {}) => gasOf(chain, more).relays.cap;
const fundCapOf = (chain: string, more: object = {}) => gasOf(chain, more).fundings.cap;

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

test('by default each account may have its dearest funding sent, on every EVM chain', () => {
  for (const chain of Object.keys(evmChains)) {
    assert.ok(fundCapOf(chain) / accountShare >= dearest(chain), chain);
  }
  const twice = 2n * (evmGasPolicies.arbitrum?.reserveFeePerGas ?? 0n);
  assert.equal(fundCapOf('arbitrum', { reserveFeePerGas: `${twice}` }), 2n * fundCapOf('arbitrum'));
});

test('a cap that would refuse fundings is refused, but for none at all', () => {
  const least = accountShare * dearest('base');
  assert.equal(fundCapOf('base', { fundCap: `${least}` }), least);
  assert.equal(fundCapOf('base', { fundCap: '0' }), 0n);
  const says = new RegExp(`fundCap ${least - 1n} refuses fundings.* ${least} at least, or 0`);
  assert.throws(() => fundCapOf('base', { fundCap: `${least - 1n}` }), says);
});

test('a dev key has room for the dearest funding of an account', () => {
  const chain = 'evm-dev';
  const { chainId, policy } = evmChains[chain] ?? assert.fail();
  const served = [{ chain, family: 'evm', chainId, policy: chain }] as unknown as ChainSettings[];
  const adapter = { chain, policy } as unknown as ChainAdapter;
  const gas = openGas(devKeeper(home, served), served, new Map([[chain, adapter]])).get(chain);
  assert.ok((gas?.fundings.cap ?? 0n) / accountShare >= dearest(chain));
});
