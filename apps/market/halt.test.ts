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
  const again = await cli('halt', '--chain', 'evm-dev', '--reason', 'its nodes disagree');
  assert.deepEqual([again.code, again.out], [0, 'nothing to do: chain evm-dev is halted\n']);
  const since = (await cli('halt', 'list')).out.match(/since (\S+Z):/)?.[1] ?? '';
  const other = await cli('halt', '--chain', 'evm-dev', '--reason', 'a fork');
  const was = 'before it was: its nodes disagree';
  const stays = `chain evm-dev with its 2 assets stays halted since ${since}, with this reason now; ${was}\n`;
  assert.deepEqual([other.code, other.out], [0, stays]);
  await cli('halt', '--chain', 'evm-dev', '--reason', 'its nodes disagree');
  await cli('halt', '--asset', 'bitcoin/native', '--reason', 'none yet');
  const first = (await cli('halt', 'list')).out.match(/BTC\) {2}since (\S+Z):/)?.[1] ?? '';
  const native = await cli('halt', '--asset', 'bitcoin/native', '--reason', 'fees', '--json');
  assert.deepEqual(JSON.parse(native.out).before, { since: first, reason: 'none yet' });
  assert.equal(JSON.parse(native.out).changed, true);
  // As a program of its own, which has to end by itself.
  const program = [join(import.meta.dirname, 'ops.ts'), 'halt', 'list'];
  const env = { ...process.env, DATABASE_URL: market.url };
  const listed = await run(process.execPath, program, { env, timeout: 60_000 });
  const list = listed.stdout.trim().split('\n');
  assert.match(list[0] ?? '', /^chain {2}evm-dev {2}since \d{4}-.*Z: its nodes disagree$/);
  assert.match(list[1] ?? '', /^asset {2}bitcoin\/native \(BTC\) {2}since \d{4}-.*Z: fees$/);
  assert.ok(list[1]?.includes(first), 'another reason does not make it a later halt');
  const json = (await cli('halt', 'list', '--json')).out.trim().split('\n');
  assert.equal(JSON.parse(json[1] ?? '').assetId, market.assets.btc.id);
  await cli('resume', '--chain', 'evm-dev');
  assert.equal(kinds().length, 2);
  const resumed = await cli('resume', '--asset', 'BTC');
  assert.match(resumed.out, /^resumed BTC on bitcoin \(asset .*\): 1 RFQ came back to the book$/m);
  await maker.frame(() => kinds().length === 3);
  assert.deepEqual(kinds(), ['created', 'cancelled', 'created']);
  const shown = (await taker.get('/v1/rfqs')).body.rfqs[0];
  assert.deepEqual([shown.id, shown.createdAt], [rfq.id, rfq.createdAt]);
  const nothing = await cli('resume', '--chain', 'evm-dev');
  assert.deepEqual(
    [nothing.code, nothing.out],
    [0, 'nothing to do: chain evm-dev is not halted\n'],
  );
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
    [['halt', '--chain', 'a', '--asset', 'b', '--reason', 'x'], /one of --chain and --asset/],
    [['halt', '--chain', 'evm-dev'], /halt needs a --reason/],
    [['halt', '--chain', 'evm-dev', '--reason', 'a\nb'], /on one line/],
    [['resume', '--chain', 'evm-dev', '--reason', 'a'], /--reason does not go with resume/],
    [['halt', 'evm-dev', '--reason', 'x'], /not understood: evm-dev/],
    [['halt', 'list', '--chain', 'evm-dev'], /list takes --json alone/],
    [['halt', '--quickly'], /--quickly/],
  ];
  for (const [args, why] of wrong) {
    const { code, out, err } = await cli(...args);
    assert.deepEqual([code, out], [2, ''], args.join(' '));
    assert.match(err, why);
    assert.match(err, /usage: npm run ops/);
  }
});
