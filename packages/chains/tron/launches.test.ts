import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import type { LaunchPosition, LaunchReader } from '@parley/tokens/launches.ts';
import { signal } from './testing/chain.ts';
import { deployLaunchpad, type Launching } from './testing/launches.ts';
import type { Lie } from './testing/nodes.ts';
import { tronWorld } from './testing/world.ts';

const week = 7 * 86_400;
const { chain, adapterOf, adapterOver } = await tronWorld();
const { launches: reader = assert.fail() } = adapterOf();
let pad: Launching;
before(async () => {
  pad = await deployLaunchpad(chain);
  await chain.solidify();
});

const next = (after: LaunchPosition | null, by = reader) =>
  by.read(pad.source, after, week, signal());

async function behind(lie: Lie, check: (by: LaunchReader) => Promise<void>): Promise<void> {
  const { launches } = await adapterOver(lie, { http: { rounds: 1 } });
  await check(launches ?? assert.fail());
}

test('it begins at the newest solid block; a launch is told when it is solid', async () => {
  const { position, tokens } = await next(null);
  assert.deepEqual(tokens, []);
  const launched = await pad.launch('ONE');
  assert.deepEqual((await next(position)).tokens, []);
  await chain.solidify();
  const page = await next(position);
  assert.deepEqual([page.tokens, page.skipped, page.isWhole], [launched, 0, true]);
  assert.deepEqual((await next(page.position)).tokens, []);
});

test('receipts that a node has not got yet, or of another block, stop it until it has them', async () => {
  const { position } = await next(null);
  const launched = await pad.launch('HIDDEN');
  await chain.solidify();
  const hidden: Lie = ({ path }, forward) =>
    path.endsWith('infobyblocknum') ? { body: [] } : forward();
  await behind(hidden, (by) => assert.rejects(next(position, by), { code: 'chain_unavailable' }));
  const other: Lie = async ({ path, body }, forward) => {
    if (!path.endsWith('infobyblocknum')) return forward();
    const { body: infos } = await forward();
    const list = infos as { id: string }[];
    return { body: list.map((each) => ({ ...each, id: 'ab'.repeat(32), of: body.num })) };
  };
  await behind(other, (by) => assert.rejects(next(position, by), { code: 'chain_unavailable' }));
  assert.deepEqual((await next(position)).tokens, launched);
});
