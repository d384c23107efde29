// The state of an anvil that is stopped and started again.

import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { startAnvil } from './anvil.ts';

test('a chain goes on from its own first block, and from no other that anvil saved', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'parley-anvil-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const first = await startAnvil(folder, 31_337);
  await first.rpc('evm_mine');
  await first.save();
  await first.running.stop();
  const file = join(folder, 'saved-state.json');
  const state = JSON.parse(await readFile(file, 'utf8'));
  const own = state.blocks.find((each: Block) => Number(each.header.number) === 0);
  const later = { ...own, header: { ...own.header, timestamp: '0x7fffffff' } };
  // Anvil reads the last of them.
  await writeFile(file, JSON.stringify({ ...state, blocks: [...state.blocks, later] }));
  const second = await startAnvil(folder, 31_337);
  const block = (number: string) =>
    second.rpc<Record<string, string>>('eth_getBlockByNumber', [number, false]);
  const [zero, one] = await Promise.all([block('0x0'), block('0x1')]);
  await second.running.stop();
  assert.equal(one.parentHash, zero.hash);
});

type Block = { readonly header: { readonly number: string } };
