// Which of several nodes is asked: one that stands still comes last and gets its place back, and no
// head that a node makes up takes the place from one whose own block is of this moment.

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { evmNodes } from '../evm/node.ts';
import { solanaNodes } from '../solana/node.ts';
import { nodeOf, within } from '../testing/nodes.ts';
import { tronNodes } from '../tron/node.ts';
import { type Head, headsEveryMs, silentMs } from './heads.ts';
import { inTurn, type Question } from './in-turn.ts';
import { type Client, wellSources } from './sources.ts';

const never = new AbortController().signal;
const nowSeconds = 1_000_000;
/** Heads of a chain whose blocks are of long ago, so that heights alone count. */
const old = (height: number): Head => ({ height, time: 0 });
const fresh = (height: number): Head => ({ height, time: nowSeconds - 3 });

type Says = Head | 'nothing' | 'no';

/** Nodes by what each says of its head, a clock that the test moves, and whom a call asked. */
function world(...says: Says[]) {
  const clock = { ms: 0 };
  const lookedAt: number[] = [];
  const failing = new Set<number>();
  let asked: number[] = [];
  const nodes = inTurn({
    chain: 'evm-dev',
    urls: says.map((_, at) => `http://${at}.example`),
    rounds: 2,
    heads: {
      blocks: 12,
      seconds: 60,
      read: async (at) => {
        lookedAt.push(at);
        const said = says[at];
        if (said === 'nothing') return new Promise(() => {});
        if (said === 'no' || said === undefined) throw new Error('no head');
        return said;
      },
    },
    elapsedMs: () => clock.ms,
    now: () => nowSeconds,
  });
  const question: Question<number> = {
    name: 'a word',
    facts: {},
    worth: () => 'another node',
    ask: async (at) => {
      asked.push(at);
      if (failing.has(at)) throw new Error('not now');
      return at;
    },
  };
  const places = async () => {
    asked = [];
    await nodes.ask(question, never).catch(() => {});
    return asked;
  };
  const later = async () => {
    clock.ms += headsEveryMs;
    return places();
  };
  return { says, clock, lookedAt, failing, nodes, places, later };
}

test('a node that stands still is asked last, and in its place again once it is well', async () => {
  const { says, places, later, clock, nodes } = world(old(100), old(112));
  assert.deepEqual(await places(), [0], 'as far behind as it may be');
  says[1] = old(113);
  assert.deepEqual(await places(), [0], 'not yet looked at again');
  assert.deepEqual(await later(), [1]);
  assert.deepEqual(await nodes.order(never), { first: [1], last: [0] });
  says[0] = old(113);
  clock.ms += headsEveryMs - 1;
  assert.deepEqual(await places(), [1]);
  clock.ms += 1;
  assert.deepEqual(await places(), [0]);
});

test('a node that failed comes after the others until its head is heard again', async () => {
  const { says, failing, places, later } = world(old(100), old(100), old(100));
  failing.add(0);
  assert.deepEqual(await places(), [0, 1]);
  assert.deepEqual(await places(), [1]);
  says[0] = 'no';
  failing.delete(0);
  assert.deepEqual(await later(), [1], 'silent about its head');
  says[0] = old(100);
  assert.deepEqual(await later(), [0]);
});

test('a backup that is behind is asked when no other answers in any round, and never stays', async () => {
  const { says, failing, places, later } = world(old(100), old(2));
  failing.add(0);
  assert.deepEqual(await places(), [0, 0, 1]);
  failing.delete(0);
  assert.deepEqual(await places(), [0]);
  // The first node's head stays known while it is silent.
  says[0] = 'no';
  assert.deepEqual(await later(), [0]);
  failing.add(0);
  assert.deepEqual(await places(), [0, 1]);
});

test('no head of another takes the place from a node whose own block is of this moment', async () => {
  const absurd = { height: 10 ** 9, time: nowSeconds };
  assert.deepEqual(await world(fresh(100), absurd).places(), [0]);
  const { nodes } = world(absurd, fresh(100));
  assert.deepEqual(await nodes.order(never), { first: [0, 1], last: [] });
  const stopped = world(old(100), absurd);
  assert.deepEqual(await stopped.places(), [1]);
  stopped.says[1] = old(100);
  assert.deepEqual(await stopped.later(), [0], 'for as long as it is said');
  // A head with a time far from this moment counts where another comes near it.
  assert.deepEqual(await world(old(100), old(10 ** 9), old(101)).places(), [0]);
  assert.deepEqual(await world(old(100), fresh(500), old(101)).places(), [1]);
});

test('a chain whose clock is ahead of ours hides no node that stands still, now or later', async () => {
  const ahead = (height: number, seconds: number) => ({ height, time: nowSeconds + seconds });
  const { says, later } = world(ahead(100, 20), ahead(113, 33));
  assert.deepEqual(await later(), [1]);
  says[0] = ahead(100, 0);
  says[1] = ahead(133, 20);
  assert.deepEqual(await later(), [1], 'our clock has come to its head, which stood');
  says[0] = ahead(101, 1);
  assert.deepEqual(await later(), [0], 'it goes on');
});

test('heads are asked of all at once, by calls that come then, and of a lone node never', async () => {
  const { says, lookedAt, places, later, clock } = world(old(1), old(1));
  assert.deepEqual(lookedAt, []);
  await Promise.all([places(), places()]);
  clock.ms += headsEveryMs - 1;
  await places();
  assert.deepEqual(lookedAt, [0, 1]);
  says[1] = 'nothing';
  await later();
  assert.deepEqual(lookedAt, [0, 1, 0, 1]);
  const alone = world(old(1));
  assert.deepEqual([await alone.places(), alone.lookedAt], [[0], []]);
});

test('a node that names no head is asked again soon, and ever less often', async () => {
  const { says, lookedAt, places, clock } = world('no', old(100));
  await places();
  const asked: number[] = [];
  for (let second = 1; second <= 26; second += 1) {
    clock.ms += silentMs;
    lookedAt.length = 0;
    await places();
    if (lookedAt.length > 0) asked.push(second);
  }
  assert.deepEqual(asked, [1, 3, 6, 10, 15, 21]);
  says[0] = old(100);
  clock.ms += headsEveryMs;
  assert.deepEqual(await places(), [0]);
  lookedAt.length = 0;
  clock.ms += headsEveryMs - 1;
  await places();
  assert.deepEqual(lookedAt, []);
});

test('two that are well are compared without a third that is not; of two none is left out', async () => {
  const comparedOf = async (...says: Says[]) => {
    const { nodes } = world(...says);
    const ask = async (at: number) => at;
    const call = async () => null;
    const client: Client = { sources: says.length, call, ask, order: nodes.order };
    const compared = await wellSources(client, never);
    return Promise.all(compared.map((one) => one.call()));
  };
  assert.deepEqual(await comparedOf(old(100), old(200), old(201)), [1, 2]);
  assert.deepEqual(await comparedOf(old(200), 'no', old(201)), [0, 2]);
  assert.deepEqual(await comparedOf(old(100), old(200)), [0, 1]);
  assert.deepEqual(await comparedOf(old(100), old(200), old(300)), [0, 1, 2]);
  assert.deepEqual(await comparedOf(fresh(100), old(200), old(201)), [0, 1, 2]);
});

type Height = { readonly of: number };
const clockData = (seconds: number) => {
  const data = Buffer.alloc(40);
  data.writeBigInt64LE(BigInt(seconds), 32);
  return data.toString('base64');
};
/** The answers of nodes of each family to a question for their head; else their own height. */
const answers = {
  evm: ({ of }: Height) => ({
    number: `0x${of.toString(16)}`,
    hash: '0x',
    parentHash: '0x',
    timestamp: '0x1',
  }),
  solana: ({ of }: Height) => ({
    context: { slot: of },
    value: [{ owner: '', executable: false, lamports: 1, data: [clockData(1), 'base64'] }],
  }),
  tron: ({ of }: Height) => ({
    blockID: '00'.repeat(32),
    block_header: { raw_data: { number: of, parentHash: '00'.repeat(32), timestamp: 1_000 } },
  }),
};

async function twoNodes(context: TestContext, family: keyof typeof answers) {
  const heads = [{ of: 100 }, { of: 133 }] as const;
  const asked: string[][] = [[], []];
  const node = (at: 0 | 1) =>
    nodeOf(async (text, { url }) => {
      asked[at]?.push(`${url} ${text}`);
      const said = answers[family](heads[at]);
      if (family === 'tron') return { text: JSON.stringify(said) };
      return { text: JSON.stringify({ jsonrpc: '2.0', id: JSON.parse(text).id, result: said }) };
    });
  const urls = await Promise.all([within(context, node(0)), within(context, node(1))]);
  return { urls, asked };
}

test('each family tells which of its nodes stands still by one question a node', async (context) => {
  for (const family of ['evm', 'solana', 'tron'] as const) {
    const { urls, asked } = await twoNodes(context, family);
    const options = { chain: `${family}-dev`, urls };
    const signal = AbortSignal.timeout(60_000);
    if (family === 'tron') {
      const sources = urls.map((url) => ({ url }));
      await tronNodes({ ...options, sources }, 32).call('wallet/getaccount', {}, signal);
    } else if (family === 'evm') {
      await evmNodes(options, 31_337, 32).call('eth_chainId', [], signal);
    } else await solanaNodes(options, 32).call('getGenesisHash', [], signal);
    assert.deepEqual(
      asked.map(({ length }) => length),
      [1, 2],
      family,
    );
  }
});
