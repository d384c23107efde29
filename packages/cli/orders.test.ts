// Trades by one command, as far as no market and no chain answers: files of them, what is told
// again, and options.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, open, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { keepOrder, readOrder, wordsOfOrder } from '@parley/trader/orders/kept.ts';
import { orderOf } from '@parley/trader/orders/order.ts';
import { placesOf, writePrivate } from '@parley/trader/places.ts';
import { type Profile, writeProfile } from '@parley/trader/profile.ts';
import type { Session } from '@parley/trader/session.ts';
import { phasesOf } from './order-lines.ts';
import { openOrderDesk, worstOf } from './orders.ts';
import { runParley } from './run.ts';
import { testIo } from './testing/io.ts';

const market = 'http://127.0.0.1:1';
const words = `${'abandon '.repeat(11)}about`;
const usd = { address: '0x5FbDB2315678afecb367f032d93F642f64180aa3', decimals: 6 };

let home: string;
let session: Session;
before(async () => {
  home = await mkdtemp(join(tmpdir(), 'parley-cli-orders-'));
  const places = placesOf({ HOME: home }, 'dev');
  const nodes = [market];
  const profile: Profile = {
    market,
    productName: 'Parley',
    shortName: 'parley',
    network: 'dev',
    keyFile: join(home, 'words'),
    chains: {
      bitcoin: { family: 'bitcoin', bitcoin: 'regtest', nodes, tokens: {} },
      evm: { family: 'evm', chainId: 31_337, nodes, tokens: { USD: usd } },
    },
  };
  await writePrivate(places.profileFile, writeProfile(profile));
  await writePrivate(join(home, 'words'), words);
  await writePrivate(places.account, JSON.stringify({ market, key: 'k', addresses: {} }));
  session = { places, profile, chain: (name: string) => profile.chains[name] } as never;
});
after(() => rm(home, { recursive: true, force: true }));

async function parley(...args: readonly string[]) {
  const { io, said } = testIo(home);
  const status = await runParley(args, io);
  return { status, ...said };
}

const sale = ['trade', 'sell', '0.01', 'btc', 'for', 'usd@evm'] as const;
const bounded = [...sale, '--at-least', '640'] as const;

test('an option that a subcommand does not take is refused, and --dry-run is never lost', async () => {
  for (const [args, sentence] of [
    [['trade', 'resume', '--dry-run'], /'--dry-run' is not of 'resume'/],
    [[...bounded, '--from-file', 'a.csv'], /'--from-file' is not of 'sell'/],
    [[...sale, '--at-most', '1'], /unknown option '--at-most'/],
    [['trade', 'sell', '0.01', 'btc', 'with', 'usd'], /Allowed choices are for/],
    [['trade', '--from-file', 'a.csv', '--results', './a.csv'], /over the trades/],
    [['trade'], /wants sell, buy or resume, or --from-file/],
    [[...bounded, '--wait', '4'], /from 5 to 43200/],
  ] as const) {
    const { status, err } = await parley(...args);
    assert.equal(status, 2, args.join(' '));
    assert.match(err, sentence);
  }
  // A trade that is asked for has a result, whatever comes of it.
  const dry = await parley(...bounded, '--dry-run', '--json');
  assert.deepEqual([dry.status, dry.out], [4, '']);
  const free = await parley(...sale);
  assert.equal(free.status, 7);
  assert.match(
    free.err,
    /"sell 0.01 bitcoin for evm:USD" has no bound, and --yes names none: give --at-least/,
  );
});

/** One of before whose swap has ended. */
async function endedOrder(id?: string) {
  const given = { side: 'sell', amount: '0.01', base: 'btc', quote: 'usd', id } as const;
  const order = orderOf(session, given);
  const swapId = `swap-${order.id.slice(0, 5)}`;
  const accepted = { threadId: 'thread', price: '641000000', at: 1 };
  const request = { key: 'k', body: {} as never, askedAt: 1, until: 61, rfqId: 'rfq' };
  await keepOrder(session, { ...wordsOfOrder(order), ...request, accepted, swapId });
  const file = join(session.places.ended, `${swapId}.json`);
  await writePrivate(file, JSON.stringify({ swapId, end: 'received', remains: null }));
  return order.id;
}

test('an end that was not told is told, and not traded again; a name is never traded again', async () => {
  const id = await endedOrder();
  const first = await parley(...bounded);
  assert.equal(first.status, 0, first.err);
  assert.match(
    first.out,
    /^received {2}sell 0.01 .* at 641 evm:USD, swap swap-.* \(of an earlier run/,
  );
  assert.equal(await readOrder(session, id), null);
  assert.equal((await parley(...bounded)).status, 4, 'another trade asks the market');
  await endedOrder('x');
  for (let run = 1; run <= 2; run += 1) {
    const { status, out } = await parley(...bounded, '--id', 'x', '--json');
    const { step, id: name, is, price } = JSON.parse(out);
    assert.deepEqual(
      [status, step, name, is, price],
      [0, 'result', 'x', 'received', '641 evm:USD'],
    );
  }
  const more = ['trade', 'sell', '0.02', 'btc', 'for', 'usd', '--at-least', '1'] as const;
  const other = await parley(...more, '--id', 'x');
  assert.match(other.err, /"x" names another trade already/);
  assert.equal((await parley('trade', 'resume')).out, 'no trade is open\n');
});

test('a trade that another process ends while the words are read is not traded again', async () => {
  const file = join(home, 'words');
  await rm(file);
  execFileSync('mkfifo', ['-m', '600', file]);
  const run = parley(...bounded, '--id', 'beside', '--json');
  const pipe = await open(file, 'w');
  await endedOrder('beside');
  await pipe.writeFile(words);
  await pipe.close();
  const { status, out } = await run;
  await rm(file);
  await writePrivate(file, words);
  assert.deepEqual([status, JSON.parse(out).isEarlier], [0, true]);
});

test('coins of an acceptance of an earlier run are not promised to another trade', async () => {
  const given = { side: 'sell', amount: '10', base: 'usd', quote: 'btc' } as const;
  const [before, order] = ['a', 'b'].map((id) => orderOf(session, { ...given, id }));
  const request = { key: 'k', body: {} as never, askedAt: 1, until: 61, rfqId: 'rfq' };
  const accepted = { threadId: 'thread', price: '1', at: 1 };
  const kept = { ...wordsOfOrder(before!), ...request, accepted, swapId: null };
  const one = { most: 1n };
  const adapter = {
    costs: async () => ({ fund: one, claim: one, refund: one, settlesFromAmount: false }),
    coins: async () => 9n,
    held: async () => 19_999_999n,
  };
  const own = {
    store: {},
    wallet: async (chain: string) => ({ family: session.chain(chain).family, address: 'own' }),
  };
  const { io } = testIo(home);
  const desk = openOrderDesk(
    { ...io, yes: true, json: false } as never,
    {
      session: { ...session, source: async () => ({ adapter }) },
      signed: {},
      own,
      kept: new Map([[kept.id, kept]]),
      unread: new Map(),
      mayAsk: true,
      phases: phasesOf(2),
    } as never,
  );
  await desk.begin([before!, order!]);
  const { code, sentence } = await desk.run(order!);
  await desk.end();
  assert.equal(code, 'lacking', sentence ?? '');
  assert.match(sentence ?? '', /beside 10 evm:USD of other swaps/);
});

test('a trade whose file is damaged is not traded again, and holds up no other', async () => {
  const csv = join(home, 'two.csv');
  const rowOf = (id: string) => `${id},sell,0.01,btc,usd@evm,640`;
  await writeFile(
    csv,
    `id,side,amount,base,quote,at_least\n${['told', 'bad'].map(rowOf).join('\n')}\n`,
  );
  const file = join(session.places.data, 'orders', 'id-bad.json');
  for (const [damage, why] of [
    [() => writeFile(file, '{"id":"id-b'), /id-bad.json is damaged: look at "parley swaps"/],
    [() => mkdir(file), /id-bad.json cannot be read: a folder has its name/],
  ] as const) {
    await endedOrder('told');
    await damage();
    const batch = await parley('trade', '--from-file', csv, '--at-once', '2');
    assert.equal(batch.status, 9, batch.err);
    assert.match(batch.out, /told +received .*\n?/);
    assert.match(batch.out, why);
    await endedOrder('told');
    const again = await parley('trade', 'resume');
    assert.deepEqual([again.status, again.out.includes('received')], [9, true], again.err);
    assert.match(again.err, why);
    await rm(file, { recursive: true });
  }
});

const head = 'id,side,amount,base,quote,at_least,at_most,wait,settled';

test('each bad row of a file is named by its line before any is asked', async () => {
  const csv = join(home, 'trades.csv');
  const rows = [
    'a,sell,0.01,btc,usd@evm,640,,,',
    '"b",buy,"640",usd@evm,btc,,0.0101,60,1',
    'a,sell,0.02,btc,usd@evm,1,,,',
    'c,hold,0.01,btc,usd@evm,1,,,',
    'd,sell,1e3,btc,usd@evm,1,,,',
    'e,sell,0.01,btc,usd@evm,,1,,',
    'f,sell,0.01,btc',
    ',sell,0.01,btc,usd@evm,1,,,',
    'g,sell,0.01,btc,doge,1,,,',
    'h,sell,0.01,btc,usd@evm,1,,soon,',
  ];
  await writeFile(csv, `\ufeff${head}\r\n\r\n${rows.join('\r\n')}\r\n`);
  const { status, err, out } = await parley('trade', '--from-file', csv);
  assert.deepEqual([status, out], [2, '']);
  assert.match(err, /has 8 bad rows of 10:/);
  for (const fault of [
    /line 5: id "a" is that of line 3/,
    /line 6: side is "hold"/,
    /line 7: "1e3" is no amount/,
    /line 8: to sell is bounded by "at least"/,
    /line 9: has 4 cells, and the head has 9/,
    /line 10: "id" is missing/,
    /line 11: the profile has no asset "doge": it has \w+, /,
    /line 12: "wait" must be a whole number, and is "soon"/,
  ]) {
    assert.match(err, fault);
  }
  const jsonl = join(home, 'trades.jsonl');
  const row = { id: 'a', side: 'sell', amount: '0.01', base: 'btc', quote: 'usd' };
  const lines = [{ ...row, amount: 0.01 }, { ...row, atLeast: '1' }, [row]];
  await writeFile(jsonl, `${lines.map((each) => JSON.stringify(each)).join('\n')}\n{\n`);
  const bad = await parley('trade', '--from-file', jsonl);
  assert.match(
    bad.err,
    /line 1: "amount" must be a text.*\n.*line 2: unknown key "atLeast".*\n.*line 3: is no object.*\n.*line 4: is no JSON/,
  );
  // Without a bound nobody has said which price is good.
  await writeFile(jsonl, JSON.stringify(row));
  for (const yes of [[], ['--yes']]) {
    const { status, err } = await parley('trade', '--from-file', jsonl, ...yes);
    assert.equal(status, 7);
    assert.match(err, /has no bound/);
  }
  await writeFile(jsonl, JSON.stringify({ ...row, at_least: '1' }));
  const good = await parley('trade', '--from-file', jsonl, '--dry-run', '--json');
  assert.deepEqual(JSON.parse(good.out).orders, [
    { id: 'a', what: 'sell 0.01 bitcoin for at least 1 evm:USD' },
  ]);
});

test('a file that is none, has other columns or too many rows is refused whole', async () => {
  const file = join(home, 'other.csv');
  for (const [text, sentence] of [
    [`${head},price\n`, /unknown column "price"/],
    ['id,side,amount,base\n', /no column "quote"/],
    [`${head},id\n`, /column "id" twice/],
    [`${head}\n`, /has no trades/],
    [`${head}\n"a`, /is no CSV/],
    [`${head}\n${'a,sell,1,btc,usd,1,,,\n'.repeat(1_001)}`, /has 1001 trades, and may have 1000/],
  ] as const) {
    await writeFile(file, text);
    const { status, err } = await parley('trade', '--from-file', file);
    assert.equal(status, 2);
    assert.match(err, sentence);
  }
  assert.match((await parley('trade', '--from-file', `${file}.txt`)).err, /must end in .csv/);
  assert.match((await parley('trade', '--from-file', 'gone.csv')).err, /there is no file/);
});

test('a file goes on with what is left of it, its results are written, the status is the worst', async () => {
  await endedOrder('done');
  const csv = join(home, 'rest.csv');
  const rows = ['done,sell,0.01,btc,usd,1', 'new,sell,0.01,btc,usd,1'];
  await writeFile(csv, `id,side,amount,base,quote,at_least\n${rows.join('\n')}\n`);
  const file = join(home, 'results.jsonl');
  const { status, out } = await parley('trade', '--from-file', csv, '--results', file);
  assert.equal(status, 4);
  assert.match(
    out,
    /done {2}received .*\nnew {2}market_unavailable .*\n2 trades: 1 received, 1 market_u/,
  );
  const written = (await readFile(file, 'utf8')).trim().split('\n');
  assert.deepEqual(
    written.map((line) => JSON.parse(line).is),
    ['received', 'market_unavailable'],
  );
  // Results that cannot be written end no other trade, and are told again.
  await endedOrder('full');
  const full = ['done,sell,0.01,btc,usd,1', 'full,sell,0.01,btc,usd,1'];
  await writeFile(csv, `id,side,amount,base,quote,at_least\n${full.join('\n')}\n`);
  const unkept = await parley('trade', '--from-file', csv, '--results', join(csv, 'r'));
  assert.match(unkept.out, /received .*\n.*received .*\n2 trades: 2 received/);
  assert.match(unkept.err, /EEXIST|ENOTDIR/);
  assert.match((await parley('trade', 'resume')).out, /^received/);
  for (const [statuses, wanted] of [
    [[0, 0], 0],
    [[0, 10], 10],
    [[10, 8, 0], 8],
    [[8, 5], 5],
    [[7, 8], 8],
  ] as const) {
    assert.equal(worstOf(statuses.map((each) => ({ status: each }))), wanted);
  }
});
