// apps/market/deploy/testnet is what its programs understand: the market, the faucet, the house maker. And a
// faucet refuses every network whose coins have worth.

import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { parseEnv } from 'node:util';
import { parseConfig } from '@parley/maker/config/config.ts';
import { knownWorld } from '@parley/market/settings/chains.ts';
import { readSettings } from '@parley/market/settings/config.ts';
import { readFaucetSettings } from './settings.ts';

const folder = join(import.meta.dirname, '../market/deploy/testnet');
const read = (name: string) => readFileSync(join(folder, name), 'utf8');
const market = readSettings({
  ...parseEnv(read('market.env')),
  PARLEY_CHAINS: read('chains.json'),
  PARLEY_ASSETS: `@${join(folder, 'assets.json')}`,
});
const faucetFile = join(folder, 'faucet.json');

test('the market of apps/market/deploy/testnet starts on four test networks that are known by their ids', () => {
  const chains = market.chains ?? [];
  assert.deepEqual(
    chains.map(({ chain, family }) => [chain, family]),
    [
      ['signet', 'bitcoin'],
      ['sepolia', 'evm'],
      ['nile', 'tron'],
      ['solana-devnet', 'solana'],
    ],
  );
  assert.deepEqual([...new Set(chains.map(knownWorld))], ['testnet']);
});

test('its maker trades every asset of the market, on chains of the same ids', () => {
  const maker = parseConfig(read('maker.toml'), join(folder, 'maker.toml'));
  const named = (all: readonly { chain: string; token: string | null }[]) =>
    all.map(({ chain, token }) => `${chain} ${token}`).sort();
  const assets = (market.assets ?? []).map(({ chain, address: token }) => ({ chain, token }));
  assert.deepEqual(named(maker.assets), named(assets));
  const traded = new Set(maker.pairs.flatMap(({ base, quote }) => [base.name, quote.name]));
  assert.equal(traded.size, assets.length);
  for (const chain of market.chains ?? []) {
    const own = maker.chains.find((each) => each.chain === chain.chain);
    const ids = ['chainId', 'genesisHash', 'contract', 'creation', 'program'] as const;
    for (const id of ids) {
      const wanted = (chain as Record<string, unknown>)[id];
      const has = (own as Record<string, unknown> | undefined)?.[id];
      if (wanted !== undefined) assert.equal(has, wanted, `${id} of ${chain.chain}`);
    }
  }
});

test('its faucet gives every asset, and nothing where coins have worth', (t) => {
  const { chains } = readFaucetSettings(faucetFile, market);
  assert.equal(chains.flatMap(({ gifts }) => gifts).length, market.assets?.length);
  for (const network of ['mainnet', 'dev'] as const) {
    const other = { ...market, network };
    assert.throws(() => readFaucetSettings(faucetFile, other), /test networks alone/);
  }
  const mainnet = read('chains.json').replace('11155111', '1');
  const env = { ...parseEnv(read('market.env')), PARLEY_ASSETS: undefined };
  assert.throws(
    () => readSettings({ ...env, PARLEY_CHAINS: mainnet }),
    /"sepolia" belongs to mainnet/,
  );
  const dir = mkdtempSync(join(tmpdir(), 'parley-faucet-settings-'));
  t.after(() => rmSync(dir, { recursive: true }));
  const wrong = (from: string, to: string) => {
    const file = join(dir, 'faucet.json');
    writeFileSync(file, read('faucet.json').replace(from, to));
    return () => readFaucetSettings(file, market);
  };
  assert.throws(wrong('"5000000"', '"99999"'), /1 to 10000 times "amount", 100000; got 99999/);
  assert.throws(wrong('"5000000"', '"1000000001"'), /got 1000000001/);
  assert.throws(wrong('"signet"', '"ethereum"'), /no chain "ethereum"/);
  assert.throws(wrong('"token": null', '"token": "x"'), /x of "signet" is not in PARLEY_ASSETS/);
  const again = `"gifts": [{ "token": null, "amount": "1", "dailyCap": "1" }, `;
  assert.throws(wrong('"gifts": [', again), /the coin of "signet" is there twice/);
  assert.throws(wrong('"host"', '"hosts"'), /"hosts" is not known/);
});
