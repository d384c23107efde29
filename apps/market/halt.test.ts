// The kill switch as operators use it: a program against a real database and a running market.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { type Commands, startCommands } from '@parley/verify/test/support/commands.ts';
import type { Frame } from './edge/testing/feed-client.ts';
import { type FeedMarket, feedMarket } from './edge/testing/feed-market.ts';

const run = promisify(execFile);
let market: FeedMarket;
let commands: Commands;

before(async () => {
  commands = startCommands();
  market = await feedMarket();
});
after(() => Promise.all([market.close(), commands.stop()]));

const cli = (...args: string[]) =>
  commands.run('apps/market/ops.ts', args, { DATABASE_URL: market.url });

test('halt and resume of a chain: a running market tells its makers, its book and its list', async () => {
  const taker = await market.trader();
  const maker = await market.maker(await market.trader());
  const rfq = await market.rfq(taker);
  const kinds = () =>
    maker.frames
      .filter((frame: Frame) => frame.type === 'rfq' && frame.rfq.id === rfq.id)
      .map(({ kind }: Frame) => kind);
  await maker.frame(() => kinds().length === 1);
  assert.match((await cli('halt', 'list')).out, /^no halt is in force$/m);
  const halted = await cli('halt', '--chain', 'evm-dev', '--reason', 'its nodes disagree');
  assert.deepEqual([halted.code, halted.err], [0, '']);
  assert.equal(halted.out, 'halted chain evm-dev with its 2 assets: 1 RFQ left the book\n');
  await maker.frame(() => kinds().length === 2);
  const { body } = await taker.get('/v1/assets?enabled=true');
  assert.deepEqual(
    body.assets.map((each: { chain: string }) => each.chain),
    ['bitcoin'],
  );
  await cli('halt', '--asset', 'bitcoin/native', '--reason', 'none yet');
  const first = (await cli('halt', 'list')).out.match(/BTC\) {2}since (\S+Z):/)?.[1] ?? '';
  await cli('halt', '--asset', 'bitcoin/native', '--reason', 'fees');
  // As a program of its own, which has to end by itself.
  const program = [join(import.meta.dirname, 'ops.ts'), 'halt', 'list'];
  const env = { ...process.env, DATABASE_URL: market.url };
  const listed = await run(process.execPath, program, { env, timeout: 60_000 });
  const list = listed.stdout.trim().split('\n');
  assert.match(list[0] ?? '', /^chain {2}evm-dev {2}since \d{4}-.*Z: its nodes disagree$/);
  assert.match(list[1] ?? '', /^asset {2}bitcoin\/native \(BTC\) {2}since \d{4}-.*Z: fees$/);
  assert.ok(list[1]?.includes(first), 'another reason does not make it a later halt');
  await cli('resume', '--chain', 'evm-dev');
  assert.equal(kinds().length, 2);
  const resumed = await cli('resume', '--asset', 'BTC');
  assert.match(resumed.out, /^resumed BTC on bitcoin \(asset .*\): 1 RFQ came back to the book$/m);
  await maker.frame(() => kinds().length === 3);
  assert.deepEqual(kinds(), ['created', 'cancelled', 'created']);
  maker.close();
});

test('a switch that names nothing is refused, and one that is not understood says how', async () => {
  const unknown = await cli('halt', '--chain', 'evmdev', '--reason', 'x');
  assert.equal(unknown.code, 1);
  assert.match(unknown.err, /no asset is of a chain "evmdev"; there are: bitcoin, evm-dev/);
  const nobody = await cli('halt', '--asset', 'NONE', '--reason', 'x');
  assert.equal(nobody.code, 1);
  assert.match(nobody.err, /^there is no asset NONE: npm run ops -- assets list shows all\n$/);
  const wrong: [string[], RegExp][] = [
    [[], /^usage/],
    [['halt'], /one of --chain and --asset/],
    [['halt', '--chain', 'evm-dev'], /halt needs a --reason/],
    [['halt', '--chain', 'evm-dev', '--reason', 'a\nb'], /on one line/],
  ];
  for (const [args, why] of wrong) {
    const { code, out, err } = await cli(...args);
    assert.deepEqual([code, out], [2, ''], args.join(' '));
    assert.match(err, why);
    assert.match(err, /usage: npm run ops/);
  }
});
