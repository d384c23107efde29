// The number of decimals is the chain's word, and never the market's.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ChainSource } from '@parley/sdk/chains.ts';
import { mustHaveDecimals } from './coins.ts';

const source = (family: string, decimals?: number) =>
  ({
    view: { family, chain: family },
    adapter: decimals === undefined ? {} : { decimals: async () => decimals },
  }) as unknown as ChainSource;
const signal = new AbortController().signal;

test('a coin and a token have the decimals of their chain, whatever a market says', async () => {
  for (const [family, decimals] of [
    ['bitcoin', 8],
    ['evm', 18],
    ['tron', 6],
    ['solana', 9],
  ] as const) {
    await mustHaveDecimals(source(family, 7), { token: null, decimals }, signal);
    await assert.rejects(
      mustHaveDecimals(source(family, 7), { token: null, decimals: decimals + 1 }, signal),
      new RegExp(`must be ${decimals}, as its chain says; the market says ${decimals + 1}$`),
    );
    await mustHaveDecimals(source(family, 7), { token: 'T', decimals: 7 }, signal);
    await assert.rejects(
      mustHaveDecimals(source(family, 7), { token: 'T', decimals: 6 }, signal),
      /decimals of T on .* must be 7, .* says 6$/,
    );
  }
  const none = mustHaveDecimals(source('bitcoin'), { token: 'T', decimals: 8 }, signal);
  await assert.rejects(none, /must be none, as its chain says/);
});
