// The first steps of `parley settle`, with swaps in different states. No chain and no market
// answers: the keys of these swaps are of other words, so each is driven until that is found.

import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileStore } from '@parley/sdk/stores/file.ts';
import { keptRecord } from '@parley/sdk/testing/honest.ts';
import { placesOf, writePrivate } from '@parley/trader/places.ts';
import { type Profile, writeProfile } from '@parley/trader/profile.ts';
import { countdown, type Now } from './drive.ts';
import { runParley } from './run.ts';
import { testIo } from './testing/io.ts';

let home: string;
before(async () => {
  home = await mkdtemp(join(tmpdir(), 'parley-cli-settle-'));
});
after(() => rm(home, { recursive: true, force: true }));

const words = 'legal winner thank year wave sausage worth useful legal winner thank yellow';
const funded = 'funded';
const fresh = 'fresh';
const damaged = 'damaged';
const nodes = ['http://127.0.0.1:1'];
const chains = {
  'bitcoin-regtest': { family: 'bitcoin', bitcoin: 'regtest', nodes, tokens: {} },
  'evm-dev': { family: 'evm', chainId: 31_337, nodes, tokens: {} },
} as const;
const named = { market: nodes[0] ?? '', productName: 'Parley', shortName: 'parley' };

/** A profile with these swaps. */
async function profileWith(
  name: string,
  ids: readonly string[],
  market = named.market,
): Promise<string> {
  const { profileFile, data, store, account } = placesOf({ HOME: home }, name);
  const keyFile = join(data, 'words');
  const profile: Profile = { ...named, market, network: 'dev', chains, keyFile };
  await writePrivate(profileFile, writeProfile(profile));
  await writePrivate(keyFile, words);
  if (market !== named.market)
    await writePrivate(account, JSON.stringify({ market, key: 'k', addresses: {} }));
  const kept = await fileStore(store);
  const record = keptRecord('taker');
  const funding = { txid: 'ab'.repeat(32), raw: '00' };
  for (const id of ids) {
    const swap = { ...record.swap, id };
    await kept.putSwap({ ...record, swap, ...(id === funded ? { funding } : {}) });
    if (id === damaged) await writeFile(join(store, 'swaps', id), '{');
  }
  return store;
}

/** Called once a swap of other words has been looked at. */
let heard = () => {};

/** `answer`: the person's answer, once a swap that needs none has been reported; null: no person is
 * there. */
async function settled(name: string, args: readonly string[], answer: string | null = null) {
  let asked = 0;
  let tellAsked = () => {};
  const { io, said } = testIo(home, {
    isAsked: answer !== null,
    out: (text) => {
      said.out += text;
      if (!text.includes(`"${funded}"`) || !text.includes('foreign_key')) return;
      tellAsked();
      heard();
    },
    ask: async () => {
      asked += 1;
      if (args[0] === 'settle' && !said.out.includes('foreign_key')) {
        await new Promise<void>((next) => {
          tellAsked = next;
        });
      }
      return answer ?? '';
    },
  });
  const status = await runParley([...args, '--profile', name, '--json'], io);
  return { ...said, asked, status };
}

test('a funded swap goes on while a person thinks about another one', async () => {
  await profileWith('one', [funded, fresh]);
  const { status, out, err, asked } = await settled('one', ['settle'], 'n');
  assert.equal(asked, 1);
  // Its question was held back until the funded one had been looked at.
  assert.match(out, new RegExp(`"swapId":"${funded}".*"code":"foreign_key"`));
  assert.doesNotMatch(out, new RegExp(fresh));
  assert.match(err, /"code":"declined"/);
  assert.equal(status, 7);
});

test('a question without a person holds up swaps that need no answer as little', async () => {
  await profileWith('two', [funded, fresh]);
  const { status, out, err, asked } = await settled('two', ['settle']);
  assert.match(out, new RegExp(`"swapId":"${funded}".*"code":"foreign_key"`));
  assert.match(err, /"code":"not_asked"/);
  assert.deepEqual([status, asked], [7, 0]);
  const only = await settled('two', ['settle', funded]);
  assert.doesNotMatch(only.err, /not_asked/);
});

test('one record that cannot be read ends neither settling nor the list of the others', async () => {
  await profileWith('three', [damaged, funded]);
  const both = await settled('three', ['settle']);
  assert.match(both.err, new RegExp(`swap ${damaged} is left out: .*not readable`));
  assert.match(both.out, new RegExp(`"swapId":"${funded}"`));
  assert.equal(both.status, 7);
  const alone = await settled('three', ['settle', damaged]);
  assert.deepEqual([alone.status, alone.out], [9, '']);
  const { status, out } = await settled('three', ['swaps']);
  const { swaps } = JSON.parse(out) as { swaps: { swapId: string; is: string }[] };
  const is = Object.fromEntries(swaps.map((each) => [each.swapId, each.is]));
  assert.deepEqual([status, is], [0, { [damaged]: 'unreadable', [funded]: 'open' }]);
});

test('signed claims are of a swap that is kept, and a file of them is looked at before it is watched', async () => {
  await profileWith('claims', [funded]);
  const file = join(home, 'claims.json');
  const unknown = await settled('claims', ['claims', 'save', fresh, file]);
  assert.match(unknown.err, /unknown_swap/);
  const missing = await settled('claims', ['claims', 'watch', file]);
  assert.match(missing.err, /there is no file/);
  await writeFile(file, '{}');
  const other = await settled('claims', ['claims', 'watch', file]);
  assert.match(other.err, /no file of signed claims/);
  assert.deepEqual([unknown.status, missing.status, other.status], [7, 2, 9]);
});

test('a swap that was given up is not asked about again', async () => {
  await profileWith('four', [funded]);
  const first = await settled('four', ['refund', funded], 'y');
  const again = await settled('four', ['refund', funded], 'y');
  assert.deepEqual([first.asked, again.asked], [1, 0]);
  // Words of another wallet: the sentence says what to do.
  assert.match(again.out, /rescue from FILE --words/);
});

test('a swap is given up by one answer, and each settling after it goes on with that', async () => {
  const store = await profileWith('six', [funded, fresh]);
  const no = await settled('six', ['give-up', fresh], 'n');
  assert.match(no.err, /"code":"declined"/);
  const yes = await settled('six', ['give-up', fresh], 'y');
  const again = await settled('six', ['settle', fresh]);
  assert.deepEqual([yes.asked, again.asked], [1, 0]);
  assert.doesNotMatch(again.err, /not_asked/);
  assert.equal((await (await fileStore(store)).getSwap(funded))?.givenUp, undefined);
});

test('a swap accepted here and agreed since is in the list before it is begun', async () => {
  const { trade } = keptRecord('taker');
  const one = {
    id: 'one',
    threadId: trade.threadId,
    status: 'agreed',
    createdAt: '2026-03-14T09:26:53Z',
  };
  const strange = { id: 'strange', threadId: 'of-another-profile', status: 'agreed' };
  await withMarket(
    () => ({ swaps: [one, strange], nextCursor: null }),
    async (market) => {
      const store = await fileStore(await profileWith('five', [funded], market));
      await store.putTrade(trade);
      const { out } = await settled('five', ['swaps']);
      const { swaps } = JSON.parse(out) as { swaps: { swapId: string; is: string }[] };
      const is = Object.fromEntries(swaps.map((each) => [each.swapId, each.is]));
      assert.deepEqual(is, { [funded]: 'open', one: 'agreed' });
    },
  );
});

/** A market that answers by the path, for as long as the work lasts. */
async function withMarket(
  answerTo: (url: URL) => object | Promise<object>,
  work: (market: string) => Promise<void>,
): Promise<void> {
  const server = createServer(async (request, response) => {
    response.end(JSON.stringify(await answerTo(new URL(request.url ?? '', 'http://market'))));
  });
  await new Promise<void>((next) => server.listen(0, '127.0.0.1', next));
  try {
    await work(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  } finally {
    server.close();
  }
}

test('a trade drives the funded swaps of before along, and begins none', async () => {
  const looked = Promise.withResolvers<void>();
  heard = looked.resolve;
  // The trade ends once the market lists no asset: it waits for the other swap here.
  const answerTo = async ({ pathname }: URL) => {
    if (pathname.endsWith('/assets')) await looked.promise;
    return { assets: [], swaps: [], nextCursor: null };
  };
  await withMarket(answerTo, async (market) => {
    await profileWith('along', [funded, fresh], market);
    const sale = ['trade', 'sell', '0.01', 'btc', 'for', 'eth', '--at-least', '1'];
    const { status, out, err } = await settled('along', sale);
    assert.match(out, new RegExp(`"swapId":"${funded}".*"code":"foreign_key"`));
    assert.doesNotMatch(out, new RegExp(`"swapId":"${fresh}"`));
    assert.match(err, /agreed before and not begun: 1\. "parley settle" funds them/);
    assert.deepEqual(
      [status, JSON.parse(out.trim().split('\n').at(-1) ?? '').code],
      [7, 'not_listed'],
    );
  });
});

test('the book is asked for accounts with so many settled swaps', async () => {
  let asked: URLSearchParams | null = null;
  const answerTo = ({ pathname, searchParams }: URL) => {
    if (!pathname.endsWith('/rfqs')) return { assets: [], nextCursor: null };
    asked = searchParams;
    return { rfqs: [], nextCursor: null };
  };
  await withMarket(answerTo, async (market) => {
    await profileWith('seven', [], market);
    const { status } = await settled('seven', ['book', '--settled', '3']);
    assert.deepEqual([status, (asked ?? new Map()).get('minSettled')], [0, '3']);
    assert.equal((await settled('seven', ['book', '--settled', '0'])).status, 2);
  });
});

test('a person sees the time left to the next deadline of all swaps', () => {
  const { swap, trade } = keptRecord('taker');
  const { counterpartyFundBy, initiatorFundBy, refundAt, revealBy } = swap.deadlines;
  const shown = { trade, swap };
  const of = (role: typeof swap.role) => ({ trade, swap: { ...swap, role } });
  const at = (each: Now, now: number) => countdown(new Map([['swap-12345678', each]]), now);
  for (const [each, what, due] of [
    [{ state: 'funding', shown: of('initiator') }, 'fund by', initiatorFundBy],
    [{ state: 'preparing', shown: of('counterparty') }, 'fund by', counterpartyFundBy],
    [{ state: 'funded', shown: of('initiator') }, 'claim by', revealBy],
    [{ state: 'funded', shown: of('counterparty') }, 'refund from', refundAt.b],
    [{ state: 'claiming', shown }, 'claim by', refundAt.a],
    [{ state: 'refunding', shown }, 'refund from', refundAt.b],
  ] as const) {
    assert.equal(at(each, due - 90_061), `…12345678  ${what} 25:01:01`);
    assert.equal(at(each, due), '');
  }
  assert.equal(at({ state: 'received', shown }, 0), '');
  const both: [string, Now][] = [
    ['late', { state: 'refunding', shown }],
    ['soon', { state: 'funding', shown: of('initiator') }],
  ];
  assert.match(countdown(new Map(both), initiatorFundBy - 5), /^…soon {2}fund by 0:00:05$/);
});
