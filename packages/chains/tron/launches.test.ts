import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import type { LaunchPosition, LaunchReader } from '@parley/tokens/launches.ts';
import { allLaunches } from '../testing/launches.ts';
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

const all = (after: LaunchPosition, by = reader) => allLaunches(after, (at) => next(at, by));

async function behind(lie: Lie, check: (by: LaunchReader) => Promise<void>): Promise<void> {
  const { launches } = await adapterOver(lie, { http: { attemptTimeoutMs: 500, rounds: 1 } });
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

test('many blocks are read a page at a time, each launch once', async () => {
  const { position } = await next(null);
  const launched = await pad.launch('EARLY');
  await chain.dev.mine(150);
  launched.push(...(await pad.launch('LATE')));
  await chain.solidify();
  const read = await all(position);
  assert.deepEqual([read.tokens, read.pages], [launched, 2]);
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

test('logs of other contracts and failed transactions are no launches', async () => {
  const { position } = await next(null);
  const [token = ''] = await pad.launch('TRUE');
  await chain.solidify();
  const lying: Lie = async ({ path }, forward) => {
    const said = await forward();
    if (!path.endsWith('infobyblocknum') || !Array.isArray(said.body)) return said;
    const body = said.body.map((info: { log?: { topics: string[]; address: string }[] }) => {
      const [log] = (info.log ?? []).filter(({ topics }) => topics.length === 2);
      if (log === undefined) return info;
      const topics = [log.topics[0], '66'.repeat(20).padStart(64, '0')];
      const lie = { ...log, topics, address: '77'.repeat(20) };
      return { ...info, log: [lie, ...(info.log ?? [])] };
    });
    return { body };
  };
  await behind(lying, async (by) => assert.deepEqual((await next(position, by)).tokens, [token]));
  const failed: Lie = async ({ path }, forward) => {
    const said = await forward();
    if (!path.endsWith('infobyblocknum') || !Array.isArray(said.body)) return said;
    return { body: said.body.map((info: object) => ({ ...info, result: 'FAILED' })) };
  };
  await behind(failed, async (by) => assert.deepEqual((await next(position, by)).tokens, []));
});

test('blocks that do not follow each other are not taken', async () => {
  const { position } = await next(null);
  await pad.launch('NEXT');
  await chain.solidify();
  const torn: Lie = async ({ path }, forward) => {
    const said = await forward();
    if (!path.endsWith('limitnext')) return said;
    const { block } = said.body as { block: object[] };
    return { body: { block: block.slice(1) } };
  };
  await behind(torn, (by) => assert.rejects(next(position, by), { code: 'chain_unavailable' }));
});
