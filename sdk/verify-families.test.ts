// Swaps with legs on TRON and Solana: what an honest market says is accepted, and nothing else.

import assert from 'node:assert/strict';
import test from 'node:test';
import { solanaDeployment, solanaEscrow } from '../chains/solana/plan.ts';
import { solanaAddressOfSeed } from '../chains/solana/proof.ts';
import { tronEscrow } from '../chains/tron/plan.ts';
import { tronDevPolicy } from '../chains/tron/policy.ts';
import { tronAddressOfKey } from '../chains/tron/proof.ts';
import type { EscrowTerms } from '../core/terms.ts';
import type { LegName, Party } from '../core/trade.ts';
import { solanaSource, tronSource } from './sources.ts';
import { byField, mustRefuseLies, now, secret, swapId } from './testing/honest.ts';
import { paperMarket } from './testing/paper-market.ts';
import type { PinnedAsset } from './trade.ts';
import type { Swap } from './types.ts';
import { verifyAsset, verifySwap } from './verify.ts';

const someone = (byte: number) => new Uint8Array(32).fill(byte);
const tronAt = (byte: number) => tronAddressOfKey(someone(byte));
const solanaAt = (byte: number) => solanaAddressOfSeed(someone(byte));

const deployment = { chainId: 7, contract: tronAt(9) };
// Nobody is asked: what is compared follows from the terms alone.
const nowhere = 'http://127.0.0.1:1';
const tron = tronSource({
  chain: 'tron-dev',
  deployment: { ...deployment, creation: '00'.repeat(32) },
  sources: [{ url: nowhere }],
  policy: tronDevPolicy,
});
const solana = solanaSource({ chain: 'solana-dev', rpcUrls: [nowhere], now: () => now });
const views = new Map([tron, solana].map(({ view }) => [view.chain, view]));

const trcDollar: PinnedAsset = {
  id: '0193f0a0-0000-7000-8000-000000000c01',
  chain: 'tron-dev',
  token: tronAt(3),
  decimals: 6,
  highValueFrom: null,
};
const splDollar: PinnedAsset = {
  ...trcDollar,
  id: '0193f0a0-0000-7000-8000-000000000c02',
  chain: 'solana-dev',
  token: solanaAt(3),
};

const homeOf = (byte: number) => ({
  a: { address: tronAt(byte), pubkey: null },
  b: { address: solanaAt(byte), pubkey: null },
});
const market = paperMarket({
  id: swapId,
  secret,
  agreedAt: now - 2,
  assets: { a: trcDollar, b: splDollar },
  amounts: { a: 600_000_000n, b: 500_000_000n },
  homes: { maker: homeOf(1), taker: homeOf(2) },
  sources: { a: tron, b: solana },
});

const honest = (party: Party): Promise<Swap> => market.client(party).swap(swapId);
const verify = (swap: Swap, party: Party) =>
  verifySwap(swap, market.trade(party), views, { swapId, now });

for (const party of ['maker', 'taker'] as const) {
  test(`an honest swap of TRON and Solana is accepted by the ${party}`, async () => {
    const { legs } = verify(await honest(party), party);
    for (const leg of ['a', 'b'] as const) {
      assert.equal(legs[leg].escrow?.address, market.watched(leg).address);
      assert.deepEqual(legs[leg].escrow?.terms, market.watched(leg).terms);
    }
  });

  test(`a market that alters any one field of it is refused by the ${party}, by name`, async () => {
    mustRefuseLies(await honest(party), (lie) => verify(lie, party), ['a', 'b']);
  });
}

/** The terms of each leg, altered in one point: each has an escrow, and it is not this one. */
function otherEscrows(leg: LegName): [string, string][] {
  const { terms } = market.watched(leg);
  const stranger = leg === 'a' ? tronAt(5) : solanaAt(5);
  const others: Record<string, Partial<EscrowTerms>> = {
    hashlock: { hashlock: 'ab'.repeat(32) },
    payout: { payout: { address: stranger, pubkey: null } },
    refund: { refund: { address: stranger, pubkey: null } },
    token: { token: stranger },
    'native coin': { token: null },
    amount: { amount: terms.amount + 1n },
    timelock: { timelock: terms.timelock + 1 },
    ...(terms.lane && {
      fundBefore: { fundBefore: (terms.fundBefore ?? 0) + 1 },
      lane: { lane: { ...terms.lane, counter: 2 } },
    }),
  };
  const planned = Object.entries(others).map(([name, other]): [string, string] => {
    const { adapter } = leg === 'a' ? tron : solana;
    return [name, adapter.plan({ ...terms, ...other }).address];
  });
  const elsewhere =
    leg === 'a'
      ? [
          ['contract', tronEscrow(terms, { ...deployment, contract: stranger }).address],
          ['chain id', tronEscrow(terms, { ...deployment, chainId: 8 }).address],
        ]
      : [['program', solanaEscrow(terms, { ...solanaDeployment, program: stranger }).address]];
  return [...planned, ...(elsewhere as [string, string][])];
}

test('an escrow of another program, contract, mint, amount, party or timelock is refused', async () => {
  for (const leg of ['a', 'b'] as const) {
    for (const [what, escrow] of otherEscrows(leg)) {
      for (const party of ['maker', 'taker'] as const) {
        const swap = structuredClone(await honest(party));
        swap.legs[leg].escrow = escrow;
        assert.throws(
          () => verify(swap, party),
          byField(`legs.${leg}.escrow`),
          `${what} of leg ${leg}`,
        );
      }
    }
  }
});

test('own destinations are compared even where the escrow is that of the false ones', async () => {
  const lies = [
    ['maker', 'a', 'refund'],
    ['maker', 'b', 'payout'],
    ['taker', 'b', 'refund'],
    ['taker', 'a', 'payout'],
  ] as const;
  for (const [party, leg, kind] of lies) {
    const swap = structuredClone(await honest(party));
    const address = leg === 'a' ? tronAt(5) : solanaAt(5);
    const terms = { ...market.watched(leg).terms, [kind]: { address, pubkey: null } };
    swap.legs[leg][`${kind}Address`] = address;
    swap.legs[leg].escrow = (leg === 'a' ? tron : solana).adapter.plan(terms).address;
    assert.throws(
      () => verify(swap, party),
      byField(`legs.${leg}.${kind}Address`),
      `${kind} of leg ${leg}`,
    );
  }
});

test('a mint or token contract of the market’s own choice is refused', () => {
  for (const pinned of [trcDollar, splDollar]) {
    const said = { ...pinned, address: pinned.token };
    verifyAsset(said as never, pinned);
    const address = pinned === trcDollar ? tronAt(6) : solanaAt(6);
    for (const [field, lie] of [
      ['asset.address', { ...said, address }],
      ['asset.address', { ...said, address: null }],
      ['asset.decimals', { ...said, decimals: 9 }],
      ['asset.chain', { ...said, chain: 'evm-dev' }],
    ] as const) {
      assert.throws(() => verifyAsset(lie as never, pinned), byField(field));
    }
  }
});
