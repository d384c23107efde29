import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import { hashlockOf } from '@parley/core/hashlock.ts';
import type { Rules, RulesDifference } from '@parley/core/rules.ts';
import { type Agreeing, accept, examine, keepToFund } from './agree.ts';
import type { ParleyClient } from './client.ts';
import { RulesError, VerificationError } from './errors.ts';
import { isoTime } from './people.ts';
import { ownRules } from './rules.ts';
import { fileStore } from './stores/file.ts';
import { memoryStore } from './stores/memory.ts';
import { mustBeOnly, type Store } from './stores/store.ts';
import {
  bitcoinOf,
  bitcoinView,
  byField,
  evmOf,
  evmView,
  honestSwap,
  keptRecord,
  now,
  pinned,
  secret,
  swapId,
  tradeOf,
} from './testing/honest.ts';
import { standsUntil, type VerifiedLeg } from './trade.ts';
import type { LegPreview, Swap, Thread } from './types.ts';
import { clockToleranceSeconds, verifySwap } from './verify.ts';

const trade = tradeOf('taker');
const stands = { ...trade, acceptTtlSeconds: 600 };
const { base, quote } = trade;

function thread(alter: Partial<Thread> = {}): Thread {
  const { rfqId, threadId: id, makerId, takerId } = trade;
  const quoteAmount = trade.quoteAmount.toString();
  const known = { id, rfqId, makerId, takerId, quoteAmount, initiator: 'taker', swapId: null };
  return { ...known, legs, rules, ...alter } as Thread;
}

/** The market's view of both legs, as worked out here: EVM is short, Bitcoin long. */
const rules = ownRules({ a: { view: evmView }, b: { view: bitcoinView } });
const { agreedAt, deadlines, legs: agreed } = keptRecord('taker').swap;
const shownLeg = ({ leg, chain, assetId, amount, long }: VerifiedLeg): LegPreview => {
  const timelockSeconds = deadlines.refundAt[leg] - agreedAt;
  return { chain, assetId, amount: amount.toString(), long, timelockSeconds };
};
const legs = { a: shownLeg(agreed.a), b: shownLeg(agreed.b) };

type Words = { quoteAmount: string; hashlock?: string; rules?: Rules };
type Of = {
  readonly store?: Store;
  /** Collects what is said. */
  readonly said?: Words[];
  readonly shown?: Partial<Thread>;
  readonly at?: number;
  /** The price's end, as the customer saw it. */
  readonly ends?: number | null;
  /** The market's answer; else the honest swap once something was said before. */
  readonly swap?: Swap | null;
};

function agreeing(party: 'maker' | 'taker', of: Of = {}): Agreeing {
  const { store = memoryStore(), said = [], at = now - 5, swap } = of;
  const shown = thread(of.shown);
  const client = {
    thread: async () => ({ [`${party}Accepted`]: said.length > 0, ...shown }),
    accept: async (_: string, words: Words) => {
      said.push(words);
      const { hashlock = hashlockOf(secret) } = words;
      const kept = words.hashlock === undefined || (await store.getSecret(hashlock)) !== null;
      assert.ok(kept, 'told before it was kept');
      const own = said.length > 1 ? { ...honestSwap(party), hashlock } : null;
      const answer = swap === undefined ? own : swap;
      return { thread: shown, ...(answer && { swap: answer }) };
    },
  } as unknown as ParleyClient;
  return {
    client,
    userId: party === 'maker' ? trade.makerId : trade.takerId,
    party,
    direction: 'sell_base',
    rfqId: trade.rfqId,
    threadId: trade.threadId,
    base,
    baseAmount: trade.baseAmount,
    quote,
    quoteAmount: trade.quoteAmount,
    chains: pinned,
    store,
    ...(of.ends === undefined ? {} : { priceEndsAt: of.ends }),
    destinationOn: (chain) => (chain === base.chain ? bitcoinOf(party) : evmOf(party)),
    now: () => at,
  };
}

test('the initiator keeps a secret before its hashlock is said, and says it after a crash', async () => {
  const of = { said: [] as Words[], store: memoryStore() };
  const first = await accept(agreeing('taker', of));
  const again = await accept(agreeing('taker', { ...of, at: now }));
  assert.deepEqual([first.swapId, again.swapId], [null, swapId]);
  const [one, other] = of.said;
  assert.ok(one?.hashlock);
  assert.deepEqual(one, other);
  assert.deepEqual(again.trade, { ...first.trade, swapSeenAt: now });
  assert.deepEqual(first.trade, { ...stands, hashlock: one.hashlock });
});

test('by a clock that is off the market’s nothing is accepted, and it is said by how much', async () => {
  const off = async (aheadSeconds: number, blockAt: number) => {
    const said: Words[] = [];
    const input = agreeing('taker', { said });
    const heads = async () => ({ clock: blockAt });
    const chains = Object.entries(pinned).map(([name, { source }]) => {
      return [name, { source: { ...source, adapter: { heads } } }];
    });
    const client = { ...input.client, clock: { aheadSeconds } };
    const accepting = accept({ ...input, client, chains: Object.fromEntries(chains) });
    return { accepting, said };
  };
  const wrong = await off(-7_200, now - 5 + 7_190);
  await assert.rejects(wrong.accepting, {
    code: 'clock_wrong',
    message: /7200 s behind the market's and 7190 s behind the last block of/,
  });
  assert.deepEqual(wrong.said, []);
  const theirs = { code: 'clock_wrong', message: /the market's clock is 7200 s ahead/ };
  await assert.rejects((await off(-7_200, now - 5)).accepting, theirs);
  await (await off(-120, now - 5)).accepting;
});

test('the other side says no hashlock, and its trade is the mirror of the first', async () => {
  const said: Words[] = [];
  const { trade: own } = await accept(agreeing('maker', { said }));
  assert.deepEqual(said, [{ quoteAmount: '600000000', rules }]);
  assert.deepEqual(own, { ...tradeOf('maker'), acceptTtlSeconds: 600 });
});

/** The result when the maker's words come again at this time, to a market with this view. */
async function again(at: number, shown: Partial<Thread>, swap: Swap | null = null) {
  const store = memoryStore();
  await accept(agreeing('maker', { store }));
  return accept(agreeing('maker', { store, at, shown, swap }));
}

test('words said again prolong nothing while they stand, and are new ones after that', async () => {
  const { acceptedAt } = trade;
  const stood = { makerAccepted: true };
  for (const [at, shown, since] of [
    [acceptedAt + 599, stood, acceptedAt],
    [acceptedAt + 600, stood, acceptedAt + 600],
    // The market never had them, or they lapsed by its clock.
    [acceptedAt + 300, { makerAccepted: false }, acceptedAt + 300],
    // The market accepts no more.
    [acceptedAt + 6_000, { ...stood, swapId }, acceptedAt],
  ] as const) {
    const { trade: own } = await again(at, shown);
    assert.deepEqual([own.acceptedAt, own.swapSeenAt], [since, undefined]);
  }
});

test('a swap that is there already is taken if it is seen while the acceptance stands', async () => {
  const last = trade.acceptedAt + 600 + clockToleranceSeconds;
  const shown = { makerAccepted: true, swapId };
  assert.equal((await again(last, shown, honestSwap('maker'))).trade.swapSeenAt, last);
  const late = again(last + 1, shown, honestSwap('maker'));
  await assert.rejects(late, { code: 'acceptance_lapsed' });
});

test('a swap that the store keeps was seen, also where a former version noted no moment', async () => {
  const { acceptTtlSeconds: _, ...former } = stands;
  for (const isKept of [true, false]) {
    const store = memoryStore();
    await store.putTrade(former);
    await store.putSecret(hashlockOf(secret), secret);
    if (isKept) await store.putSwap(keptRecord('taker'));
    const shown = { takerAccepted: true, swapId };
    const of = { store, at: now + 7_200, shown, swap: honestSwap('taker') };
    const said = accept(agreeing('taker', of));
    if (isKept) assert.equal((await said).swapId, swapId);
    else await assert.rejects(said, { code: 'acceptance_lapsed' });
  }
});

const instant = isoTime;

test('an acceptance stands no longer than its price, whichever end is known first', async () => {
  const { acceptedAt } = trade;
  for (const [ends, shown, until] of [
    [undefined, null, acceptedAt + 600],
    [undefined, acceptedAt + 30, acceptedAt + 30],
    // A market that forgets the end, or moves it.
    [acceptedAt + 30, null, acceptedAt + 30],
    [acceptedAt + 30, acceptedAt + 500, acceptedAt + 30],
    [null, acceptedAt + 30, acceptedAt + 30],
    [null, acceptedAt + 900, acceptedAt + 600],
  ] as const) {
    const store = memoryStore();
    const quoteExpiresAt = shown === null ? null : instant(shown);
    const of = { store, shown: { quoteExpiresAt }, ...(ends === undefined ? {} : { ends }) };
    const { trade: own } = await accept(agreeing('maker', of));
    assert.equal(standsUntil(own), until);
    // Said again after that they are no words of before.
    const later = { ...of, at: until, shown: { makerAccepted: true } };
    assert.equal((await accept(agreeing('maker', later))).trade.acceptedAt, until);
    const seenAt = async (at: number) => {
      await store.putTrade(own);
      const swap = { ...of, at, shown: { makerAccepted: true, swapId }, swap: honestSwap('maker') };
      return accept(agreeing('maker', swap));
    };
    const last = until + clockToleranceSeconds;
    assert.equal((await seenAt(last)).trade.swapSeenAt, last);
    await store.putTrade(own);
    await assert.rejects(seenAt(last + 1), { code: 'acceptance_lapsed' });
  }
});

test('a swap that is dated after the price has ended is refused', async () => {
  const own = { ...tradeOf('maker'), acceptTtlSeconds: 600, priceEndsAt: agreedAt - 1 };
  const at = { swapId, now: agreedAt + 500 };
  const within = { ...own, priceEndsAt: agreedAt - clockToleranceSeconds };
  assert.equal(verifySwap(honestSwap('maker'), within, pinned, at).agreedAt, agreedAt);
  const after = { ...own, priceEndsAt: agreedAt - clockToleranceSeconds - 1 };
  assert.throws(() => verifySwap(honestSwap('maker'), after, pinned, at), {
    name: 'VerificationError',
    field: 'deadlines.refundAt.a',
  });
});

test('a price that has ended is not accepted', async () => {
  const said: Words[] = [];
  const ends = now - 5 - clockToleranceSeconds;
  await accept(agreeing('taker', { ends: ends + 1 }));
  for (const asking of [accept, examine]) {
    await assert.rejects(asking(agreeing('taker', { said, ends })), { code: 'price_ended' });
  }
  assert.deepEqual(said, []);
});

test('one id for both assets is refused: the legs could be changed for one another', async () => {
  const said: Words[] = [];
  const input = agreeing('maker', { said });
  const accepting = accept({ ...input, quote: { ...quote, id: base.id } });
  await assert.rejects(
    accepting,
    /id of evm-dev:\S+ must be another id than that of bitcoin-regtest/,
  );
  assert.deepEqual(said, []);
});

test('one swap of several accepted threads of an RFQ is funded', async () => {
  const kept = keptRecord('taker');
  const other = { ...kept.swap, id: trade.rfqId, hashlock: '00'.repeat(32) };
  const first = { ...kept, trade: { ...kept.trade, threadId: trade.makerId }, swap: other };
  const of = { said: [] as Words[], store: memoryStore() };
  await of.store.putSwap({ ...first, publicSecret: secret });
  await assert.rejects(accept(agreeing('taker', of)), { code: 'hashlock_used' });
  assert.deepEqual(of.said, []);
  await assert.rejects(mustBeOnly(of.store, kept), /the RFQ of swap/);
  // Restored swaps are claimed and refunded, however many they are.
  await mustBeOnly(of.store, { ...kept, restored: true });
});

test('a person that signs elsewhere funds one swap of an RFQ, thread or hashlock, two at once too', async () => {
  const { swap, trade: own } = keptRecord('taker');
  const others = [
    { swap: { ...swap, hashlock: '00'.repeat(32) }, trade: { ...own, threadId: trade.makerId } },
    { swap: { ...swap, hashlock: '00'.repeat(32) }, trade: { ...own, rfqId: trade.makerId } },
    { swap, trade: { ...own, threadId: trade.makerId, rfqId: trade.makerId } },
  ].map((each) => ({ ...each, swap: { ...each.swap, id: trade.rfqId } }));
  for (const other of others) {
    const store = memoryStore();
    await keepToFund(store, own, swap);
    // Handed out once more it is the same swap.
    await keepToFund(store, own, swap);
    const refused = { code: 'hashlock_used', message: /never fund it/ };
    await assert.rejects(keepToFund(store, other.trade, other.swap), refused);
    assert.deepEqual(await store.swapIds(), [swap.id]);
  }
  const folder = await mkdtemp(join(tmpdir(), 'parley-agree-'));
  try {
    const stores = await Promise.all([fileStore(folder), fileStore(folder)]);
    const first = { swap, trade: own };
    const second = others[0];
    assert.ok(second);
    const both = await Promise.allSettled([
      keepToFund(stores[0], first.trade, first.swap),
      keepToFund(stores[1], second.trade, second.swap),
    ]);
    assert.deepEqual(both.map(({ status }) => status).sort(), ['fulfilled', 'rejected']);
  } finally {
    await rm(folder, { recursive: true });
  }
});

test('under the id of a swap that was handed out no other escrow, time or trade is', async () => {
  const { swap, trade: own } = keptRecord('taker');
  const { deadlines } = swap;
  const { escrow } = swap.legs.b;
  assert.ok(escrow);
  const leg = { ...swap.legs.b, escrow: { ...escrow, address: `${escrow.address}0` } };
  const others = {
    thread: { trade: { ...own, threadId: trade.makerId } },
    hashlock: { swap: { ...swap, hashlock: '00'.repeat(32) } },
    times: { swap: { ...swap, deadlines: { ...deadlines, revealBy: deadlines.revealBy + 1 } } },
    escrow: { swap: { ...swap, legs: { ...swap.legs, b: leg } } },
  };
  const refused = { code: 'hashlock_used', message: /never fund it/ };
  for (const [what, other] of Object.entries(others)) {
    const store = memoryStore();
    await keepToFund(store, own, swap);
    const asked = { trade: own, swap, ...other };
    await assert.rejects(keepToFund(store, asked.trade, asked.swap), refused, what);
    assert.deepEqual((await store.getSwap(swap.id))?.swap, swap);
  }
  // The other side's escrow may move: its payer has named another key.
  const store = memoryStore();
  await keepToFund(store, own, swap);
  const a = swap.legs.a;
  const to = swap.legs.a.escrow;
  assert.ok(to);
  const moving = { ...a, escrow: { ...to, address: `${to.address}0` } };
  await keepToFund(store, own, { ...swap, legs: { ...swap.legs, a: moving } });
});

test('a leg that may be funded from elsewhere is not handed out to be funded', async () => {
  const { swap, trade: own, ...kept } = keptRecord('taker');
  const funding = { txid: 'f', raw: '00' };
  for (const how of [{ restored: true as const }, { funding }]) {
    const store = memoryStore();
    await store.putSwap({ ...kept, trade: own, swap, ...how });
    await assert.rejects(keepToFund(store, own, swap), { code: 'hashlock_used' });
  }
});

test('a swap that was handed out to be funded lets nobody accept on another thread of its RFQ', async () => {
  const { swap, trade: own } = keptRecord('taker');
  const of = { said: [] as Words[], store: memoryStore() };
  await keepToFund(of.store, { ...own, threadId: trade.makerId }, swap);
  await assert.rejects(accept(agreeing('taker', of)), { code: 'hashlock_used' });
  assert.deepEqual(of.said, []);
});

test('a thread of another price is refused before anything is said', async () => {
  const said: Words[] = [];
  const shown = { quoteAmount: '600000001' };
  await assert.rejects(accept(agreeing('taker', { said, shown })), byField('thread.quoteAmount'));
  assert.deepEqual(said, []);
});

test('a hashlock or thread whose swap has begun is not offered again', async () => {
  const kept = keptRecord('taker');
  const funding = { txid: 'ab'.repeat(32), raw: '00' };
  for (const party of ['taker', 'maker'] as const) {
    for (const begun of [{ funding }, { publicSecret: secret }]) {
      const of = { said: [] as Words[], store: memoryStore() };
      const { hashlock } = (await accept(agreeing(party, of))).trade;
      const refused = async () => {
        await assert.rejects(accept(agreeing(party, of)), { code: 'hashlock_used' });
        assert.equal(of.said.length, 1);
      };
      await of.store.putSwap({ ...kept, ...begun });
      await refused();
      if (hashlock === null) continue;
      // Known by its hashlock alone, in a record of another thread.
      const swap = { ...kept.swap, hashlock: '00'.repeat(32) };
      const elsewhere = { ...kept.trade, threadId: trade.makerId };
      await of.store.putSwap({ ...kept, trade: elsewhere, swap });
      const other = { ...kept.swap, id: trade.rfqId, hashlock };
      await of.store.putSwap({ ...kept, trade: elsewhere, swap: other, ...begun });
      await refused();
    }
  }
});

test('a market that answers with another swap of the same thread is refused', async () => {
  const of = { said: [] as Words[], store: memoryStore() };
  const kept = keptRecord('taker');
  await accept(agreeing('taker', of));
  await of.store.putSwap(kept);
  assert.equal((await accept(agreeing('taker', of))).swapId, swapId);
  await of.store.putSwap({ ...kept, swap: { ...kept.swap, id: trade.rfqId } });
  await assert.rejects(accept(agreeing('taker', of)), { code: 'hashlock_used' });
});

test('rules that differ are refused before anything is said, each with both values', async () => {
  const { formula, contract, policies } = rules;
  const a = contract.a;
  const b = policies.b;
  const lies: [unknown, RulesDifference[]][] = [
    [
      { ...rules, formula: formula + 1 },
      [{ field: 'rules.formula', expected: `${formula}`, got: `${formula + 1}` }],
    ],
    [
      { formula, contract: { ...contract, a: 'x' }, policies: { ...policies, b: 'y' } },
      [
        { field: 'rules.contract.a (evm-dev)', expected: a, got: 'x' },
        { field: 'rules.policies.b (bitcoin-regtest)', expected: b, got: 'y' },
      ],
    ],
  ];
  for (const [lie, differences] of lies) {
    for (const party of ['taker', 'maker'] as const) {
      const of = { said: [] as Words[], store: memoryStore() };
      // The initiator follows from the rules: those are named first.
      const shown = { rules: lie as Rules, initiator: 'maker' } as const;
      const refused = await accept(agreeing(party, { ...of, shown })).catch((error) => error);
      assert.ok(refused instanceof RulesError && refused instanceof VerificationError);
      assert.deepEqual(refused.differences, differences);
      const { field, expected, got } = refused;
      assert.deepEqual({ field, expected, got }, differences[0]);
      for (const { field, expected, got } of differences) {
        assert.ok(refused.message.includes(`${field} must be ${expected}; the market says ${got}`));
      }
      assert.deepEqual([of.said, await of.store.getTrade(trade.threadId)], [[], null]);
    }
  }
  // A market that says none, or knows none.
  for (const none of [undefined, null]) {
    const shown = { rules: none as unknown as Rules };
    await assert.rejects(accept(agreeing('taker', { shown })), RulesError);
  }
});

test('a swap that is there is judged by its own times, whatever the rules are by now', async () => {
  const store = memoryStore();
  await accept(agreeing('taker', { store }));
  const said: Words[] = [];
  const again = agreeing('taker', {
    store,
    said,
    shown: { swapId, rules: { ...rules, formula: 0 } },
  });
  await accept(again);
  assert.deepEqual(Object.keys(said[0] ?? {}).sort(), ['hashlock', 'quoteAmount']);
  // Without words of before there is no such swap to follow from them.
  await assert.rejects(accept({ ...again, store: memoryStore() }), RulesError);
});
