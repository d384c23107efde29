// The phrase on a device: made, typed back, restored, forgotten; and what is refused.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { memoryKept } from './keeping.ts';
import { EngineError } from './types.ts';
import { openVault } from './vault.ts';

const other = 'legal winner thank year wave sausage worth useful legal winner thank yellow';

const madeAt = 1_800_000_000;

async function vaultOf(risk = { open: 0, isSaved: true }, agreedAt = madeAt) {
  const kept = memoryKept();
  const parts = { kept, network: 'dev' as const, now: () => madeAt, onChange: () => {} };
  const atRisk = async (since = 0) => (agreedAt >= since ? risk : { ...risk, open: 0 });
  const open = () => openVault({ ...parts, atRisk });
  return { open, vault: await open() };
}

const coded = (code: string) => (error: unknown) =>
  error instanceof EngineError && error.code === code;

test('a phrase counts once the places asked for are typed back, and survives a reload', async () => {
  const { vault, open } = await vaultOf();
  await assert.rejects(vault.words(), coded('no_phrase'));
  await vault.make();
  const words = await vault.words();
  await vault.make();
  assert.deepEqual(await vault.words(), words, 'there is one already');
  const asked = vault.asked();
  assert.equal(new Set(asked).size, 3);
  assert.ok(asked.every((at, index) => at >= 1 && at <= 12 && at > (asked[index - 1] ?? 0)));
  const [first = 1, ...rest] = asked;
  const right = Object.fromEntries(asked.map((at) => [at, ` ${words[at - 1]?.toUpperCase()} `]));
  // One of them left out is wrong, whatever else is typed.
  const { [first]: _, ...without } = right;
  assert.deepEqual((await vault.check(without)).wrong, [first]);
  assert.equal(rest.length, 2);
  assert.equal(vault.state.now().kind, 'unchecked');
  assert.deepEqual((await vault.check(right)).wrong, []);
  const again = await open();
  assert.equal(again.state.now().kind, 'checked');
  assert.deepEqual(await again.words(), words);
  const one = await vault.keys();
  const two = await again.keys();
  assert.equal(one.bitcoinKey(0).address, two.bitcoinKey(0).address);
});

test('a phrase counts once it came back whole from where it was saved, and says from where', async () => {
  const { vault, open } = await vaultOf();
  await vault.make();
  const words = (await vault.words()).join(' ');
  for (const came of ['', other, words.split(' ').slice(1).join(' ')]) {
    assert.equal(await vault.readBack(came, 'file'), false);
  }
  assert.equal(vault.state.now().kind, 'unchecked');
  assert.equal(await vault.readBack(` ${words.toUpperCase()}\n`, 'manager'), true);
  const again = (await open()).state.now();
  assert.equal(again.kind === 'checked' && again.keptIn, 'manager');
});

test('a phrase of another device takes the place of one that nothing was accepted by', async () => {
  const { vault } = await vaultOf();
  await vault.make();
  await vault.restore(other, 'file');
  assert.equal((await vault.words()).join(' '), other);
  const state = vault.state.now();
  assert.equal(state.kind === 'checked' && state.keptIn, 'file');
  const { vault: busy } = await vaultOf({ open: 1, isSaved: true });
  await busy.make();
  await assert.rejects(busy.restore(other), coded('has_phrase'));
});

test('a phrase whose key signs in is kept before another takes its place, or it is forgotten', async () => {
  const { vault, open } = await vaultOf();
  await vault.make();
  await vault.signsIn();
  const words = (await vault.words()).join(' ');
  const again = await open();
  await assert.rejects(again.restore(other), coded('has_phrase'));
  await assert.rejects(again.forget(), coded('has_phrase'));
  assert.equal((await again.words()).join(' '), words);
  assert.equal(await again.readBack(words, 'file'), true);
  await again.forget();
  assert.equal((await again.restore(other)).ok, true);
});

test('a removed phrase comes back to its swaps, even where another one was made since', async () => {
  const { vault } = await vaultOf({ open: 1, isSaved: true }, madeAt - 3_600);
  await vault.make();
  await vault.restore(other);
  assert.equal((await vault.words()).join(' '), other);
});

test('beside swaps that need a removed phrase none is made in silence', async () => {
  const { vault } = await vaultOf({ open: 1, isSaved: true });
  await assert.rejects(vault.make({ isUnasked: true }), coded('swaps_open'));
  assert.equal(vault.state.now().kind, 'none');
  await vault.restore(other);
  await vault.make({ isUnasked: true });
  assert.equal((await vault.words()).join(' '), other);
});

test('another phrase takes the place of none, and no error has a word of it', async () => {
  const { vault } = await vaultOf();
  assert.equal((await vault.restore('legal winner')).ok, false);
  assert.equal(vault.state.now().kind, 'none');
  await vault.make();
  await vault.check(Object.fromEntries((await vault.words()).map((word, at) => [at + 1, word])));
  const error = await vault.restore(other).then(
    () => null,
    (thrown: Error) => thrown,
  );
  assert.ok(coded('has_phrase')(error));
  // A sentence that is the same for each phrase: it may have words of the list.
  assert.equal(error?.message, 'this device has another rescue phrase already');
  await vault.forget();
  assert.equal(vault.state.now().kind, 'none');
  assert.equal((await vault.restore(other)).ok, true);
  assert.equal(vault.state.now().kind, 'checked');
});

test('with swaps open a phrase is forgotten only with a saved rescue file, and when asked twice', async () => {
  for (const isSaved of [false, true]) {
    const { vault } = await vaultOf({ open: 2, isSaved });
    await vault.make();
    await assert.rejects(vault.forget(), /^EngineError: 2 of your swaps are not over/);
    const forced = vault.forget({ evenWithOpenSwaps: true });
    if (isSaved) await forced;
    else await assert.rejects(forced, coded('swaps_open'));
    assert.equal(vault.state.now().kind, isSaved ? 'none' : 'unchecked');
  }
});
