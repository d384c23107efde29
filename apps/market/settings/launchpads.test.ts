// PARLEY_LAUNCHPADS: everything wrong is named by entry and field, nothing throws.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseLaunchpads } from './launchpads.ts';

const chains = [
  { chain: 'btc', family: 'bitcoin' as const },
  { chain: 'base', family: 'evm' as const },
  { chain: 'tron', family: 'tron' as const },
  { chain: 'sol', family: 'solana' as const },
];
const factory = '0x52908400098527886E0F7030069857D2E4169EE7';
const rocket = {
  name: 'rocket',
  chain: 'base',
  factory,
  event: 'TokenCreated(address indexed token, address creator)',
  token: 'token',
};
const pump = {
  name: 'pump.fun',
  chain: 'sol',
  program: '6EF8rrecthR5Dkzon8Nwu78hRvfCKubJ14M5uBEwF6P',
  discriminator: '181ec828051c0777',
  mintAccount: 0,
  account: 'TSLvdd1pWpHVjahSpsvCXUbgwsL3JAcvokwaKt1eokM',
};
const sun = {
  ...rocket,
  name: 'sun',
  chain: 'tron',
  factory: 'TTfvyrAz86hbZk5iDpKD78pqLGgi8C7AAw',
  mostAnHour: 5,
};

test('launchpads as an operator writes them are taken, addresses canonical', () => {
  const { account: _, ...whole } = pump;
  const given = [
    { ...rocket, factory: factory.toLowerCase() },
    pump,
    { ...whole, name: 'whole' },
    sun,
  ];
  const { values, wrong } = parseLaunchpads(given, chains);
  assert.deepEqual(wrong, []);
  const { event, token } = rocket;
  const { program, discriminator, mintAccount, account } = pump;
  const instruction = { program, discriminator, mintAccount };
  assert.deepEqual(values, [
    { name: 'rocket', chain: 'base', source: { factory, event, token }, mostAnHour: 11 },
    { name: 'pump.fun', chain: 'sol', source: { ...instruction, account }, mostAnHour: 11 },
    { name: 'whole', chain: 'sol', source: { ...instruction, account: program }, mostAnHour: 11 },
    {
      name: 'sun',
      chain: 'tron',
      source: { factory: sun.factory, event, token },
      mostAnHour: 5,
    },
  ]);
});
