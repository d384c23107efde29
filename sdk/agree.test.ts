import assert from 'node:assert/strict';
import test from 'node:test';
import { hashlockOf } from '../core/hashlock.ts';
import type { Rules, RulesDifference } from '../core/rules.ts';
import { type Agreeing, accept } from './agree.ts';
import type { ParleyClient } from './client.ts';
import { RulesError, VerificationError } from './errors.ts';
import { ownRules } from './rules.ts';
import { memoryStore } from './stores/memory.ts';
import type { Store, SwapRecord } from './stores/store.ts';
import {
  bitcoinOf,
  bitcoinView,
  evmOf,
  evmView,
  honestSwap,
  keptRecord,
  now,
  secret,
  swapId,
  tradeOf,
  views,
} from './testing/honest.ts';
import type { VerifiedLeg } from './trade.ts';
import type { LegPreview, Swap, Thread } from './types.ts';
import { clockToleranceSeconds } from './verify.ts';

const trade = tradeOf('taker');
const stands = { ...trade, acceptTtlSeconds: 600 };
const { base, quote } = trade;

function thread(alter: Partial<Thread> = {}): Thread {
  const { rfqId, threadId: id, makerId, takerId } = trade;
  const quoteAmount = trade.quoteAmount.toString();
  const known = { id, rfqId, makerId, takerId, quoteAmount, initiator: 'taker', swapId: null };
  return { ...known, legs, rules, ...alter } as Thread;
}

/** What the market shows of both legs, as worked out here: EVM is short, Bitcoin long. */
const rules = ownRules({ a: { view: evmView }, b: { view: bitcoinView } });
const { agreedAt, deadlines, legs: agreed } = keptRecord('taker').swap;
const shownLeg = ({ leg, chain, assetId, amount, long }: VerifiedLeg): LegPreview => {
  const timelockSeconds = deadlines.refundAt[leg] - agreedAt;
  return { chain, assetId, amount: amount.toString(), long, timelockSeconds };
};
const legs = { a: shownLeg(agreed.a), b: shownLeg(agreed.b) };

type Words = { quoteAmount: string; hashlock?: string; rules?: Rules };

function agreeing(party: 'maker' | 'taker', store: Store, said: Words[], shown = thread()) {
  const client = {
    thread: async () => ({ [`${party}Accepted`]: said.length > 0, ...shown }),
    accept: async (_: string, words: Words) => {
      said.push(words);
      if (words.hashlock !== undefined) {
        assert.ok(await store.getSecret(words.hashlock), 'told before it was kept');
      }
      const { hashlock = hashlockOf(secret) } = words;
      const swap = { ...honestSwap(party), hashlock };
      return { thread: shown, ...(said.length > 1 ? { swap } : {}) };
    },
  } as unknown as ParleyClient;
  const input: Agreeing = {
    client,
    userId: party === 'maker' ? trade.makerId : trade.takerId,
    rfq: {
      id: trade.rfqId,
      direction: 'sell_base',
      baseAssetId: base.id,
      baseAmount: trade.baseAmount.toString(),
      quoteAssetId: quote.id,
    },
    threadId: trade.threadId,
    quoteAmount: trade.quoteAmount,
    base,
    quote,
    views,
    destinationOn: (chain) => (chain === base.chain ? bitcoinOf(party) : evmOf(party)),
    store,
    now: () => now - 5,
  };
  return input;
}

test('the initiator keeps a secret before it tells the hashlock, and says it again after a crash', async () => {
  const said: Words[] = [];
  const store = memoryStore();
  const input = agreeing('taker', store, said);
  const first = await accept(input);
  const again = await accept({ ...input, now: () => now });
  assert.equal(first.swapId, null);
  assert.equal(again.swapId, honestSwap('taker').id);
  assert.ok(said[0]?.hashlock);
  assert.deepEqual(said[0], said[1]);
  assert.deepEqual(again.trade, { ...first.trade, swapSeenAt: now });
  assert.deepEqual(first.trade, { ...stands, hashlock: said[0]?.hashlock });
});

/** What comes of the maker's words said again at this time, to a market that shows this. */
async function again(at: number, shown: Partial<Thread>, swap?: Swap) {
  const store = memoryStore();
  await accept(agreeing('maker', store, []));
  const input = { ...agreeing('maker', store, [], thread(shown)), now: () => at };
  const answer = async () => ({ thread: thread(shown), ...(swap === undefined ? {} : { swap }) });
  const client = { ...input.client, accept: answer } as unknown as ParleyClient;
  return accept({ ...input, client });
}

test('words said again prolong nothing while they stand, and are new ones after that', async () => {
  const { acceptedAt } = trade;
  const stood = { makerAccepted: true };
  for (const [at, shown, since] of [
    [acceptedAt + 599, stood, acceptedAt],
    [acceptedAt + 600, stood, acceptedAt + 600],
    // The market never had them, or they lapsed by its clock.
    [acceptedAt + 300, { makerAccepted: false }, acceptedAt + 300],
    // Nothing is accepted any more.
    [acceptedAt + 6_000, { ...stood, swapId }, acceptedAt],
  ] as const) {
    const { trade: own } = await again(at, shown);
    assert.deepEqual([own.acceptedAt, own.swapSeenAt], [since, undefined]);
  }
});

test('a swap that is there already is taken if it is seen while the acceptance stands', async () => {
  const last = trade.acceptedAt + 600 + clockToleranceSeconds;
  const shown = { makerAccepted: true, swapId };
  const { trade: own } = await again(last, shown, honestSwap('maker'));
  assert.equal(own.swapSeenAt, last);
  const late = again(last + 1, shown, honestSwap('maker'));
  await assert.rejects(late, { code: 'acceptance_lapsed' });
});

test('a swap that the store keeps was seen, also where a former version noted no moment', async () => {
  const shown = { takerAccepted: true, swapId };
  const { acceptTtlSeconds: _, ...former } = stands;
  for (const isKept of [true, false]) {
    const store = memoryStore();
    await store.putTrade(former);
    if (isKept) await store.putSwap(record({}));
    const input = { ...agreeing('taker', store, [], thread(shown)), now: () => now + 7_200 };
    const answer = async () => ({ thread: thread(shown), swap: honestSwap('taker') });
    const client = { ...input.client, accept: answer } as unknown as ParleyClient;
    const again = accept({ ...input, client });
    if (isKept) assert.equal((await again).swapId, swapId);
    else await assert.rejects(again, { code: 'acceptance_lapsed' });
  }
});

test('the other side tells no hashlock, and its trade is the mirror of the first', async () => {
  const said: Words[] = [];
  const { trade: own } = await accept(agreeing('maker', memoryStore(), said));
  assert.deepEqual(said, [{ quoteAmount: '600000000', rules }]);
  assert.deepEqual(own, { ...tradeOf('maker'), acceptTtlSeconds: 600 });
});

test('a thread that differs from what the customer knows is refused before anything is said', async () => {
  const lies: Partial<Thread>[] = [
    { quoteAmount: '600000001' },
    { rfqId: trade.threadId },
    { initiator: 'maker' },
    { takerId: trade.makerId, makerId: trade.rfqId },
    { id: trade.rfqId },
  ];
  for (const lie of lies) {
    const said: Words[] = [];
    await assert.rejects(
      accept(agreeing('taker', memoryStore(), said, thread(lie))),
      VerificationError,
      JSON.stringify(lie),
    );
    assert.deepEqual(said, []);
  }
});

/** What the store knows of the honest swap, under another id, thread or hashlock if told so. */
function record(of: { id?: string; threadId?: string; hashlock?: string }): SwapRecord {
  const { threadId = trade.threadId, ...own } = of;
  const kept = keptRecord('taker');
  return { ...kept, trade: { ...trade, threadId }, swap: { ...kept.swap, ...own } };
}

test('a hashlock or thread whose swap has begun is not offered again', async () => {
  const kept = { txid: 'ab'.repeat(32), raw: '00' };
  const elsewhere = { id: trade.rfqId, threadId: trade.makerId };
  for (const party of ['taker', 'maker'] as const) {
    for (const begun of [{ funding: kept }, { publicSecret: secret }]) {
      const said: Words[] = [];
      const store = memoryStore();
      const first = await accept(agreeing(party, store, said));
      await store.putSwap({ ...record({}), ...begun });
      await assert.rejects(accept(agreeing(party, store, said)), { code: 'hashlock_used' });
      assert.equal(said.length, 1);
      if (first.trade.hashlock === null) continue;
      // Known by its hashlock alone, in a record of another thread.
      const { hashlock } = first.trade;
      await store.putSwap(record({ hashlock: '00'.repeat(32), threadId: elsewhere.threadId }));
      await store.putSwap({ ...record({ ...elsewhere, hashlock }), ...begun });
      await assert.rejects(accept(agreeing(party, store, said)), { code: 'hashlock_used' });
      assert.equal(said.length, 1);
    }
  }
});

test('a market that answers with another swap of the same thread is refused', async () => {
  const said: Words[] = [];
  const store = memoryStore();
  await accept(agreeing('taker', store, said));
  await store.putSwap(record({}));
  assert.equal((await accept(agreeing('taker', store, said))).swapId, swapId);
  await store.putSwap(record({ id: trade.rfqId }));
  await assert.rejects(accept(agreeing('taker', store, said)), { code: 'hashlock_used' });
});

test('rules that differ are refused before anything is said, each with both values', async () => {
  const { formula, contract, policies } = rules;
  const [a, b] = [contract.a, policies.b];
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
  for (const [said, differences] of lies) {
    for (const party of ['taker', 'maker'] as const) {
      const words: Words[] = [];
      const store = memoryStore();
      // Who would be the initiator follows from the rules: those are named first.
      const shown = thread({ rules: said as Rules, initiator: 'maker' });
      const refused = await accept(agreeing(party, store, words, shown)).catch((error) => error);
      assert.ok(refused instanceof RulesError && refused instanceof VerificationError);
      assert.deepEqual(refused.differences, differences);
      const { field, expected, got } = refused;
      assert.deepEqual({ field, expected, got }, differences[0]);
      for (const { field, expected, got } of differences) {
        assert.ok(refused.message.includes(`${field} must be ${expected}; the market says ${got}`));
      }
      assert.deepEqual([words, await store.getTrade(trade.threadId)], [[], null]);
    }
  }
  // A market that says none, or knows none.
  for (const said of [undefined, null]) {
    const shown = thread({ rules: said as unknown as Rules });
    await assert.rejects(accept(agreeing('taker', memoryStore(), [], shown)), RulesError);
  }
});

test('a policy of one’s own that is not the market’s is refused, and the number is named', async () => {
  const { policy } = evmView;
  const normal = { ...policy.normal, settleSeconds: policy.normal.settleSeconds + 1 };
  const own = new Map(views).set(evmView.chain, { ...evmView, policy: { ...policy, normal } });
  const words: Words[] = [];
  const input = { ...agreeing('maker', memoryStore(), words), views: own };
  await assert.rejects(accept(input), { name: 'RulesError', field: 'rules.policies.a (evm-dev)' });
  assert.deepEqual(words, []);
});

test('a swap that is there is judged by its own times, whatever the rules are by now', async () => {
  const store = memoryStore();
  await accept(agreeing('taker', store, []));
  const shown = thread({ swapId, rules: null });
  const words: Words[] = [];
  const again = agreeing('taker', store, words, shown);
  await accept(again);
  assert.deepEqual(Object.keys(words[0] ?? {}).sort(), ['hashlock', 'quoteAmount']);
  // Without words of before there is no such swap to follow from them.
  await assert.rejects(accept({ ...again, store: memoryStore() }), RulesError);
});

test('a thread that shows other legs or times than one’s own is refused', async () => {
  for (const name of ['a', 'b'] as const) {
    for (const [field, lie] of [
      ['chain', 'evm-dev-2'],
      ['assetId', trade.rfqId],
      ['amount', '1'],
      ['long', name === 'a'],
      ['timelockSeconds', legs[name].timelockSeconds + 1],
    ] as const) {
      const words: Words[] = [];
      const shown = thread({ legs: { ...legs, [name]: { ...legs[name], [field]: lie } } });
      const at = `thread.legs.${name}.${field}`;
      const accepting = accept(agreeing('taker', memoryStore(), words, shown));
      await assert.rejects(accepting, { name: 'VerificationError', field: at });
      assert.deepEqual(words, []);
    }
  }
});
