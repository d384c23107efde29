// An asset is taken by chain and contract, never by symbol, and with the customer's own decimals.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { VerificationError } from './errors.ts';
import { pin } from './pin.ts';
import type { Asset } from './types.ts';

const asset = (id: string, address: string | null, decimals = 6): Asset => ({
  id,
  chain: 'base',
  symbol: 'USDC',
  address,
  decimals,
  enabled: true,
  verified: true,
  source: 'curated',
});
const pages: readonly (readonly Asset[])[] = [
  [asset('look-alike', '0xbad'), asset('dollar', '0xa11', 6)],
  [asset('coin', null, 18)],
];
const client = {
  assets: async ({ cursor = '0' }: { cursor?: string | undefined } = {}) => {
    const next = Number(cursor) + 1;
    const nextCursor = next < pages.length ? String(next) : null;
    return { assets: [...(pages[Number(cursor)] ?? [])], nextCursor };
  },
};

test('a token is pinned by its contract, and a coin on a later page is found', async () => {
  const dollar = await pin(client, { chain: 'base', token: '0xa11', decimals: 6 });
  const wanted = { id: 'dollar', chain: 'base', token: '0xa11', decimals: 6, highValueFrom: null };
  assert.deepEqual(dollar, wanted);
  const coin = await pin(client, { chain: 'base', token: null, decimals: 18, highValueFrom: 9n });
  assert.deepEqual([coin.id, coin.highValueFrom], ['coin', 9n]);
});

test('other decimals than the own ones, and an asset that is not listed, are refused', async () => {
  await assert.rejects(
    pin(client, { chain: 'base', token: '0xa11', decimals: 18 }),
    (error) => error instanceof VerificationError && /decimals must be 18.*6/.test(error.message),
  );
  await assert.rejects(
    pin(client, { chain: 'base', token: '0xdead', decimals: 6 }),
    /no token 0xdead of chain "base"/,
  );
  await assert.rejects(pin(client, { chain: 'tron', token: null, decimals: 6 }), /native coin/);
});
