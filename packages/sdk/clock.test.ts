// One's own clock against the market's and those of chains: an error names the wrong one, and by
// how much.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nodeOf, within } from '@parley/chains/testing/nodes.ts';
import { parleyClient } from './client.ts';
import { clockFault, lookAtBlocks } from './clock.ts';

const fault = (
  market: number | null,
  ahead: Readonly<Record<string, number>> = {},
  driftSeconds = 0,
) => {
  const looks = Object.entries(ahead).map(([chain, aheadSeconds]) => {
    return [chain, { aheadSeconds, driftSeconds }] as const;
  });
  return clockFault({ market, chains: Object.fromEntries(looks) });
};

test('a clock that is off is named, with the clocks that say so and by how much', () => {
  assert.equal(fault(null), null);
  assert.equal(fault(120, { base: -120, bitcoin: 5_000 }), null, 'blocks may be old');
  assert.match(
    fault(-121) ?? '',
    /this machine's clock is 121 s behind the market's: set it right/,
  );
  const both = fault(-7_200, { base: -7_190, tron: -100 });
  assert.match(both ?? '', /7200 s behind the market's and 7190 s behind the last block of base/);
  assert.match(fault(3_600, { base: 3_590 }) ?? '', /clock is 3600 s ahead of the market's/);
  assert.match(fault(null, { base: -200 }) ?? '', /200 s behind the last block of base/);
});

test('a chain whose clock may be ahead makes no right clock wrong', () => {
  assert.equal(fault(0, { solana: -1_920 }, 1_800), null);
  assert.match(fault(0, { solana: -1_921 }, 1_800) ?? '', /1921 s behind the last block of solana/);
});

test('a market whose clock is wrong while a chain agrees with one’s own is told so', () => {
  const sentence = "the market's clock is 3600 s ahead of this machine's";
  assert.equal(fault(-3_600, { base: 4 }), `${sentence}, which agrees with the last block of base`);
});

test('blocks are looked at on the chains that answer', async () => {
  const chain = (name: string, clock: number | null) => {
    const heads = async () => ({ clock: clock ?? assert.fail('gone') });
    return { view: { chain: name, policy: { driftSeconds: 60 } }, adapter: { heads } } as never;
  };
  const signal = AbortSignal.timeout(1_000);
  const looks = await lookAtBlocks([chain('a', 90), chain('b', null)], () => 100, signal);
  assert.deepEqual(looks, { a: { aheadSeconds: 10, driftSeconds: 60 } });
});

test('by how much the machine is ahead of the market is known from the date of each answer', async (t) => {
  const at = { ms: 0 };
  const node = nodeOf(async () => ({ text: '{}' }));
  const url = await within(t, node);
  const client = parleyClient({
    baseUrl: url,
    fetch: async (to, init) => {
      const text = await (await fetch(to, init)).text();
      return new Response(text, { headers: { date: new Date(Date.now() + at.ms).toUTCString() } });
    },
  });
  assert.equal(client.clock.aheadSeconds, null);
  for (const [ms, least, most] of [
    [0, -1, 1],
    [3_600_000, -3_601, -3_598],
    [-7_200_000, 7_198, 7_202],
  ] as const) {
    at.ms = ms;
    await client.me();
    const ahead = client.clock.aheadSeconds ?? assert.fail('no date was heard');
    assert.ok(ahead >= least && ahead <= most, `${ms}: ${ahead}`);
  }
});
