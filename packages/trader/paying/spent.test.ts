// The transaction of a block that has spent the coins of a payment, by scripted nodes of both kinds.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js';
import { parseTx } from '@parley/chains/bitcoin/raw-transaction.ts';
import { searchBy } from './spent.ts';

const signal = new AbortController().signal;
const scriptOf = (address: string) => hexToBytes(`0014${address.repeat(20)}`);

/** Spends these outputs of one transaction, and pays an address. */
function paying(
  vouts: readonly number[],
  address: string,
  amount: bigint,
  sequence = 'ffffffff',
): string {
  const sats = Buffer.alloc(8);
  sats.writeBigUInt64LE(amount);
  const inputs = vouts.map((vout) => `${'ab'.repeat(32)}0${vout}00000000${sequence}`);
  const output = `${sats.toString('hex')}16${bytesToHex(scriptOf(address))}`;
  return `020000000${vouts.length}${inputs.join('')}01${output}00000000`;
}

const own = paying([0, 2], 'aa', 5_000n);
const replacement = paying([0, 2], 'aa', 5_000n, 'fdffffff');
const elsewhere = paying([0, 2], 'bb', 5_000n);
const spending = {
  kept: { txid: parseTx(own).txid(), raw: own },
  to: 'aa',
  amount: 5_000n,
  from: 'own',
  since: 1,
};

/** Blocks from height 100 on, each with these transactions. */
function core(...blocks: (readonly string[])[]) {
  const read: number[] = [];
  const past = {
    kind: 'by_block' as const,
    firstHeight: async () => 100,
    blockHashes: async (heights: readonly number[]) => heights.map(String),
  };
  const tip = async () => ({ height: 99 + blocks.length, hash: '', clock: 0 });
  const block = async (hash: string) => {
    read.push(Number(hash));
    const txs = blocks[Number(hash) - 100] ?? [];
    return { hash, previous: '', size: 0, transactions: async () => txs.map(parseTx) };
  };
  return { past, tip, block, blocks, read };
}

function esplora(height: number, ...mined: readonly string[]) {
  const past = {
    kind: 'by_address' as const,
    read: async () => ({
      mined: mined.map((raw) => ({ tx: parseTx(raw), height: 101, block: null })),
      cutAt: null,
    }),
    count: async () => mined.length,
    one: async () => null,
  };
  return {
    past,
    tip: async () => ({ height, hash: '', clock: 0 }),
    block: async () => assert.fail(),
  };
}

const silent = { ...esplora(0), tip: async () => assert.fail('silent') };
silent.past = { ...silent.past, read: async () => assert.fail('silent') };
const other = paying([1], 'aa', 5_000n);

test('only itself, or one that pays the same, is the payment; anything else has taken its coins', async () => {
  for (const [raw, pays] of [
    [own, true],
    [replacement, true],
    [elsewhere, false],
    [paying([0, 2], 'aa', 4_999n), false],
    [paying([2], 'bb', 5_000n), false],
  ] as const) {
    const txid = parseTx(raw).txid();
    for (const node of [core([other], [raw], [other]), esplora(102, other, raw)]) {
      const found = await searchBy([node], scriptOf)(spending, signal);
      assert.deepEqual(found, { txid, pays, blocks: 2 });
    }
  }
  assert.notEqual(parseTx(replacement).txid(), parseTx(own).txid());
  assert.equal(
    await searchBy([core([other]), esplora(101, other)], scriptOf)(spending, signal),
    null,
  );
});

test('an address with many later transactions is read over several looks', async () => {
  const node = esplora(102, other, own);
  const belows: (string | null)[] = [];
  const { read } = node.past;
  // A part has one transaction.
  const parts = async (_: string, { below }: { readonly below: string | null }) => {
    belows.push(below);
    const { mined } = await read();
    const [one, two] = mined;
    return below === null
      ? { mined: mined.slice(0, 1), cutAt: one?.tx.txid() ?? null }
      : { mined: two === undefined ? [] : [two], cutAt: null };
  };
  const search = searchBy([{ ...node, past: { ...node.past, read: parts } }], scriptOf);
  assert.equal(await search(spending, signal), null);
  const found = { txid: spending.kept.txid, pays: true, blocks: 2 };
  for (const _ of [1, 2]) assert.deepEqual(await search(spending, signal), found);
  const id = parseTx(other).txid();
  assert.deepEqual(belows, [null, id, id]);
});

test('nodes decide together, and a silent one decides nothing', async () => {
  const by = (...nodes: Parameters<typeof searchBy>[0]) =>
    searchBy(nodes, scriptOf)(spending, signal);
  const mined = core([other], [own], [], []);
  assert.equal((await by(mined, silent))?.blocks, 3);
  assert.equal((await by(mined, esplora(102, own)))?.blocks, 2, 'the least of both');
  assert.equal((await by(mined, esplora(104)))?.blocks, 1, 'one does not have it yet');
  await assert.rejects(by(mined, esplora(104, elsewhere)), { code: 'nodes_disagree' });
  const [first, second] = [paying([0], 'bb', 1n), paying([2], 'bb', 1n)];
  const apart = await by(core([], [first]), esplora(101, second));
  assert.deepEqual(apart, { txid: parseTx(first).txid(), pays: false, blocks: 1 });
  await assert.rejects(by(silent), /silent/);
});

test('blocks of a long absence are read over several looks, and again where it is not found', async () => {
  const blocks = Array.from({ length: 30 }, (_, at) => (at === 25 ? [own] : []));
  const node = core(...blocks);
  const search = searchBy([node], scriptOf);
  assert.equal(await search(spending, signal), null);
  assert.equal(node.read.at(-1), 119);
  assert.equal((await search(spending, signal))?.blocks, 5);
  node.read.length = 0;
  await search(spending, signal);
  assert.deepEqual(node.read, [125], 'it is found at once');
  // A reorganisation has put it into a block below.
  node.blocks[25] = [];
  node.blocks[3] = [own];
  assert.equal(await search(spending, signal), null);
  assert.equal((await search(spending, signal))?.blocks, 27);
});
