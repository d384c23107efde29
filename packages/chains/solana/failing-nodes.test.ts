// Nodes that hang, vanish, answer nonsense or lie; and two that differ.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SolanaAdapterOptions } from './adapter.ts';
import { latestBlockhash } from './node.ts';
import { encodeTerms } from './plan.ts';
import { solanaChains } from './policy.ts';
import { lyingNode, youngNode } from './testing/nodes.ts';
import {
  adapterOf,
  claim,
  escrowIn,
  finalize,
  fund,
  newWorld,
  refuses,
  sceneOf,
  secret,
  soon,
  type World,
  walletOf,
} from './testing/world.ts';

test('a node of another cluster, or without our program, is refused at once', async (context) => {
  const world = await newWorld(context);
  const other = adapterOf(world, [], { genesisHash: solanaChains.solana.genesisHash });
  await refuses(other.heads(soon()), 'chain_unavailable', /cluster/);
  const program = walletOf('no program');
  const deployment = { program, sha256: '' };
  await refuses(
    adapterOf(world, [], { deployment }).heads(soon()),
    'chain_unavailable',
    /there is no account/,
  );
});

/** An adapter over a node that shows this for the escrow's account. */
async function liar(
  context: Parameters<typeof lyingNode>[0],
  world: World,
  address: string,
  account: object | null,
): Promise<string> {
  return lyingNode(context, world.chain.info.rpcUrl, async ({ method, params }, forward) => {
    const answer = await forward();
    const [addresses] = params as [string[]];
    if (method !== 'getMultipleAccounts' || addresses[0] !== address) return answer;
    const { context: slot, value } = answer.result as { context: object; value: object[] };
    return { result: { context: slot, value: [account, ...value.slice(1)] } };
  });
}

const over = (world: World, urls: string[], changed: Partial<SolanaAdapterOptions> = {}) =>
  adapterOf(world, [], { rpcUrls: urls, rpc: { rounds: 1 }, ...changed });

test('an account that the program never writes is no fact', async (context) => {
  const { world, escrow } = await sceneOf(context);
  const owner = world.chain.info.program;
  const shown = async (of: string, bytes: Uint8Array) => {
    const data = [Buffer.from(bytes).toString('base64'), 'base64'];
    const account = { owner: of, executable: false, lamports: 1, data };
    const url = await liar(context, world, escrow.address, account);
    return over(world, [url]).readEscrow(escrow, soon());
  };
  for (const bytes of [
    Buffer.alloc(184, 1),
    // A released one keeps no terms.
    Buffer.concat([Buffer.of(3), Buffer.alloc(7), encodeTerms(escrow.terms), Buffer.alloc(32)]),
    ...[1, 4, 9].map((status) => Buffer.of(status)),
    Buffer.alloc(50),
  ]) {
    await refuses(shown(owner, bytes), 'chain_unavailable', /never writes/);
  }
  // Nor is one of another program.
  assert.equal((await shown(walletOf('program'), Buffer.of(1))).funded, null);
});

test('a node that answers no long list of signatures is asked for short ones', async (context) => {
  const { world, escrow } = await sceneOf(context);
  const asked: number[] = [];
  const url = await lyingNode(context, world.chain.info.rpcUrl, ({ method, params }, forward) => {
    if (method !== 'getSignaturesForAddress') return forward();
    const { limit } = params[1] as { limit: number };
    asked.push(limit);
    if (limit <= 3) return forward();
    return new Promise<object>(() => {});
  });
  const rpc = { attemptTimeoutMs: 3_000, rounds: 1 };
  const adapter = adapterOf(world, [], { rpcUrls: [url], rpc });
  adapter.watch([escrow]);
  const funded = await fund(world, escrow);
  for (let others = 1; others < 8; others += 1) {
    await fund(world, escrowIn(world, { timelock: escrow.terms.timelock + others }));
  }
  const claimed = await claim(world, escrow);
  await finalize(world);
  assert.deepEqual((await adapter.changes(soon())).touched, [escrow.address]);
  const facts = await adapter.readEscrow(escrow, soon());
  assert.deepEqual([facts.funded?.txid, facts.claimed?.txid], [funded, claimed]);
  assert.deepEqual(asked.slice(0, 7), [1_000, 1, 125, 1, 15, 1, 1]);
});

test('a node that no longer knows what was read last is followed on, and its gap is said', async (context) => {
  const { world, escrow } = await sceneOf(context);
  const funded = await fund(world, escrow);
  await finalize(world);
  let oldest = 0;
  const url = await youngNode(context, world.chain.info.rpcUrl, () => oldest);
  const logged: string[] = [];
  const adapter = adapterOf(world, logged, { rpcUrls: [url] });
  adapter.watch([escrow]);
  await adapter.changes(soon());
  await adapter.readEscrow(escrow, soon());
  const { slot } = await latestBlockhash(adapter.node, 'finalized', soon());
  oldest = slot + 1;
  const claimed = await claim(world, escrow);
  await finalize(world);
  assert.deepEqual((await adapter.changes(soon())).touched, [escrow.address]);
  const facts = await adapter.readEscrow(escrow, soon());
  assert.deepEqual([facts.secret, facts.claimed?.txid], [secret, claimed]);
  assert.equal(facts.funded?.txid, funded, 'what was learnt before stays');
  assert.deepEqual(logged, ['transactions_pruned']);
  // From there on as ever.
  const next = escrowIn(world, { timelock: escrow.terms.timelock + 1 });
  adapter.watch([next]);
  await adapter.changes(soon());
  await fund(world, next);
  assert.deepEqual((await adapter.changes(soon())).touched, [next.address]);
});
