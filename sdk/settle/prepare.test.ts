// What a market may still change of a swap that was verified: destinations of the other side, of
// what is not yet funded, and nothing else.

import assert from 'node:assert/strict';
import test from 'node:test';
import { hexToBytes } from '@noble/hashes/utils.js';
import {
  addressesOfPubkey,
  signKeySignature,
  verifyKeySignature,
} from '../../chains/bitcoin/keys.ts';
import { type EscrowFacts, nothingSeen } from '../../core/facts.ts';
import { hashlockOf } from '../../core/hashlock.ts';
import type { LegName } from '../../core/trade.ts';
import type { ParleyClient } from '../client.ts';
import { ParleyApiError, VerificationError } from '../errors.ts';
import { memoryStore } from '../stores/memory.ts';
import type { Store } from '../stores/store.ts';
import {
  bitcoinView,
  honestSwap,
  keptRecord,
  keys,
  lastOf,
  now,
  shownLeg,
  swapId,
  termsOf,
  tradeOf,
  views,
} from '../testing/honest.ts';
import type { Swap } from '../types.ts';
import { clockToleranceSeconds, verifySwap } from '../verify.ts';
import type { BitcoinWallet } from '../wallets/wallet.ts';
import { type ChainSource, contextOf, type Progress, type SettleInput } from './context.ts';
import { prepare, takeMoves } from './prepare.ts';
import type { Seen } from './record.ts';

const deep: EscrowFacts = {
  ...nothingSeen,
  funded: { txid: 'ab'.repeat(32), confirmations: 99, deep: true },
  balance: 1n,
  empty: false,
};
const later = now + 600;

/** The maker (it gives `a` second) asks again `later`; the taker's leg `b` may be funded. */
async function asked(swap: Swap | Error, more: { funded?: LegName[]; sent?: boolean } = {}) {
  const store = memoryStore();
  const funding = more.sent === true ? { txid: 'cd'.repeat(32), raw: '00' } : null;
  const record = { ...keptRecord('maker'), funding };
  const told: Progress[] = [];
  const client = {
    swap: async () => {
      if (swap instanceof Error) throw swap;
      return swap;
    },
  } as unknown as ParleyClient;
  const onProgress = (each: Progress) => void told.push(each);
  const context = contextOf({ ...inputOf(client, store), now: () => later, onProgress });
  const facts = (leg: LegName) => ({ facts: more.funded?.includes(leg) ? deep : nothingSeen });
  const seen = { state: { legs: { a: facts('a'), b: facts('b') } } } as unknown as Seen;
  const next = async () => {
    await context.store.putSwap(record);
    const hasMoved = await takeMoves(context, seen);
    return { hasMoved, after: context.record };
  };
  return { record, told, store, next: next() };
}

function inputOf(client: ParleyClient, store: Store): SettleInput {
  const sources = new Map(
    [...views].map(([chain, view]) => [chain, { view } as unknown as ChainSource] as const),
  );
  return { swapId, client, sources, wallets: new Map(), store, trade: tradeOf('maker') };
}

/** The honest swap with the legs of other terms. */
function withTerms(swap: Swap, alter: Partial<ReturnType<typeof termsOf>>, legs: LegName[]): Swap {
  const changed = { ...swap.legs };
  for (const leg of legs) {
    const terms = termsOf(leg, swap.legs[leg].timelock, lastOf(swap.deadlines, leg));
    changed[leg] = shownLeg(leg, { ...terms, ...alter });
  }
  return { ...swap, legs: changed };
}

test('a corrected payout of the other side moves an escrow that nobody has funded', async () => {
  const payout = { address: '0x90F79bf6EB2c4f870365E785982E1f101E93b906', pubkey: null };
  const swap = withTerms(honestSwap('maker'), { payout }, ['a']);
  const { record, next, store } = await asked(swap, { funded: ['b'] });
  const { after } = await next;
  assert.equal(after.swap.legs.a.escrow?.address, swap.legs.a.escrow);
  assert.deepEqual(after.swap.legs.a.escrow?.terms.payout, payout);
  assert.deepEqual(after.swap.legs.b, record.swap.legs.b);
  assert.deepEqual(await store.getSwap(swapId), after);
  for (const more of [{ funded: ['a' as const] }, { sent: true }]) {
    const fixed = await asked(swap, more);
    assert.deepEqual(await fixed.next, { hasMoved: false, after: fixed.record });
  }
});

test('a market that tells another time of the agreement later moves no timelock', async () => {
  // Consistent in itself, and within the clock tolerance: the short leg would outlast the long one.
  const lie = honestSwap('maker', later - 10);
  assert.doesNotThrow(() => verifySwap(lie, tradeOf('maker'), views, { swapId, now: later }));
  for (const funded of [[], ['b']] as LegName[][]) {
    const { next, store } = await asked(lie, { funded });
    await assert.rejects(
      next,
      (error) => error instanceof VerificationError && error.field === 'deadlines.initiatorFundBy',
    );
    assert.deepEqual((await store.getSwap(swapId))?.swap, keptRecord('maker').swap);
  }
});

test('a market that tells another hashlock later gets no escrow of it', async () => {
  const hashlock = hashlockOf('77'.repeat(32));
  const honest = honestSwap('maker');
  const lie = { ...withTerms(honest, { hashlock }, ['a', 'b']), hashlock };
  assert.doesNotThrow(() => verifySwap(lie, tradeOf('maker'), views, { swapId, now: later }));
  const { next } = await asked(lie, { funded: ['b'] });
  await assert.rejects(
    next,
    (error) => error instanceof VerificationError && error.field === 'hashlock',
  );
});

test('with the own leg funded a market that lies or refuses does not stop the watch', async () => {
  const refused = new ParleyApiError({ status: 401, code: 'key_invalid', message: 'replaced' });
  for (const [answer, step] of [
    [honestSwap('maker', later - 10), 'market_lied'],
    [refused, 'market_refused'],
  ] as const) {
    const { next, record, told } = await asked(answer, { sent: true });
    assert.deepEqual(await next, { hasMoved: false, after: record });
    assert.deepEqual(
      told.map((each) => each.step),
      [step],
    );
  }
  await assert.rejects((await asked(refused)).next, refused);
});

test('a swap with the hashlock or the thread of another one is not begun', async () => {
  const client = { swap: async () => honestSwap('maker') } as unknown as ParleyClient;
  const other = keptRecord('maker');
  const id = '0193f0a0-0000-7000-8000-000000000002';
  const [hashlock, threadId] = [hashlockOf('77'.repeat(32)), other.trade.rfqId];
  const begin = (store: Store) =>
    prepare(contextOf({ ...inputOf(client, store), now: () => now })).then(() =>
      store.getSwap(swapId),
    );
  for (const { known, refused } of [
    { known: { ...other, swap: { ...other.swap, id, hashlock } }, refused: true },
    {
      known: { ...other, trade: { ...other.trade, threadId }, swap: { ...other.swap, id } },
      refused: true,
    },
    {
      known: {
        ...other,
        trade: { ...other.trade, threadId },
        swap: { ...other.swap, id, hashlock },
      },
      refused: false,
    },
  ]) {
    const store = memoryStore();
    await store.putSwap(known);
    if (!refused) {
      assert.deepEqual((await begin(store))?.swap, other.swap);
      continue;
    }
    await assert.rejects(begin(store), { code: 'hashlock_used' });
    assert.equal(await store.getSwap(swapId), null);
  }
});

/** What the market is told of the taker's Bitcoin key when it has none yet. */
async function keyTold(wallet: Partial<BitcoinWallet>, kind: 'p2tr' | 'p2wpkh') {
  const trade = tradeOf('taker');
  const pubkey = trade.refundTo.pubkey ?? '';
  const address = addressesOfPubkey(pubkey, bitcoinView.network)[kind];
  const none = { refundAddress: null, refundPubkey: null, escrow: null, redeemScript: null };
  const honest = honestSwap('taker');
  const legs = { ...honest.legs, b: { ...honest.legs.b, ...none } };
  const told: unknown[] = [];
  const client = {
    productName: 'Acme',
    swap: async () => ({ ...honest, legs }),
    setAddress: async (_: string, input: unknown) => {
      told.push(input);
      const b = { ...honest.legs.b, refundAddress: address };
      return { ...honest, legs: { ...honest.legs, b } };
    },
  } as unknown as ParleyClient;
  await prepare(
    contextOf({
      ...inputOf(client, memoryStore()),
      wallets: new Map([[bitcoinView.chain, { family: 'bitcoin', ...wallet } as BitcoinWallet]]),
      trade: { ...trade, refundTo: { address, pubkey } },
      now: () => now,
    }),
  );
  return { told, about: { productName: 'Acme', pubkey, swapId } };
}

test('the key of a Taproot address is named with its own signature, no other is', async () => {
  const key = hexToBytes(keys.taker);
  const texts: string[] = [];
  const signKey = async (text: string) => {
    texts.push(text);
    return signKeySignature({ productName: 'Acme', swapId }, key);
  };
  const { told, about } = await keyTold({ signKey }, 'p2tr');
  const [said] = told as { chain: string; address: string; keySignature: string }[];
  assert.ok(said);
  assert.deepEqual([said.chain, said.address], [bitcoinView.chain, about.pubkey]);
  verifyKeySignature(about, said.keySignature);
  assert.deepEqual(texts, [`Acme - use this key: ${about.pubkey} for swap ${swapId}`]);
  const plain = await keyTold({ signKey }, 'p2wpkh');
  assert.deepEqual(plain.told, [{ chain: bitcoinView.chain, address: about.pubkey }]);
  assert.equal(texts.length, 1);
  await assert.rejects(keyTold({}, 'p2tr'), { code: 'no_wallet' });
});

/** The taker's run that begins at this time: what it told the market, and how it ended. */
async function begun(at: number, store: Store, shown: Swap, signal?: AbortSignal) {
  const told: unknown[] = [];
  const client = {
    swap: async () => shown,
    setAddress: async (_: string, input: unknown) => {
      told.push(input);
      return honestSwap('taker');
    },
  } as unknown as ParleyClient;
  const input = { ...inputOf(client, store), trade: tradeOf('taker'), now: () => at };
  const context = contextOf(signal === undefined ? input : { ...input, signal });
  const record = await prepare(context).then(
    () => store.getSwap(swapId),
    (error: { code?: string; field?: string }) => error,
  );
  return { told, record: record as { swap?: object; code?: string; field?: string } | null };
}

function withoutAddress(party: 'taker' | 'maker'): Swap {
  const honest = honestSwap('taker');
  const kinds = { taker: 'refund', maker: 'payout' } as const;
  const none = { [`${kinds[party]}Address`]: null, [`${kinds[party]}Pubkey`]: null };
  const b = { ...honest.legs.b, ...none, escrow: null, redeemScript: null };
  return { ...honest, legs: { ...honest.legs, b } };
}

test('a swap first seen after the acceptance lapsed is told nothing, whatever its date', async () => {
  const last = tradeOf('taker').acceptedAt + 600 + clockToleranceSeconds;
  const seen = (at: number) => begun(at, memoryStore(), withoutAddress('taker'));
  const [inTime, late] = [await seen(last), await seen(last + 1)];
  assert.ok(inTime.record?.swap);
  assert.equal(inTime.told.length, 1);
  assert.deepEqual([late.record?.code, late.told], ['acceptance_lapsed', []]);
  // Nor is one that was agreed too late, before anything is told.
  const dated = { ...withoutAddress('taker'), deadlines: honestSwap('taker', last + 1).deadlines };
  const after = await begun(last + 1, memoryStore(), dated);
  assert.deepEqual([after.record?.field, after.told], ['deadlines.refundAt.a', []]);
});

test('a swap seen in time is gone on with after a restart, however late', async () => {
  const store = memoryStore();
  const crash = AbortSignal.timeout(50);
  await begun(now, store, withoutAddress('maker'), crash);
  assert.equal(await store.getSwap(swapId), null);
  const { record } = await begun(now + 7_200, store, honestSwap('taker'));
  assert.ok(record?.swap);
  // Not if what was seen is another acceptance's.
  const other = memoryStore();
  await other.putTrade({ ...tradeOf('taker'), acceptedAt: now - 900, swapSeenAt: now - 800 });
  const refused = await begun(now + 7_200, other, honestSwap('taker'));
  assert.equal(refused.record?.code, 'acceptance_lapsed');
});

test('a trade kept without its first sight lapses, unless its owner knows when that was', async () => {
  const [former, store] = [tradeOf('taker'), memoryStore()];
  await store.putTrade(former);
  const late = now + 7_200;
  const refused = await begun(late, store, withoutAddress('taker'));
  assert.deepEqual([refused.record?.code, refused.told], ['acceptance_lapsed', []]);
  await store.putTrade({ ...former, swapSeenAt: now });
  // That dates no agreement: one of a week later is refused.
  const week = former.acceptedAt + 168 * 3_600;
  const dated = { ...honestSwap('taker', week), legs: honestSwap('taker').legs };
  const after = await begun(week, store, dated);
  assert.deepEqual([after.record?.field, after.told], ['deadlines.refundAt.a', []]);
  assert.ok((await begun(late, store, honestSwap('taker'))).record?.swap);
});
