import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { makeMint } from '@parley/dev/simulators/solana/testing/mints.ts';
import type { LaunchPage, LaunchPosition, LaunchReader } from '@parley/tokens/launches.ts';
import type { Address } from '@solana/kit';
import { solanaAdapter } from './adapter.ts';
import { solanaChains } from './policy.ts';
import { associatedTokenAccount, tokenProgram } from './programs.ts';
import { mintsOf, newHoldings } from './testing/launches.ts';
import { lyingNode } from './testing/nodes.ts';
import { adapterOf, finalize, newWorld, soon, walletOf } from './testing/world.ts';

const week = 7 * 86_400;
const newMints = mintsOf(tokenProgram);

function readerAt(url: string): LaunchReader {
  const { policy, genesisHash } = solanaChains['solana-dev'];
  return solanaAdapter({
    chain: 'solana-dev',
    rpcUrls: [url],
    policy,
    mostDriftSeconds: policy.driftSeconds,
    genesisHash,
    now: () => Math.floor(Date.now() / 1_000),
    rpc: { rounds: 1 },
  }).launches!;
}

async function newScene(context: TestContext) {
  const world = await newWorld(context);
  const launch = (name: string) =>
    makeMint(world.chain, { name, holder: walletOf('funder') as Address });
  const reader = adapterOf(world).launches!;
  const next = (after: LaunchPosition | null, by = reader, source = newMints) =>
    by.read(source, after, week, soon());
  return { world, launch, reader, next };
}

test('it begins at the newest; a launch is reported when it is final, and not before', async (context) => {
  const { world, launch, next } = await newScene(context);
  await launch('old');
  await finalize(world);
  const start = await next(null);
  assert.deepEqual(start.tokens, []);
  const launched: string[] = [await launch('one')];
  assert.deepEqual((await next(start.position)).tokens, []);
  launched.push(await launch('two'));
  await finalize(world);
  const page = await next(start.position);
  assert.deepEqual([page.tokens, page.skipped, page.isWhole], [launched, 0, true]);
  assert.deepEqual((await next(page.position)).tokens, []);
  // A node that forgot the last transaction tells what came since its slot, the slot included.
  const forgotten = { ...page.position, hash: '' };
  launched.push(await launch('three'));
  await finalize(world);
  assert.deepEqual((await next(forgotten)).tokens, launched.slice(2));
  const unknown = { ...page.position, hash: '1'.repeat(64) };
  assert.deepEqual((await next(unknown)).tokens, launched.slice(2));
});

test('a launch by way of another program is reported, and one with no such account is skipped', async (context) => {
  const { world, launch, next, reader } = await newScene(context);
  const { position } = await next(null, reader, newHoldings);
  const mint = await launch('inner');
  await finalize(world);
  assert.deepEqual((await next(position, reader, newHoldings)).tokens, [mint]);
  const beyond = { ...newHoldings, mintAccount: 9 };
  const page = await next(position, reader, beyond);
  assert.deepEqual([page.tokens, page.skipped], [[], 1]);
});

test('only mints exist: no wallet, no account of a token, nothing that is not there', async (context) => {
  const { launch, reader, world } = await newScene(context);
  const mint = await launch('exists');
  await finalize(world);
  const holding = associatedTokenAccount(walletOf('funder'), mint, tokenProgram);
  const all = [walletOf('funder'), holding, mint, walletOf('nobody'), world.dollar];
  assert.deepEqual(await reader.existing(all, soon()), [mint, world.dollar]);
});

test('a launch that was taken back before it was final is never reported', async (context) => {
  const { world, launch, next } = await newScene(context);
  const { position } = await next(null);
  const gone = await launch('gone');
  await world.chain.takeBack(4);
  const mint = await launch('stays');
  await finalize(world);
  assert.notEqual(mint, gone);
  assert.deepEqual((await next(position)).tokens, [mint]);
});

test('a transaction that a node lists and does not give is waited for, not for ever', async (context) => {
  const { world, launch, next } = await newScene(context);
  const { position } = await next(null);
  const launched = [await launch('a'), await launch('b'), await launch('c')];
  await finalize(world);
  // Each launch takes two transactions: this is the first of the second launch.
  let hidden = 2;
  const list: string[] = [];
  const url = await lyingNode(context, world.chain.info.rpcUrl, async (call, forward) => {
    if (call.method !== 'getTransaction') return forward();
    if (!list.includes(String(call.params[0]))) list.push(String(call.params[0]));
    const isHidden = hidden > 0 && list.indexOf(String(call.params[0])) === hidden;
    return isHidden ? { result: null } : forward();
  });
  const by = readerAt(url);
  const first = await next(position, by);
  assert.deepEqual([first.tokens, first.isWhole], [launched.slice(0, 1), false]);
  hidden = -1;
  const rest = await next(first.position, by);
  assert.deepEqual([rest.tokens, rest.isWhole], [launched.slice(1), true]);
  hidden = 2;
  const told: string[] = [];
  let page: LaunchPage = first;
  for (let reads = 0; reads < 30 && !page.isWhole; reads += 1) {
    page = await next(page.position, by);
    told.push(...page.tokens);
  }
  assert.deepEqual([told, page.isWhole], [launched.slice(2), true]);
});
