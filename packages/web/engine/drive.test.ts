// A swap of this page tries again by itself: after how long, and where it stops for a person.

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { ChainAdapter } from '@parley/chains/adapter.ts';
import { ParleyError } from '@parley/core/errors.ts';
import { nothingSeen } from '@parley/core/facts.ts';
import { ParleyApiError, SettleError, StoreError, VerificationError } from '@parley/sdk/errors.ts';
import { memoryStore } from '@parley/sdk/stores/memory.ts';
import type { SwapRecord } from '@parley/sdk/stores/store.ts';
import { bitcoinView, evmView, keptRecord, now } from '@parley/sdk/testing/honest.ts';
import { paperScene } from '@parley/sdk/testing/paper-scene.ts';
import { type DriveParts, drive, type Ready } from './drive.ts';
import { EngineError } from './types.ts';

const { trade, swap } = keptRecord('taker');

/** `tries`: the beginning of each, the last one again and again. */
const driving = (t: TestContext, ...tries: readonly (Ready | Error)[]) =>
  drivingTo(t, async () => {}, ...tries);

function drivingTo(
  t: TestContext,
  onEnd: DriveParts['onEnd'],
  ...tries: readonly (Ready | Error)[]
) {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const of = { tries: 0, faults: [] as string[] };
  const one = drive({
    begun: {
      swapId: swap.id,
      trade,
      swap,
      isVerified: true,
      history: [],
      isByHand: false,
      isRefundLeft: false,
      isClaimLeft: false,
      isRestored: false,
      isGivenUp: false,
      relay: null,
    },
    ready: async () => {
      const next = tries[Math.min(of.tries, tries.length - 1)];
      of.tries += 1;
      if (next instanceof Error) throw next;
      assert.ok(next);
      return next;
    },
    prompts: () => [],
    now: () => now,
    problems: () => [],
    onChange: () => {},
    onStep: () => {},
    onEnd,
    onStoreFault: ({ code }) => of.faults.push(code),
  });
  t.after(() => one.stop());
  const pass = async (ms: number) => {
    t.mock.timers.tick(ms);
    await settled();
  };
  return { ...one, of, pass };
}

async function settled(): Promise<void> {
  for (let each = 0; each < 20; each += 1) await new Promise((resolve) => setImmediate(resolve));
}

const api = (status: number) =>
  new ParleyApiError({ status, code: 'no_answer', message: 'no market' });

test('what passes by itself is tried again, and told by its kind meanwhile', async (t) => {
  for (const [error, kind] of [
    [api(0), 'market'],
    [new ParleyError('chain_unavailable', 'no node'), 'node'],
    [new StoreError('failed', 'a write'), 'store'],
  ] as const) {
    const { view, of, pass, stop } = driving(t, error);
    await settled();
    const { phase, problems } = view();
    assert.deepEqual([phase, problems[0]?.kind], ['starting', kind]);
    await pass(2_000);
    assert.equal(of.tries, 2);
    await stop();
    t.mock.timers.reset();
  }
});

const stopping: readonly [Error, string][] = [
  [new SettleError('terms_outdated', 'an old acceptance'), 'terms'],
  [new VerificationError('legs.a.amount', '1', '2'), 'market_lied'],
  [new StoreError('full', 'no room'), 'store'],
];
for (const [error, kind] of stopping) {
  test(`waits for a person: ${kind}, ${error.message}`, async (t) => {
    const { view, again, of, pass } = driving(t, error);
    await settled();
    const { phase, problems } = view();
    assert.deepEqual([phase, problems.map((each) => each.kind)], ['stopped', [kind]]);
    await pass(86_400_000);
    assert.equal(of.tries, 1);
    again();
    await settled();
    assert.equal(of.tries, 2);
    assert.deepEqual(of.faults, error instanceof StoreError ? [error.code, error.code] : []);
  });
}

test('a lack is asked for, and looked for again when somebody says so', async (t) => {
  const { view, again, of, pass } = driving(
    t,
    new EngineError('no_payout', 'no address'),
    new EngineError('no_phrase', 'no phrase'),
  );
  await settled();
  const kinds = () => view().asks.map(({ kind }) => kind);
  assert.deepEqual([view().phase, kinds()], ['stopped', ['name_payout']]);
  await pass(86_400_000);
  assert.equal(of.tries, 1);
  again();
  await settled();
  assert.deepEqual([of.tries, kinds()], [2, ['need_phrase']]);
});

test('a refusal of the market stops it, and ends with a session that nobody tells it of', async (t) => {
  const { view, of, pass } = driving(t, api(401), await untouched(keptRecord('taker')));
  await settled();
  assert.deepEqual([view().phase, of.tries], ['stopped', 1]);
  await pass(59_999);
  assert.equal(of.tries, 1);
  await pass(1);
  assert.deepEqual([view().phase, of.tries], ['ended', 2]);
});

test('an end that the store does not keep is looked for again', async (t) => {
  const end = { tries: 0 };
  const onEnd = async () => {
    end.tries += 1;
    if (end.tries === 1) throw new StoreError('failed', 'a write');
  };
  const { view, of, pass } = drivingTo(t, onEnd, await untouched(keptRecord('taker')));
  await settled();
  assert.deepEqual([of.tries, of.faults], [1, ['failed']]);
  await pass(60_000);
  assert.deepEqual([view().phase, of.tries, end.tries], ['ended', 2, 2]);
});

test('a pause ends when somebody says so or clicks, and when the page stops', async (t) => {
  const { again, hurry, stop, ended, of, pass } = driving(t, api(0));
  await settled();
  again();
  await settled();
  assert.equal(of.tries, 2);
  hurry();
  await settled();
  assert.equal(of.tries, 3);
  await stop();
  await ended;
  await pass(86_400_000);
  assert.equal(of.tries, 3);
});

/** Past every timelock, with nothing in either escrow. */
async function untouched(record: SwapRecord): Promise<Ready> {
  const store = memoryStore();
  await store.putSwap(record);
  const after = Math.max(swap.deadlines.refundAt.a, swap.deadlines.refundAt.b) + 1;
  const look = async () => ({ heads: { clock: after }, facts: [nothingSeen] });
  const adapter = { watch: () => {}, unwatch: () => {}, look } as unknown as ChainAdapter;
  const own = [bitcoinView, evmView].map((view) => [view.chain, { source: { adapter, view } }]);
  const of = { swapId: swap.id, client: null, store, chains: Object.fromEntries(own) };
  return { input: { ...of, now: () => after }, away: [] };
}

for (const [what, kept, tries] of [
  ['it was brought back, and nobody knows who paid', { restored: true }, 3],
  ['a wallet was never asked', {}, 1],
] as const) {
  test(`Bitcoin, ended with nothing: a late payment is looked for where ${what}`, async (t) => {
    const { view, of, pass } = driving(t, await untouched(keptRecord('taker', kept)));
    await settled();
    assert.deepEqual([view().phase, view().end?.end, of.tries], ['ended', 'nothing', 1]);
    await pass(60_000);
    await pass(60_000);
    assert.equal(of.tries, tries);
  });
}

test("a person's wish is looked at at once, however long a pause is", async (t) => {
  const { input } = await paperScene('maker');
  const { view, hurry } = driving(t, { input: { ...input, pollMs: 3_600_000 }, away: [] });
  for (let looks = 0; view().phase !== 'ended' && looks < 500; looks += 1) {
    hurry();
    await settled();
  }
  assert.equal(view().end?.end, 'received');
});
