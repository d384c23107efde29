// The phrase on a device: made, typed back, restored, forgotten; and what is refused.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { memoryKept } from './keeping.ts';
import { EngineError } from './types.ts';
import { openVault } from './vault.ts';

const other = 'legal winner thank year wave sausage worth useful legal winner thank yellow';

async function vaultOf(risk = { open: 0, isSaved: true }) {
  const kept = memoryKept();
  const parts = { kept, network: 'dev' as const, now: () => 1_800_000_000, onChange: () => {} };
  const open = () => openVault({ ...parts, atRisk: async () => risk });
  return { open, vault: await open() };
}

const coded = (code: string) => (error: unknown) =>
  error instanceof EngineError && error.code === code;

test('a phrase counts once the places asked for are typed back, and survives a reload', async () => {
  const { vault, open } = await vaultOf();
  await assert.rejects(vault.words(), coded('no_phrase'));
  await vault.make();
  await assert.rejects(vault.make(), coded('has_phrase'));
  const words = await vault.words();
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

test('another phrase takes the place of none, and no error has a word of it', async () => {
  const { vault } = await vaultOf();
  assert.equal((await vault.restore('legal winner')).ok, false);
  assert.equal(vault.state.now().kind, 'none');
  await vault.make();
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
