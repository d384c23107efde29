import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  ancestorsOf,
  firstSeen,
  mostAncestorsAsked,
  type ReadTx,
  waitingEntry,
} from './esplora-backend.ts';

const signal = new AbortController().signal;

/** A server that has these: each with its parents, at 100 sats and 400 weight units. */
function serverOf(parents: Readonly<Record<string, readonly string[]>>, confirmed: string[] = []) {
  const asked: string[] = [];
  const read: ReadTx = async (txid) => {
    asked.push(txid);
    const vin = parents[txid]?.map((each) => ({ txid: each }));
    if (vin === undefined) return null;
    return { txid, fee: 100, weight: 400, vin, status: { confirmed: confirmed.includes(txid) } };
  };
  return { read, asked };
}

test('every unconfirmed ancestor counts once, and no confirmed one', async () => {
  const parents = { x: ['a', 'b', 'old'], a: ['c'], b: ['c', 'c'], c: ['old'], old: ['older'] };
  const { read, asked } = serverOf(parents, ['old']);
  assert.deepEqual(await ancestorsOf(read, 'x', signal), {
    withAncestorsFeeSats: 400n,
    withAncestorsVsize: 400,
    isWhole: true,
  });
  assert.deepEqual(asked, ['x', 'a', 'b', 'old', 'c']);
});

test('no more than a mempool’s longest chain is asked for, and what is left out is said', async () => {
  const names = Array.from({ length: mostAncestorsAsked + 1 }, (_, at) => `p${at}`);
  const all = Object.fromEntries(names.map((name) => [name, []]));
  const fits = serverOf({ ...all, x: names.slice(1) }, names);
  const whole = await ancestorsOf(fits.read, 'x', signal);
  assert.deepEqual([whole.isWhole, fits.asked.length], [true, 1 + mostAncestorsAsked]);
  const many = serverOf({ ...all, x: names }, names);
  const part = await ancestorsOf(many.read, 'x', signal);
  assert.deepEqual([part.isWhole, many.asked.length], [false, 1 + mostAncestorsAsked]);
  const gone = await ancestorsOf(serverOf({ x: ['nowhere'] }).read, 'x', signal);
  assert.deepEqual(gone, { withAncestorsFeeSats: 100n, withAncestorsVsize: 100, isWhole: false });
});

test('since when it waits is from the first sight on, and what is seen often is not forgotten', async () => {
  let now = 1_000;
  const seen = firstSeen(() => now, 2);
  const { read } = serverOf({ x: [], mined: [] }, ['mined']);
  const since = async (txid: string) => (await waitingEntry(read, seen, txid, signal))?.since;
  assert.equal(await since('x'), 1_000);
  now += 60;
  seen.of('other');
  assert.equal(await since('x'), 1_000);
  // The third pushes out the one that was not seen for longest.
  seen.of('third');
  assert.equal(await since('x'), 1_000);
  seen.of('fourth');
  seen.of('fifth');
  assert.equal(await since('x'), 1_060);
  assert.equal(await since('mined'), undefined);
  assert.equal(await since('unknown'), undefined);
});
