// A maker whose clock is wrong promises nothing, says so once, and goes on once it is right.

import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import { createClock } from './clock.ts';
import { openLog } from './log.ts';
import { createMetrics } from './metrics.ts';
import { modeRefusal } from './rules/decide.ts';

test('by a clock behind a chain, or off the market’s, nothing is quoted or accepted', async () => {
  const out = new PassThrough();
  const lines: string[] = [];
  out.on('data', (line: Buffer) => said(JSON.parse(line.toString())));
  const said = ({ event, market }: Record<string, string>) => {
    if (market === 'one') lines.push(event ?? '');
  };
  const at = { ownMs: 1_000_000_000, blockSeconds: 1_000_000 };
  const metrics = createMetrics();
  const heads = async () => ({ clock: at.blockSeconds });
  const view = { chain: 'base', policy: { driftSeconds: 0 } };
  const chains = { base: { source: { view, adapter: { heads } } } } as never;
  const movedMs = () => at.ownMs - Date.now();
  const clock = createClock({
    chains,
    metrics,
    now: () => at.ownMs,
    movedMs,
    signal: new AbortController().signal,
    log: openLog(out, () => at.ownMs),
  });
  const one = clock.at('one');
  const other = clock.at('other');
  await clock.look();
  one.heard(2);
  other.heard(0);
  assert.equal(one.isWrong(), false);
  at.ownMs -= 3_600_000;
  await clock.look();
  assert.equal(one.isWrong(), true);
  await clock.look();
  at.ownMs += 3_600_000;
  await clock.look();
  assert.equal(one.isWrong(), false);
  one.heard(-300);
  assert.equal(one.isWrong(), true);
  assert.equal(other.isWrong(), false, 'a clock of another market is no fault of this one');
  assert.deepEqual(lines, ['clock_wrong', 'clock_right', 'clock_wrong'], 'once each');
  assert.match(
    await metrics.registry.metrics(),
    /parley_maker_clock_ahead_seconds\{of="market",market="one"\} -300/,
  );
  for (const step of ['quote', 'proposal', 'acceptance'] as const) {
    assert.equal(modeRefusal('clock', step)?.code, 'clock');
  }
});
