// An acceptance: its demands on the device before any request, and its outcome by the market's word.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ParleyClient } from '@parley/sdk/client.ts';
import { ParleyApiError } from '@parley/sdk/errors.ts';
import { isoTime } from '@parley/sdk/people.ts';
import { phraseKeys } from '@parley/sdk/rescue/derive.ts';
import { newPhrase } from '@parley/sdk/rescue/phrase.ts';
import { writeKept } from '@parley/sdk/stores/store.ts';
import { bitcoinView, evmOf, evmView, tradeOf } from '@parley/sdk/testing/honest.ts';
import type { VerifiedSwap } from '@parley/sdk/trade.ts';
import { stubAdapter } from '@parley/verify/test/support/adapter.ts';
import { held } from '../live.ts';
import { cameOf, type Deals, type DealsParts, dealsOf, destinationOfKey } from './deals.ts';
import { mostDriven } from './drive.ts';
import { memoryKept } from './keeping.ts';
import type { Deal, Health } from './types.ts';

const acceptedAt = 1_800_000_000;
const day = 86_400;
const entry = { threadId: 'of', acceptedAt, expected: { party: 'maker' } as VerifiedSwap };
const open = {
  status: 'open',
  swapId: null,
  proposedBy: 'maker',
  makerAccepted: true,
  takerAccepted: false,
  acceptanceExpiresAt: isoTime(acceptedAt + day),
  rfq: { expiresAt: isoTime(acceptedAt + 7 * day) },
};

async function after(seconds: number, said: object | number) {
  const answer = async () => {
    if (typeof said === 'object') return said;
    throw new ParleyApiError({ status: said, code: 'no_answer', message: 'no thread' });
  };
  const client = { thread: answer } as unknown as ParleyClient;
  const { swapId, isOver } = await cameOf(client, entry, acceptedAt + seconds);
  return isOver ? 'over' : (swapId ?? 'waits');
}

test('an acceptance is kept as long as the market has it, and given up half an hour after', async () => {
  const rows: readonly [number, object | number, string][] = [
    [10, { ...open, swapId: 'one' }, 'one'],
    [day, { ...open, swapId: 'one' }, 'one'],
    // PARLEY_ACCEPT_TTL may be a day.
    [1_801, open, 'waits'],
    [day - 1, open, 'waits'],
    [day, open, 'over'],
    [1_800, { ...open, makerAccepted: false }, 'waits'],
    [1_801, { ...open, makerAccepted: false }, 'over'],
    [1_801, { ...open, status: 'closed' }, 'over'],
    [1_800, 404, 'waits'],
    [1_801, 404, 'over'],
    // A market that is away says nothing of it.
    [day, 0, 'waits'],
    [day, 503, 'waits'],
  ];
  for (const [seconds, said, came] of rows) {
    assert.equal(await after(seconds, said), came, `${seconds} s: ${JSON.stringify(said)}`);
  }
});

/** The findings on the addresses where the market knows these keys of the person on Bitcoin. */
async function addressesWith(known: (key: string) => { login: string | null; proven: string[] }) {
  const keys = await phraseKeys(newPhrase(), 'dev');
  const { address } = keys.bitcoinKey(0);
  const views = [bitcoinView, evmView];
  const source = async (chain: string) => {
    const view = views.find((each) => each.chain === chain) ?? assert.fail(chain);
    return { view, adapter: stubAdapter(chain, view.family, { heads: async () => ({}) as never }) };
  };
  const { party, rfqId: id, threadId, direction, base, quote, quoteAmount } = tradeOf('taker');
  const { examine } = dealsOf({
    client: { me: async () => ({ userId: 'me', wallets: { bitcoin: known(address) } }) },
    nodes: { source, chains: held([]) },
    vault: { keys: async () => keys, state: held({ kind: 'checked' }) },
    health: () => ({ store: 'persisted', storeSentence: null, clockOffSeconds: 0 }),
    kept: memoryKept(),
    open: async () => 0,
    now: () => acceptedAt,
  } as unknown as DealsParts);
  const payout = 'bcrt1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqc8gma6';
  const deal: Deal = {
    party,
    threadId,
    base,
    quote,
    quoteAmount,
    rfq: { id, direction, baseAmount: '1000000' },
    addresses: { [bitcoinView.chain]: payout, [evmView.chain]: evmOf('taker').address },
  };
  const { checks } = await examine(deal);
  const { ok, code } = checks.find(({ name }) => name === 'addresses') ?? assert.fail();
  return code ?? ok;
}

test('an acceptance waits until the market knows the key of the escrows on Bitcoin', async () => {
  const other = 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080';
  for (const [known, is] of [
    [() => ({ login: null, proven: [] }), 'key_unknown'],
    [() => ({ login: other, proven: [other] }), 'key_unknown'],
    [(key: string) => ({ login: key, proven: [] }), true],
    [(key: string) => ({ login: other, proven: [other, key] }), true],
  ] as const) {
    assert.equal(await addressesWith(known), is);
  }
});

test('a person that can pay no Taproot asks for none', () => {
  const key = { address: 'bcrt1qmine', pubkey: '02ab' };
  assert.deepEqual(destinationOfKey(key, {}), { ...key, form: 'p2tr' });
  assert.deepEqual(destinationOfKey(key, { form: 'p2wsh' }), key);
});

async function deals(
  open: number,
  waiting: readonly string[],
  store: Health['store'] = 'persisted',
): Promise<Deals> {
  const kept = memoryKept();
  const all = waiting.map((threadId) => ({ threadId, swapId: null }));
  await kept.change('deals', () => writeKept({ all }));
  const parts = {
    kept,
    open: async () => open,
    now: () => 0,
    vault: { state: { now: () => ({ kind: 'checked' }) } },
    health: () => ({ store, storeSentence: null, clockOffSeconds: 0 }),
    nodes: { source: async () => Promise.reject(new Error('no node')) },
  };
  return dealsOf(parts as unknown as DealsParts);
}

const coin = { chain: 'evm-dev' };
const asked = { threadId: 'asked', base: coin, quote: coin } as Deal;

test('no more is accepted than this browser settles side by side', async () => {
  const roomOf = async (open: number, waiting: readonly string[]) => {
    const { checks } = await (await deals(open, waiting)).examine(asked);
    return checks.find(({ name }) => name === 'room');
  };
  assert.equal((await roomOf(mostDriven - 2, ['other', 'asked']))?.ok, true);
  assert.equal((await roomOf(mostDriven - 1, ['asked']))?.ok, true);
  for (const full of [await roomOf(mostDriven - 1, ['other']), await roomOf(mostDriven, [])]) {
    assert.equal(full?.ok, false);
    assert.match(full.sentence, /settles 60 side by side/);
  }
});

test('where the browser keeps nothing, nothing is accepted: its keys would be lost', async () => {
  for (const [store, ok] of [
    ['persisted', true],
    ['full', false],
    ['blocked', false],
  ] as const) {
    const { examine, accept } = await deals(0, [], store);
    const { checks, isGood } = await examine(asked);
    assert.equal(checks.find(({ name }) => name === 'store')?.ok, ok, store);
    assert.equal(isGood, false, 'no node answers');
    await assert.rejects(accept(asked), { code: 'failed_check' });
  }
});
