// Changes that a market may still make to a verified swap: destinations of the other side, of what
// is not yet funded, and nothing else. And which swap is begun at all.

import assert from 'node:assert/strict';
import test from 'node:test';
import { hexToBytes } from '@noble/hashes/utils.js';
import { addressesOfPubkey, verifyKeySignature } from '@parley/chains/bitcoin/keys.ts';
import { signKeySignature } from '@parley/chains/bitcoin/testing/swaps.ts';
import { type EscrowFacts, nothingSeen } from '@parley/core/facts.ts';
import { hashlockOf } from '@parley/core/hashlock.ts';
import { formOf } from '@parley/core/terms.ts';
import type { LegName } from '@parley/core/trade.ts';
import type { Chains } from '../chains.ts';
import type { ParleyClient } from '../client.ts';
import { ParleyApiError } from '../errors.ts';
import { memoryStore } from '../stores/memory.ts';
import type { Store } from '../stores/store.ts';
import {
  bitcoinView,
  byField,
  honestSwap,
  keptRecord,
  keys,
  lastOf,
  now,
  pinned,
  shownLeg,
  swapId,
  termsOf,
  tradeOf,
  withChain,
} from '../testing/honest.ts';
import type { Swap } from '../types.ts';
import { clockToleranceSeconds, verifySwap } from '../verify.ts';
import type { BitcoinWallet } from '../wallets/wallet.ts';
import { contextOf, type SettleInput } from './context.ts';
import { prepare, takeMoves } from './prepare.ts';
import type { Seen } from './record.ts';

const final: EscrowFacts = {
  ...nothingSeen,
  funded: { txid: 'ab'.repeat(32), confirmations: 99, deep: true },
  balance: 1n,
  empty: false,
};
const later = now + 600;

/** A market that shows this swap, or fails so, and notes the addresses that it is given. */
function showing(swap: Swap | Error, given: unknown[] = [], then = swap) {
  const answer = async (what: Swap | Error) => {
    if (what instanceof Error) throw what;
    return what;
  };
  return {
    productName: 'Acme',
    swap: () => answer(swap),
    setAddress: (_: string, input: unknown) => {
      given.push(input);
      return answer(then);
    },
  } as unknown as ParleyClient;
}

function inputOf(client: ParleyClient, store: Store, party: 'maker' | 'taker'): SettleInput {
  return { swapId, client, chains: pinned as Chains, store, trade: tradeOf(party) };
}

/** The maker (it gives `a` second) asks again `later`; the taker's leg `b` may be funded. */
async function asked(swap: Swap | Error, more: { funded?: LegName[]; sent?: boolean } = {}) {
  const store = memoryStore();
  const funding = more.sent === true ? { txid: 'cd'.repeat(32), raw: '00' } : null;
  const record = keptRecord('maker', { funding });
  const steps: string[] = [];
  const context = contextOf({
    ...inputOf(showing(swap), store, 'maker'),
    now: () => later,
    onProgress: ({ step }) => void steps.push(step),
  });
  const facts = (leg: LegName) => ({ facts: more.funded?.includes(leg) ? final : nothingSeen });
  const seen = { state: { legs: { a: facts('a'), b: facts('b') } } } as unknown as Seen;
  await context.store.putSwap(record);
  const next = async () => {
    const hasMoved = await takeMoves(context, seen);
    return { hasMoved, after: context.record };
  };
  return { record, steps, next, kept: async () => (await store.getSwap(swapId))?.swap };
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
  const { record, next, kept } = await asked(swap, { funded: ['b'] });
  const { after } = await next();
  assert.equal(after.swap.legs.a.escrow?.address, swap.legs.a.escrow);
  assert.deepEqual(after.swap.legs.a.escrow?.terms.payout, payout);
  assert.deepEqual(after.swap.legs.b, record.swap.legs.b);
  assert.deepEqual(await kept(), after.swap);
  for (const more of [{ funded: ['a' as const] }, { sent: true }]) {
    const fixed = await asked(swap, more);
    assert.deepEqual(await fixed.next(), { hasMoved: false, after: fixed.record });
  }
});

// Each is consistent in itself, and would be believed of a swap that is new.
const hashlock = hashlockOf('77'.repeat(32));
const other = { ...withTerms(honestSwap('maker'), { hashlock }, ['a', 'b']), hashlock };
for (const [what, lie, field] of [
  // Within the clock tolerance: the short leg would outlast the long one.
  ['time of the agreement', honestSwap('maker', later - 10), 'deadlines.initiatorFundBy'],
  ['hashlock', other, 'hashlock'],
] as const) {
  test(`a market that tells another ${what} later moves nothing`, async () => {
    assert.doesNotThrow(() => verifySwap(lie, tradeOf('maker'), pinned, { swapId, now: later }));
    for (const funded of [[], ['b']] as LegName[][]) {
      const { next, kept } = await asked(lie, { funded });
      await assert.rejects(next(), byField(field));
      assert.deepEqual(await kept(), keptRecord('maker').swap);
    }
  });
}

test('with the own leg funded a market that lies or refuses does not stop the watch', async () => {
  const refused = new ParleyApiError({ status: 401, code: 'key_invalid', message: 'replaced' });
  for (const [answer, step] of [
    [honestSwap('maker', later - 10), 'market_lied'],
    [refused, 'market_refused'],
  ] as const) {
    const { next, record, steps } = await asked(answer, { sent: true });
    assert.deepEqual(await next(), { hasMoved: false, after: record });
    assert.deepEqual(steps, [step]);
  }
  await assert.rejects((await asked(refused)).next(), refused);
});

test('a swap with the hashlock, the thread or the RFQ of another one is not begun', async () => {
  const kept = keptRecord('maker');
  const id = '0193f0a0-0000-7000-8000-000000000002';
  const other = { threadId: kept.trade.makerId, rfqId: kept.trade.takerId };
  for (const [swap, trade, isRefused] of [
    [{ hashlock }, other, false],
    [{}, other, true],
    [{ hashlock }, { ...other, threadId: kept.trade.threadId }, true],
    [{ hashlock }, { ...other, rfqId: kept.trade.rfqId }, true],
  ] as const) {
    const store = memoryStore();
    await store.putSwap({
      ...kept,
      swap: { ...kept.swap, id, ...swap },
      trade: { ...kept.trade, ...trade },
    });
    const input = inputOf(showing(honestSwap('maker')), store, 'maker');
    const begun = prepare(contextOf({ ...input, now: () => now }));
    await (isRefused ? assert.rejects(begun, { code: 'hashlock_used' }) : begun);
    const own = isRefused ? undefined : kept.swap;
    assert.deepEqual((await store.getSwap(swapId))?.swap, own);
  }
});

/** The honest swap in which an address of the Bitcoin leg is missing. */
function without(kind: 'refund' | 'payout'): Swap {
  const honest = honestSwap('taker');
  const none = { [`${kind}Address`]: null, [`${kind}Pubkey`]: null };
  const b = { ...honest.legs.b, ...none, escrow: null, redeemScript: null };
  return { ...honest, legs: { ...honest.legs, b } };
}

/** The market's record of the taker's Bitcoin key when it has none yet. */
async function keyTold(
  wallet: Partial<BitcoinWallet>,
  kind: 'p2tr' | 'p2wpkh',
  asks: { readonly form?: 'p2tr' } = {},
) {
  const trade = tradeOf('taker');
  const pubkey = trade.refundTo.pubkey ?? '';
  const address = addressesOfPubkey(pubkey, bitcoinView.network)[kind];
  const honest = honestSwap('taker');
  const b = { ...honest.legs.b, refundAddress: address };
  const emitted: unknown[] = [];
  const signing = { family: 'bitcoin', ...wallet } as BitcoinWallet;
  const then = { ...honest, legs: { ...honest.legs, b } };
  await prepare(
    contextOf({
      ...inputOf(showing(without('refund'), emitted, then), memoryStore(), 'taker'),
      chains: withChain(pinned as Chains, bitcoinView.chain, { wallet: signing }),
      trade: { ...trade, refundTo: { address, pubkey, ...asks } },
      now: () => now,
    }),
  );
  return { emitted, about: { productName: 'Acme', pubkey, swapId } };
}

test('the key of a Taproot address is named with its own signature, no other is', async () => {
  const key = hexToBytes(keys.taker);
  const texts: string[] = [];
  const signKey = async (text: string) => {
    texts.push(text);
    return signKeySignature({ productName: 'Acme', swapId }, key);
  };
  const { emitted, about } = await keyTold({ signKey }, 'p2tr');
  const [said] = emitted as { chain: string; address: string; keySignature: string }[];
  assert.ok(said);
  assert.deepEqual([said.chain, said.address], [bitcoinView.chain, about.pubkey]);
  verifyKeySignature(about, said.keySignature);
  assert.deepEqual(texts, [`Acme - use this key: ${about.pubkey} for swap ${swapId}`]);
  const plain = await keyTold({ signKey }, 'p2wpkh');
  assert.deepEqual(plain.emitted, [{ chain: bitcoinView.chain, address: about.pubkey }]);
  assert.equal(texts.length, 1);
  await assert.rejects(keyTold({}, 'p2tr'), { code: 'no_wallet' });
});

const p2tr = { form: 'p2tr' } as const;

test('Taproot is not asked for with a wallet that could not spend it alone', async () => {
  await assert.rejects(keyTold({}, 'p2wpkh', p2tr), { code: 'no_wallet', message: /signLeaves/ });
});

/** The honest swap of these forms: the taker funds the Bitcoin leg first, the maker is paid by it. */
function formed(party: 'maker' | 'taker', payout: object, refund: object): Swap {
  const honest = honestSwap(party, now);
  const { timelock, requiredConfirmations } = honest.legs.b;
  const terms = termsOf('b', timelock, lastOf(honest.deadlines, 'b'));
  const of = { payout: { ...terms.payout, ...payout }, refund: { ...terms.refund, ...refund } };
  const b = shownLeg('b', { ...terms, ...of, ...formOf(of.payout, of.refund) });
  return { ...honest, legs: { ...honest.legs, b: { ...b, requiredConfirmations } } };
}

/** Prepared by a side that asks for Taproot, at each of these times: its words, and the form. */
async function asking(
  party: 'maker' | 'taker',
  times: readonly number[],
  client: (given: unknown[]) => ParleyClient,
) {
  const given: unknown[] = [];
  const steps: string[] = [];
  const left = [...times];
  const store = memoryStore();
  const trade = tradeOf(party);
  const to = party === 'maker' ? 'payTo' : 'refundTo';
  const context = contextOf({
    ...inputOf(client(given), store, party),
    trade: { ...trade, [to]: { ...trade[to], ...p2tr } },
    marketPollMs: 0,
    now: () => (left.length > 1 ? (left.shift() as number) : (left[0] as number)),
    onProgress: ({ step }) => void steps.push(step),
  });
  await prepare(context);
  const kept = await store.getSwap(swapId);
  const form = kept?.swap.legs.b.escrow?.terms.form;
  return { asked: given.length, form, waits: steps.filter((step) => step === 'waiting').length };
}

test('the first to fund waits half a minute for the other side to ask for Taproot', async () => {
  const half = formed('taker', {}, p2tr);
  const whole = formed('taker', p2tr, p2tr);
  const at = (...times: number[]) => asking('taker', times, () => showing(half));
  assert.deepEqual(await at(now + 29, now + 30), { asked: 0, form: undefined, waits: 1 });
  assert.deepEqual(await at(now + 30), { asked: 0, form: undefined, waits: 0 });
  const first = formed('taker', p2tr, {});
  const own = await asking('taker', [now + 1], (given) => showing(first, given, whole));
  assert.deepEqual(own, { asked: 1, form: 'p2tr', waits: 0 });
});

test('the other side asks while the first one waits, and takes P2WSH where it is late', async () => {
  const half = formed('maker', {}, p2tr);
  const whole = formed('maker', p2tr, p2tr);
  const at = (time: number, shown: Swap) =>
    asking('maker', [time], (given) => showing(shown, given, whole));
  assert.deepEqual(await at(now + 19, half), { asked: 1, form: 'p2tr', waits: 0 });
  assert.deepEqual(await at(now + 20, half), { asked: 0, form: undefined, waits: 0 });
  // A leg moves once both have asked.
  assert.equal((await at(now + 20, formed('maker', {}, {}))).asked, 1);
  const fixed = new ParleyApiError({ status: 409, code: 'addresses_fixed', message: 'funded' });
  const refusing = (given: unknown[]) => ({
    ...showing(half),
    setAddress: async () => {
      given.push(half);
      throw fixed;
    },
  });
  const late = await asking('maker', [now + 1], (given) => refusing(given) as ParleyClient);
  assert.deepEqual(late, { asked: 1, form: undefined, waits: 0 });
});

test('a question for Taproot that a market leaves open ends before it could come too late', async () => {
  const half = formed('maker', {}, p2tr);
  const silent = (given: unknown[]) => ({
    ...showing(half),
    setAddress: (_: string, __: unknown, { signal }: { signal: AbortSignal }) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => {
          given.push(signal);
          reject(signal.reason);
        });
      }),
  });
  const left = await asking('maker', [now + 19.95], (given) => silent(given) as ParleyClient);
  assert.deepEqual(left, { asked: 1, form: undefined, waits: 0 });
});

/** The taker's run that begins at this time: its words to the market, and its end. */
async function begun(at: number, store: Store, shown: Swap, signal?: AbortSignal) {
  const emitted: unknown[] = [];
  const input = inputOf(showing(shown, emitted, honestSwap('taker')), store, 'taker');
  const end = await prepare(contextOf({ ...input, now: () => at, ...(signal && { signal }) })).then(
    async () => ((await store.getSwap(swapId)) === null ? 'nothing' : 'begun'),
    (error: { code?: string; field?: string }) => error.field ?? error.code,
  );
  return [end, emitted.length];
}

const { acceptedAt } = tradeOf('taker');
const last = acceptedAt + 600 + clockToleranceSeconds;
const muchLater = now + 7_200;

test('a swap first seen after the acceptance lapsed is told nothing, whatever its date', async () => {
  const shown = without('refund');
  assert.deepEqual(await begun(last, memoryStore(), shown), ['begun', 1]);
  const lapsed = ['acceptance_lapsed', 0];
  assert.deepEqual(await begun(last + 1, memoryStore(), shown), lapsed);
  // Nor is one that was agreed too late, before anything is told.
  const dated = { ...shown, deadlines: honestSwap('taker', last + 1).deadlines };
  const refused = ['deadlines.refundAt.a', 0];
  assert.deepEqual(await begun(last + 1, memoryStore(), dated), refused);
  // A trade that was kept without its first sight, unless its owner knows when that was.
  const store = memoryStore();
  await store.putTrade(tradeOf('taker'));
  assert.deepEqual(await begun(muchLater, store, shown), lapsed);
  await store.putTrade({ ...tradeOf('taker'), swapSeenAt: now });
  // That dates no agreement: one of a week later is refused.
  const week = acceptedAt + 168 * 3_600;
  const ofWeek = { ...honestSwap('taker', week), legs: honestSwap('taker').legs };
  assert.deepEqual(await begun(week, store, ofWeek), refused);
  assert.deepEqual(await begun(muchLater, store, honestSwap('taker')), ['begun', 0]);
});

test('a payout of another network is refused before money moves', async () => {
  const payout = 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4';
  const named = { code: 'wrong_network', message: /Bitcoin mainnet; this is Bitcoin regtest/ };
  await assert.rejects(keyTold({ payout }, 'p2wpkh'), named);
});

test('a swap that is kept for one thread is not settled for another', async () => {
  const store = memoryStore();
  const kept = keptRecord('taker');
  const { makerId: threadId } = kept.trade;
  await store.putSwap({ ...kept, trade: { ...kept.trade, threadId } });
  assert.deepEqual(await begun(now, store, honestSwap('taker')), ['hashlock_used', 0]);
});

test('a swap seen in time is gone on with after a restart, however late', async () => {
  const store = memoryStore();
  const over = new AbortController();
  const putTrade: Store['putTrade'] = async (trade) => {
    await store.putTrade(trade);
    over.abort();
  };
  await begun(now, { ...store, putTrade }, without('payout'), over.signal);
  assert.equal(await store.getSwap(swapId), null);
  assert.deepEqual(await begun(muchLater, store, honestSwap('taker')), ['begun', 0]);
  // Not if what was seen is another acceptance's.
  const of = memoryStore();
  await of.putTrade({ ...tradeOf('taker'), acceptedAt: now - 900, swapSeenAt: now - 800 });
  const lapsed = ['acceptance_lapsed', 0];
  assert.deepEqual(await begun(muchLater, of, honestSwap('taker')), lapsed);
});
