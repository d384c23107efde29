// Shortages of a wallet, by its own node: which of them stop an acceptance.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { OwnAsset } from './assets.ts';
import { shortages } from './deal.ts';
import { mustHold } from './orders/accept.ts';
import type { Session } from './session.ts';

const usd: OwnAsset = { name: 'evm:USD', chain: 'evm', token: '0x1', decimals: 0 };
const eth: OwnAsset = { name: 'evm', chain: 'evm', token: null, decimals: 18 };
const trx: OwnAsset = { name: 'tron', chain: 'tron', token: null, decimals: 6 };
const wallets = {
  gives: { family: 'evm', address: 'own' },
  gets: { family: 'tron', address: 'other' },
} as const;

/** Every step costs 1. */
function sessionWith(coins: Readonly<Record<string, bigint>>, held: bigint): Session {
  const one = { most: 1n };
  const costs = { fund: one, claim: one, refund: one, settlesFromAmount: false, deposit: null };
  const source = async (chain: string) => ({
    adapter: {
      costs: async () => costs,
      coins: async () => coins[chain] ?? 0n,
      held: async () => held,
    },
  });
  return { source, chain: (family: string) => ({ family }) } as never;
}

test('a wallet that lacks what it gives, or has promised it, stops an acceptance', async () => {
  const rich = { evm: 1_000n, tron: 1n };
  for (const [coins, held, gives, promised, wanted] of [
    [rich, 10n, usd, 0n, []],
    [rich, 9n, usd, 0n, [true]],
    [rich, 12n, usd, 2n, []],
    [rich, 11n, usd, 2n, [true]],
    [{ ...rich, evm: 1n }, 10n, usd, 0n, [true]],
    [{ ...rich, evm: 12n }, 0n, eth, 0n, []],
    [{ ...rich, evm: 11n }, 0n, eth, 0n, [true]],
    [{ ...rich, evm: 13n }, 0n, eth, 2n, [true]],
    // Others may send a claim.
    [{ ...rich, tron: 0n }, 10n, usd, 0n, [false]],
  ] as const) {
    const sides = { gives: { own: gives, amount: 10n }, gets: { own: trx, amount: 5n } };
    const found = await shortages(sessionWith(coins, held), sides, wallets, promised);
    assert.deepEqual(
      found.map(({ stops }) => stops),
      wanted,
      JSON.stringify([gives.name, String(held), String(promised)]),
    );
  }
});

test('makers are not asked for a sale of what is not there', async () => {
  const order = { side: 'sell', base: usd, baseAmount: 10n, quote: trx } as never;
  const own = { wallet: async (chain: string) => wallets[chain === 'evm' ? 'gives' : 'gets'] };
  const holding = (held: bigint) => ({
    session: sessionWith({ evm: 9n, tron: 9n }, held),
    own: own as never,
    promised: () => 3n,
  });
  await mustHold(holding(13n), order);
  await assert.rejects(mustHold(holding(12n), order), { code: 'lacking', class: 'needs_you' });
});
