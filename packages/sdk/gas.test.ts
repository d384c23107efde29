// The costs of a side of a swap in its chain's own coin.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ChainAdapter } from '@parley/chains/adapter.ts';
import { type GasSide, gasOf } from './gas.ts';

const never = new AbortController().signal;
const cost = (usual: bigint) => ({ usual, most: 10n * usual });

function on({ isBitcoin = false, deposit = null as bigint | null, authorization = false } = {}) {
  const adapter = {
    costs: async () => ({
      fund: cost(1n),
      claim: cost(2n),
      refund: cost(3n),
      settlesFromAmount: isBitcoin,
      deposit: deposit === null ? null : { locked: deposit, keptByClaim: 1n },
      leastAmount: 1n,
    }),
    coins: async () => 77n,
    held: async () => 499n,
    ways: {
      abilities: async (token: string) => {
        if (token === 'bad') throw new Error('it lends no state');
        return { permit: null, authorization: authorization ? {} : null };
      },
      signsByKey: async (account: string) => account !== 'with code',
    },
  } as unknown as ChainAdapter;
  return { adapter };
}

const side = (name: GasSide['side'], token: string | null): GasSide => ({
  side: name,
  asset: { token },
  amount: 500n,
  address: 'mine',
});

test('a giver needs fees, the amount where it is the coin itself, and a deposit', async () => {
  const rest = { has: 77n, claim: 0n, refund: 30n };
  assert.deepEqual(await gasOf(on(), side('gives', null), never), {
    ...rest,
    fund: 510n,
    holds: null,
    isSignable: false,
  });
  assert.deepEqual(
    await gasOf(on({ deposit: 9n, authorization: true }), side('gives', 'usd'), never),
    {
      ...rest,
      fund: 19n,
      holds: 499n,
      isSignable: true,
    },
  );
  const untried = await gasOf(on({ authorization: true }), side('gives', 'bad'), never);
  assert.equal(untried?.isSignable, false);
  const lent = { ...side('gives', 'usd'), address: 'with code' };
  assert.equal((await gasOf(on({ authorization: true }), lent, never))?.isSignable, false);
});

test('a receiver needs what a claim takes, and nothing where the amount pays it', async () => {
  const found = await gasOf(on({ deposit: 9n }), side('gets', null), never);
  assert.deepEqual(found, {
    has: 77n,
    fund: 0n,
    refund: 0n,
    claim: 20n,
    holds: null,
    isSignable: false,
  });
  assert.equal(await gasOf(on({ isBitcoin: true }), side('gets', null), never), null);
});
