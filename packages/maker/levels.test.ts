// Levels as prices, the switch, the connection and the clock move, against a market that notes what
// it hears.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ParleyApiError } from '@parley/sdk/errors.ts';
import type { PublishLevels } from '@parley/sdk/types.ts';
import { createLevels } from './levels.ts';
import type { Log } from './log.ts';
import type { Mode } from './rules/decide.ts';
import { limits, pair, partsOf, pricedPair } from './testing/stage.ts';

/** 0.01 and 0.1 BTC at 400 SOL each, a hundred basis points aside. */
function stage(sols?: bigint, of = pair) {
  const heard: string[] = [];
  const leasts: string[] = [];
  const at = { ms: 0, price: '400' as string | null, mode: 'open' as Mode, live: true, refuses: 0 };
  // Levels are of no taker, whatever is wanted of one.
  const wanted = { ...limits, leastSettledOfTaker: 5 };
  const parts = partsOf({ at, limits: wanted, ...(sols === undefined ? {} : { sols }) });
  const said = ({ levels }: PublishLevels) =>
    levels.map(({ direction, baseAmount, quoteAmount }) =>
      [direction === 'sell_base' ? 'bid' : 'ask', baseAmount, quoteAmount].join(' '),
    );
  const ask = () => {
    if (at.refuses === 0) return;
    throw new ParleyApiError({ status: at.refuses, code: 'no', message: 'no' });
  };
  const lines: string[] = [];
  const debug: Log['debug'] = (event, { published } = {}) => {
    if (event === 'levels') lines.push(`debug ${published}`);
  };
  const levels = createLevels({
    ...parts,
    log: { ...parts.log, debug },
    limits,
    pairs: [{ ...of, levels: [1_000_000n, 10_000_000n] }],
    feed: () => ({ state: () => (at.live ? 'live' : 'connecting') }),
    idOf: (name) => `id-${name}`,
    client: {
      publishLevels: async (pairs) => {
        ask();
        heard.push(said(pairs).join(', ') || 'none');
        leasts.push(...pairs.levels.map((each) => each.leastBaseAmount ?? ''));
        return { ...pairs, published: pairs.levels.length, endsAt: null };
      },
      withdrawLevels: async () => {
        ask();
        heard.push('withdrawn');
        return { withdrawn: 0 };
      },
    },
  });
  const look = async () => {
    await levels.look();
    return heard.splice(0);
  };
  return { at, look, levels, heard, leasts, lines };
}

const bids = 'bid 1000000 3960000000, bid 10000000 39600000000';
const asks = 'ask 1000000 4040000000, ask 10000000 40400000000';
const both = `${bids}, ${asks}`;

test('levels are published on a clean table, again before they end, and when the price has moved', async () => {
  const { at, look } = stage();
  assert.deepEqual(await look(), ['withdrawn', both]);
  at.ms = 39_000;
  at.price = '400.9';
  assert.deepEqual(await look(), [], 'within half of the slip');
  at.ms = 40_000;
  at.price = '400';
  assert.deepEqual(await look(), [both], 'a third of their time is left');
  at.price = '401.1';
  assert.equal((await look()).length, 1);
  at.price = null;
  assert.deepEqual(await look(), ['none']);
  assert.deepEqual(await look(), []);
});

test('the log says how many levels there are when that changes, and not each time', async () => {
  const { at, look, lines } = stage();
  for (const price of ['400', '410', '420', null, null, '400']) {
    at.price = price;
    await look();
  }
  assert.deepEqual(lines, ['debug 4', 'debug 0', 'debug 4']);
});

test('a level has the spread of its size and of what is held, from the size on that has it', async () => {
  const tiers = [{ from: 5_000_000n, spreadBps: 40n }];
  const { look, leasts } = stage(undefined, { ...pricedPair, tiers, gives: ['quote'] });
  // 150 and 90 basis points.
  assert.deepEqual((await look())[1], 'bid 1000000 3940000000, bid 10000000 39640000000');
  assert.deepEqual(leasts, ['1', '5000000']);
});

test('no level is said that could not be quoted: of what is not there', async () => {
  const { look } = stage(5_000_000_000n);
  const [, said] = await look();
  assert.equal(said, `bid 1000000 3960000000, ${asks}`);
});

test('they go when quoting is paused or killed, when the connection is lost, and at the end', async () => {
  const { at, look, levels, heard } = stage();
  await look();
  for (const mode of ['paused', 'killed'] as const) {
    at.mode = mode;
    assert.deepEqual(await look(), ['withdrawn']);
    assert.deepEqual(await look(), []);
    at.mode = 'open';
    assert.deepEqual(await look(), [both]);
  }
  at.live = false;
  assert.deepEqual(await look(), [], 'the market withdraws them');
  at.live = true;
  assert.deepEqual(await look(), ['withdrawn', both]);
  await levels.withdraw();
  await levels.withdraw();
  assert.deepEqual(heard, ['withdrawn']);
});

test('after a refusal it rests; what has no answer is withdrawn before anything else, a pause at once', async () => {
  const { at, look } = stage();
  await look();
  at.ms = 50_000;
  at.refuses = 409;
  await look();
  at.refuses = 0;
  at.ms = 79_999;
  assert.deepEqual(await look(), []);
  at.ms = 80_000;
  assert.deepEqual(await look(), [both]);
  at.ms = 125_000;
  at.refuses = 409;
  await look();
  at.refuses = 0;
  at.ms = 124_999;
  assert.deepEqual(await look(), [both], 'a clock that was set back lengthens no rest');
  at.ms = 130_000;
  at.refuses = 503;
  await look();
  at.refuses = 0;
  at.mode = 'killed';
  assert.deepEqual(await look(), ['withdrawn']);
});
