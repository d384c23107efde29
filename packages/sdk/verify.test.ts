// An honest market's swap is accepted, on every family, and no altered field is.

import assert from 'node:assert/strict';
import test from 'node:test';
import { solanaAddressOfSeed } from '@parley/chains/solana/proof.ts';
import { tronDevPolicy } from '@parley/chains/tron/policy.ts';
import { tronAddressOfKey } from '@parley/chains/tron/proof.ts';
import { hashlockOf } from '@parley/core/hashlock.ts';
import type { LegName, Party } from '@parley/core/trade.ts';
import { VerificationError } from './errors.ts';
import { solanaSource, tronSource } from './sources.ts';
import {
  alterations,
  bitcoinOf,
  byField,
  honestSwap,
  isHarmless,
  lastOf,
  mustRefuseLies,
  now,
  pinned,
  pinnedTo,
  secret,
  shownLeg,
  swapId,
  termsOf,
  tradeOf,
} from './testing/honest.ts';
import { someone } from './testing/materials.ts';
import { paperMarket } from './testing/paper-market.ts';
import type { PinnedAsset } from './trade.ts';
import type { Swap } from './types.ts';
import { clockToleranceSeconds, verifyAsset, verifySwap } from './verify.ts';

const at = { swapId, now };
const tronAt = (byte: number) => tronAddressOfKey(someone(byte));
const solanaAt = (byte: number) => solanaAddressOfSeed(someone(byte));

// No node is asked: the comparison follows from the terms alone.
const nowhere = 'http://127.0.0.1:1';
const sources = {
  a: tronSource({
    chain: 'tron-dev',
    deployment: { chainId: 7, contract: tronAt(9), creation: '00'.repeat(32) },
    sources: [{ url: nowhere }],
    policy: tronDevPolicy,
  }),
  b: solanaSource({ chain: 'solana-dev', rpcUrls: [nowhere], now: () => now }),
};
const dollar = { decimals: 6, highValueFrom: null };
const id = '0193f0a0-0000-7000-8000-000000000c0';
const trc: PinnedAsset = { ...dollar, id: `${id}1`, chain: 'tron-dev', token: tronAt(3) };
const spl: PinnedAsset = { ...dollar, id: `${id}2`, chain: 'solana-dev', token: solanaAt(3) };
const homeOf = (byte: number) => ({
  a: { address: tronAt(byte), pubkey: null },
  b: { address: solanaAt(byte), pubkey: null },
});
const market = paperMarket({
  id: swapId,
  secret,
  agreedAt: now - 2,
  sources,
  assets: { a: trc, b: spl },
  amounts: { a: 600_000_000n, b: 500_000_000n },
  homes: { maker: homeOf(1), taker: homeOf(2) },
});
const own = pinnedTo(sources.a.view, sources.b.view);

type Kind = {
  readonly keyless: readonly LegName[];
  shown(party: Party): Swap | Promise<Swap>;
  verify(swap: Swap, party: Party): ReturnType<typeof verifySwap>;
};
const kinds: Readonly<Record<string, Kind>> = {
  'EVM and Bitcoin': {
    keyless: ['a'],
    shown: (party) => honestSwap(party),
    verify: (swap, party) => verifySwap(swap, tradeOf(party), pinned, at),
  },
  'TRON and Solana': {
    keyless: ['a', 'b'],
    shown: (party) => market.client(party).swap(swapId),
    verify: (swap, party) => verifySwap(swap, market.trade(party), own, at),
  },
};
for (const [on, { keyless, shown, verify }] of Object.entries(kinds)) {
  for (const party of ['maker', 'taker'] as const) {
    test(`a swap of ${on} is accepted by the ${party} as it is, and altered in no field`, async () => {
      const honest = await shown(party);
      const verified = verify(honest, party);
      assert.equal(verified.role, party === 'taker' ? 'initiator' : 'counterparty');
      assert.deepEqual([verified.hashlock, verified.agreedAt], [hashlockOf(secret), now - 2]);
      for (const leg of ['a', 'b'] as const) {
        assert.equal(verified.legs[leg].escrow?.address, honest.legs[leg].escrow);
      }
      mustRefuseLies(honest, (lie) => verify(lie, party), keyless);
      for (const { path, how, value } of alterations(honest)) {
        if (path !== '' && isHarmless(path, how, keyless)) verify(value as Swap, party);
      }
    });
  }
}

test('own destinations are compared even where all else follows from the false ones', async () => {
  const swap = structuredClone(honestSwap('maker'));
  const stranger = bitcoinOf('taker');
  swap.legs.b.payoutPubkey = stranger.pubkey;
  swap.legs.b.payoutAddress = stranger.address;
  assert.equal(fieldOf(swap, tradeOf('maker')), 'legs.b.payoutPubkey');
  for (const [party, leg, kind] of [
    ['maker', 'a', 'refund'],
    ['taker', 'b', 'refund'],
    ['taker', 'a', 'payout'],
  ] as const) {
    const lie = structuredClone(await market.client(party).swap(swapId));
    const address = leg === 'a' ? tronAt(5) : solanaAt(5);
    const terms = { ...market.watched(leg).terms, [kind]: { address, pubkey: null } };
    lie.legs[leg][`${kind}Address`] = address;
    lie.legs[leg].escrow = sources[leg].adapter.plan(terms).address;
    const verify = () => verifySwap(lie, market.trade(party), own, at);
    assert.throws(verify, byField(`legs.${leg}.${kind}Address`));
  }
});

test('a mint or token contract of the market’s own choice is refused', () => {
  for (const [pinned, other] of [
    [trc, tronAt(6)],
    [spl, solanaAt(6)],
  ] as const) {
    const said = { ...pinned, address: pinned.token };
    verifyAsset(said as never, pinned);
    for (const [field, lie] of [
      ['address', other],
      ['address', null],
      ['decimals', 9],
      ['chain', 'evm-dev'],
    ] as const) {
      const lying = { ...said, [field]: lie } as never;
      assert.throws(() => verifyAsset(lying, pinned), byField(`asset.${field}`));
    }
  }
});

/** Which field it is refused by; null = it is not. */
const fieldOf = (swap: Swap, trade = tradeOf('taker'), seenAt = now) => {
  try {
    verifySwap(swap, trade, pinned, { swapId, now: seenAt });
    return null;
  } catch (error) {
    return error instanceof VerificationError ? error.field : String(error);
  }
};

test('an agreement dated before the acceptance, or after now, is refused at the tolerance', () => {
  const { acceptedAt } = tradeOf('taker');
  const first = acceptedAt - clockToleranceSeconds;
  const last = now + clockToleranceSeconds;
  const dated = (agreedAt: number) => fieldOf(honestSwap('taker', agreedAt));
  assert.deepEqual([dated(first), dated(last)], [null, null]);
  for (const far of [first - 1, last + 1]) assert.equal(dated(far), 'deadlines.refundAt.a');
});

test('an agreement after the acceptance lapsed is refused, 168 hours later too', () => {
  for (const acceptTtlSeconds of [undefined, 60, 3_600]) {
    const own = acceptTtlSeconds === undefined ? {} : { acceptTtlSeconds };
    const trade = { ...tradeOf('maker'), ...own };
    const last = trade.acceptedAt + (acceptTtlSeconds ?? 600) + clockToleranceSeconds;
    const dated = (at: number) => fieldOf(honestSwap('maker', at), trade, at + 7_200);
    assert.equal(dated(last), null);
    assert.equal(dated(last + 1), 'deadlines.refundAt.a');
    assert.equal(dated(trade.acceptedAt + 168 * 3_600), 'deadlines.refundAt.a');
  }
});

test('the initiator is bound by no hashlock but its own, however well all else follows', () => {
  const hashlock = hashlockOf('77'.repeat(32));
  const lie = (party: Party) => {
    const swap = honestSwap(party);
    const leg = (name: LegName) => {
      const terms = termsOf(name, swap.legs[name].timelock, lastOf(swap.deadlines, name));
      return shownLeg(name, { ...terms, hashlock });
    };
    return { ...swap, hashlock, legs: { a: leg('a'), b: leg('b') } };
  };
  for (const [party, own, field] of [
    ['taker', tradeOf('taker').hashlock, 'hashlock'],
    ['taker', null, 'hashlock'],
    // The other side learns it from the swap, if it named none.
    ['maker', null, null],
    ['maker', hashlockOf(secret), 'hashlock'],
  ] as const) {
    assert.equal(fieldOf(lie(party), { ...tradeOf(party), hashlock: own }), field);
  }
});

test('an amount of high value wants its depth and its deadlines, on either leg', () => {
  const at = (high: readonly LegName[]) => {
    const { base, quote, ...trade } = tradeOf('taker');
    const pin = (asset: PinnedAsset, leg: LegName, amount: bigint) => ({
      ...asset,
      highValueFrom: high.includes(leg) ? amount : amount + 1n,
    });
    return {
      ...trade,
      base: pin(base, 'b', trade.baseAmount),
      quote: pin(quote, 'a', trade.quoteAmount),
    };
  };
  const all: LegName[][] = [[], ['a'], ['b'], ['a', 'b']];
  for (const high of all) {
    for (const shown of all) {
      const field = fieldOf(honestSwap('taker', now - 2, shown), at(high));
      if (high === shown) assert.equal(field, null);
      else assert.match(field ?? '', /^deadlines\.|requiredConfirmations$/, `${high} ${shown}`);
    }
  }
});
