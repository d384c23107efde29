import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { bytesToHex } from '@noble/hashes/utils.js';
import { runs } from '@parley/verify/test/support/runs.ts';
import fc from 'fast-check';
import { firstSince } from './events.ts';
import { type Http, httpClient } from './http.ts';
import { type Block, headBlock, isSame, pricesOf } from './node.ts';
import { firstFrom } from './receipts.ts';
import { deploy, funder, newcomer, newLeg } from './testing/chain.ts';
import { tronWorld } from './testing/world.ts';
import {
  allowanceOf,
  energyPrice,
  isContract,
  type Moment,
  momentOf,
  solidBlock,
  sunOf,
  tokenBalance,
  wordsOf,
} from './views.ts';

const { chain, urlOf, adapterOver } = await tronWorld();
/** Burns up to 5 million of energy, else answers a word; fails and says one; answers one. */
const bad: string[] = [];
before(async () => {
  for (const code of [
    '63004c4b405a11600e575b600a565b602a60005260206000f3',
    '602a60005260206000fd',
    '602a60005260206000f3',
  ]) {
    bad.push(await deploy(chain, code));
  }
});

const signal = () => AbortSignal.timeout(60_000);
const unused = newcomer();
const asked: string[] = [];
function client(url: string): Http {
  const http = httpClient({ chain: 'tron-dev', sources: [{ url }] });
  const call: Http['call'] = (path, body, until) => {
    asked.push(path);
    return http.call(path, body, until);
  };
  return { ...http, call };
}

const asView = (http: Http | Moment, to = '') =>
  wordsOf(http, 'head', to, '00'.repeat(40), 1, signal());

async function all(http: Http | Moment) {
  const token = chain.token('DevDollar');
  const { contract } = chain.deployment;
  const [, fails, answers] = bad;
  const settled = await Promise.allSettled([
    tokenBalance(http, 'head', token, funder.address, signal()),
    asView(http, fails),
    asView(http, answers),
    allowanceOf(http, token, funder.address, contract, signal()),
    isContract(http, token, signal()),
    isContract(http, funder.address, signal()),
    sunOf(http, funder.address, signal()),
    sunOf(http, unused, signal()),
    asView(http, unused),
  ]);
  return settled.map((each) => (each.status === 'fulfilled' ? each.value : 'refused'));
}

test('views of one moment go in one call, say what each says alone, and none spoils another', async () => {
  const http = client(chain.url);
  const moment = momentOf(http);
  const burning = asView(moment, bad[0]);
  const together = await all(moment);
  assert.deepEqual(await burning, [42n]);
  assert.equal(asked.length, 4, 'and one for each that fails there');
  assert.deepEqual(together.slice(1, 3), ['refused', [42n]]);
  const seen = moment.seen('head');
  const head = await headBlock(http, 'head', signal());
  assert.ok(seen !== null && isSame(seen, head));
  assert.equal(isSame({ ...seen, timestampMs: seen.timestampMs + 1_000 }, head), false);
  assert.equal(isSame({ ...seen, parentHash: head.hash }, head), false);
  asked.splice(0);
  assert.deepEqual(together, await all(http));
  asked.splice(0);
  await Promise.all([headBlock(moment, 'head', signal()), headBlock(moment, 'head', signal())]);
  await all(moment);
  const { energySun } = await pricesOf(client(chain.url), signal());
  assert.equal(await energyPrice(moment, signal()), energySun);
  const again = ['wallet/triggerconstantcontract', 'wallet/triggerconstantcontract'];
  const fresh = ['wallet/getnowblock', ...again, 'wallet/getchainparameters'];
  assert.deepEqual(asked.splice(0), fresh);
});

test('the solid block that comes with views is one below the newest', async () => {
  const http = client(chain.url);
  const moment = momentOf(http);
  const newest = await solidBlock(moment, signal());
  assert.equal(newest.hash, (await headBlock(http, 'solid', signal())).hash);
  await tokenBalance(moment, 'solid', chain.token('DevDollar'), funder.address, signal());
  const { number, parentHash } = await headBlock(http, 'solid', signal());
  assert.deepEqual(await solidBlock(moment, signal()), { number: number - 1, hash: parentHash });
});

test('a node that runs no code of a contract that is never made is asked view by view', async () => {
  let refused = 0;
  const url = await urlOf(({ path, body }, forward) => {
    const isOurs = path === 'wallet/triggerconstantcontract' && body.contract_address === undefined;
    if (!isOurs) return forward();
    refused += 1;
    const message = bytesToHex(new TextEncoder().encode('no contract'));
    return { body: { result: { code: 'CONTRACT_VALIDATE_ERROR', message } } };
  });
  const http = client(url);
  const first = momentOf(http);
  assert.deepEqual(await all(first), await all(http));
  assert.equal(first.seen('head'), null);
  const { energySun } = await pricesOf(http, signal());
  assert.equal(await energyPrice(first, signal()), energySun);
  const second = momentOf(http);
  assert.equal(second.isTogether, false);
  await all(second);
  assert.equal(refused, 1, 'it is remembered');
});

test('beside a look nothing is asked again that the look has asked, nor twice what it has not', async () => {
  let count = 0;
  const adapter = await adapterOver((_, forward) => {
    count += 1;
    return forward();
  });
  const asked = async (work: Promise<unknown>) => {
    const before = count;
    await work;
    return count - before;
  };
  const of = { contract: chain.deployment.contract, owner: funder.address };
  const { escrow } = newLeg(chain, { token: chain.token('DevDollar') });
  const lanes = [escrow.terms.lane?.number ?? ''];
  await adapter.heads(signal());
  const looking = adapter.look([escrow], signal());
  assert.equal(
    await asked(looking),
    2,
    'the views of the newest block, and of the newest solid one',
  );
  const { heads } = await looking;
  const asks = () => adapter.at?.(heads) ?? adapter;
  assert.equal(await asked(asks().lanes!.read(of, lanes, signal())), 0);
  const other = ['1'];
  assert.equal(await asked(asks().lanes!.read(of, other, signal())), 1);
  assert.equal(await asked(asks().lanes!.read(of, other, signal())), 0);
  assert.equal(await asked(adapter.lanes!.read(of, lanes, signal())), 1);
  const whole = await asked(adapter.preflight(escrow.terms, 'funding', signal()));
  const rest = await asked(asks().preflight(escrow.terms, 'funding', signal()));
  assert.ok(rest < whole, `${rest} of ${whole}`);
});

/** Block `n` is of the `n`th of these seconds. */
type Seconds = readonly number[];

const idOf = (number: number) => (number + 1).toString(16).padStart(64, '0');

function blockOf(seconds: Seconds, number: number): Block {
  const timestampMs = (seconds[number] as number) * 1_000 + (number % 1_000);
  return { number, hash: idOf(number), parentHash: idOf(number - 1), timestampMs, txs: [] };
}

function chainOf(seconds: Seconds) {
  const asked: number[] = [];
  const call = async (path: string, { num }: { readonly num: number }) => {
    assert.equal(path, 'wallet/getblockbynum');
    asked.push(num);
    if (num < 0 || num >= seconds.length) return {};
    const { hash, parentHash, number, timestampMs: timestamp } = blockOf(seconds, num);
    return { blockID: hash, block_header: { raw_data: { number, parentHash, timestamp } } };
  };
  const http = { call } as unknown as Http;
  const head = blockOf(seconds, seconds.length - 1);
  const find = async (second: number) =>
    (await firstFrom({ http }, second, head, AbortSignal.timeout(60_000)))?.number;
  return { asked, find, http, head };
}

test('swaps of the same ten minutes share the search for their first block, ten minutes before', async () => {
  const { asked, http, head } = chainOf(everySlot(2_000));
  const watch = { http, starts: new Map<number, number>() };
  const tenMinutes = start - (start % 600) + 3_600;
  const firstOf = (since: number) => firstSince(watch, since, head, AbortSignal.timeout(60_000));
  const first = await firstOf(tenMinutes + 599);
  const questions = asked.length;
  assert.equal(first, Math.ceil((tenMinutes - 600 - start) / 3));
  assert.equal(await firstOf(tenMinutes), first);
  assert.equal(asked.length, questions);
  assert.notEqual(await firstOf(tenMinutes - 1), first);
});

const start = 1_700_000_000;

const everySlot = (count: number): Seconds =>
  Array.from({ length: count }, (_, n) => start + 3 * n);

for (const [what, seconds, numbers, most] of [
  // It, and the one before, which is older.
  ['where no slot was missed', everySlot(100_000), [0, 1, 50_000, 99_998, 99_999], 3],
  // Eight guesses and seventeen halves.
  ['after missed slots and a standstill', missing(), [0, 3, 59_999, 60_000, 60_002, 99_990], 26],
] as const) {
  test(`${what} a block is found within ${most} questions, however old`, async () => {
    for (const number of numbers) {
      const { asked, find } = chainOf(seconds);
      assert.equal(await find(seconds[number] as number), number);
      assert.ok(asked.length <= most, `block ${number}: ${asked.length}`);
    }
  });
}

/** Every seventh slot, and a day. */
function missing(): Seconds {
  const seconds: number[] = [];
  let at = start;
  for (let n = 0; n < 100_000; n += 1) {
    seconds.push(at);
    at += n % 7 === 0 ? 6 : 3;
    if (n === 60_000) at += 86_400;
  }
  return seconds;
}

test('a node that lacks a block tells nothing rather than something wrong', async () => {
  const head = blockOf(everySlot(200), 199);
  const http = { call: async () => ({}) } as unknown as Http;
  for (const second of [start + 3, Math.floor(head.timestampMs / 1_000)]) {
    assert.equal(await firstFrom({ http }, second, head, AbortSignal.timeout(60_000)), null);
  }
});

test('on every chain the first block from a second on is found, within the questions that halving takes', async () => {
  const gaps = fc.array(fc.constantFrom(0, 0, 1, 3, 3, 3, 3, 6, 30, 5_000), {
    minLength: 1,
    maxLength: 300,
  });
  await fc.assert(
    fc.asyncProperty(gaps, fc.nat(), fc.nat(400), async (some, which, off) => {
      let at = start;
      const seconds = some.map((gap) => (at += gap));
      const wanted = off < 300 ? (seconds[which % seconds.length] as number) : start + off;
      const expected = seconds.findIndex((each) => each >= wanted);
      const { asked, find } = chainOf(seconds);
      assert.equal((await find(wanted)) ?? -1, expected);
      const most = 8 + Math.ceil(Math.log2(seconds.length + 1)) + 2;
      assert.ok(asked.length <= most, `${asked.length} of ${most}`);
    }),
    { numRuns: runs(300) },
  );
});
