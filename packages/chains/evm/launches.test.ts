import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import type { LaunchPosition, LaunchReader, LaunchSource } from '@parley/tokens/launches.ts';
import type { Hex } from 'viem';
import { allLaunches } from '../testing/launches.ts';
import type { EvmAdapterOptions } from './adapter.ts';
import { evmChains } from './policy.ts';
import { deployLaunchpad, type Launching } from './testing/launches.ts';
import { evmWorld } from './testing/world.ts';

const { chain, adapterOf, mine, signal } = await evmWorld();
const depth = evmChains['evm-dev'].policy.normal.confirmations;
const week = 7 * 86_400;
let snapshot: Hex;
let pad: Launching;
beforeEach(async () => {
  snapshot = await chain.client.snapshot();
  pad = await deployLaunchpad(chain);
  await deepen();
});
afterEach(() => chain.client.revert({ id: snapshot }));

/** The newest block is as deep as it must be. */
const deepen = () => mine(depth - 1);

const readerOf = (over: Partial<EvmAdapterOptions> = {}): LaunchReader => adapterOf(over).launches!;

const reader = readerOf();
const next = (after: LaunchPosition | null, by = reader, source: LaunchSource = pad.source) =>
  by.read(source, after, week, signal());

const all = (after: LaunchPosition, by = reader) => allLaunches(after, (at) => next(at, by));

test('it begins at the head; a launch is told when it is deep, and not before', async () => {
  await pad.launch('OLD');
  await deepen();
  const { position, tokens } = await next(null);
  assert.deepEqual(tokens, []);
  const launched = await pad.launch('ONE', 'TWO');
  for (let confirmations = 1; confirmations < depth; confirmations += 1) {
    assert.deepEqual((await next(position)).tokens, []);
    await mine(1);
  }
  const page = await next(position);
  assert.deepEqual([page.tokens, page.skipped, page.isWhole], [launched, 0, true]);
  assert.deepEqual((await next(page.position)).tokens, []);
});

test('what names no address is skipped; one that names no contract does not exist', async () => {
  const { position } = await next(null);
  await pad.say(0n);
  await pad.say(2n ** 160n);
  await pad.say(0xabcdn);
  const [token = ''] = await pad.launch('GOOD');
  await deepen();
  const page = await next(position);
  const nobody = '0x000000000000000000000000000000000000ABcD';
  assert.deepEqual([page.tokens, page.skipped], [[nobody, token], 2]);
  assert.deepEqual(await reader.existing(page.tokens, signal()), [token]);
});

test('launches that were taken back from below the cursor are read again as they are now', async () => {
  const start = await next(null);
  const fork = await chain.client.snapshot();
  await mine(3);
  await pad.launch('GONE');
  await deepen();
  const before = await next(start.position);
  assert.equal(before.tokens.length, 1);
  await chain.client.revert({ id: fork });
  // Lower than the cursor is.
  const launched = await pad.launch('HERE', 'TOO');
  await mine(depth + 5);
  const after = await all(before.position);
  for (const each of launched) assert.ok(after.tokens.includes(each));
});

test('after a stop of more than a week only that week is read, and the log says of which launchpad', async () => {
  const { position } = await next(null);
  await pad.launch('OLD');
  await mine(5);
  await chain.client.increaseTime({ seconds: week + 60 });
  await mine(5);
  const launched = await pad.launch('NEW');
  await deepen();
  const said: unknown[] = [];
  const by = readerOf({ log: (event, { launchpad }) => said.push([event, launchpad]) });
  const named = { ...pad.source, launchpad: 'rocket' };
  await next(position, by, named);
  assert.deepEqual(said, [['launches_too_old', 'rocket']]);
  assert.deepEqual((await all(position)).tokens, launched);
});
