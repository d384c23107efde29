// However much strangers write around a claim, and however late a node is with it, its secret is
// found; and nobody who asks what an escrow shows waits for that.

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { WatchedEscrow } from '../interface/reading.ts';
import type { SolanaAdapter, SolanaAdapterOptions } from './adapter.ts';
import { vaultAddress } from './plan.ts';
import { tokenProgram } from './programs.ts';
import { type Crowd, crowdedNode, newCrowd } from './testing/crowd.ts';
import { type Call, lyingNode } from './testing/nodes.ts';
import {
  adapterOf,
  built,
  claim,
  escrowIn,
  finalize,
  fund,
  newWorld,
  sceneOf,
  secret,
  signed,
  soon,
  type World,
} from './testing/world.ts';

const limits = { timeout: 60_000 };
const slowly = (name: string, run: (context: TestContext) => Promise<void>): void => {
  test(name, limits, run);
};
const isRead = ({ method }: Call) => method === 'getTransaction';
const later = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
/** Longer than anything here takes. */
const patient = { historyWaitMs: 40_000 };
const anyTime = () => AbortSignal.timeout(50_000);
const settled = 897_840n;
const unreadable = { error: { code: -32_015, message: 'Transaction version (1)' } };

async function among(
  context: TestContext,
  world: World,
  crowd: Crowd,
  changed: Partial<SolanaAdapterOptions> = patient,
): Promise<SolanaAdapter> {
  return adapterOf(world, [], { rpcUrls: [await crowdedNode(context, world, crowd)], ...changed });
}

const crowdOf = ({ address, terms }: WatchedEscrow, changed: Partial<Crowd> = {}) =>
  newCrowd({ address, held: { open: terms.amount + 2_171_520n, settled }, ...changed });

for (const coin of ['SOL', 'a token'] as const) {
  test(
    `${coin}: a claim among twenty thousand transactions is found by reading few of them`,
    limits,
    async (context) => {
      const world = await newWorld(context);
      const isToken = coin !== 'SOL';
      const token = isToken ? world.dollar : null;
      const escrow = escrowIn(world, isToken ? { token, amount: 5_000_000n } : {});
      await fund(world, escrow);
      await claim(world, escrow);
      await finalize(world);
      const noise = { above: 12_000, below: 8_000 };
      const crowd = isToken
        ? newCrowd({
            address: vaultAddress(escrow.address, tokenProgram),
            isToken,
            held: { open: escrow.terms.amount, settled: 0n },
            ...noise,
          })
        : crowdOf(escrow, noise);
      // The escrow's own list alone gives the claim away.
      const lie: Crowd['lie'] = async ({ method, params }, forward) => {
        const isOwn = method === 'getSignaturesForAddress' && params[0] === escrow.address;
        return isOwn && isToken ? { result: [] } : forward();
      };
      const adapter = await among(context, world, { ...crowd, lie });
      assert.equal((await adapter.readEscrow(escrow, anyTime())).secret, secret);
      assert.ok(crowd.asked.size < 1_200, `${crowd.asked.size} were read`);
    },
  );
}

slowly(
  'noise that comes faster than it is read, and tells nothing, hides a claim for a while only',
  async (context) => {
    const { world, escrow } = await sceneOf(context, fund, claim, finalize);
    // Some fifty are read a second.
    const answer = async () => {
      await later(150);
      return unreadable;
    };
    const crowd = crowdOf(escrow, { above: 250, shallow: 400, answer });
    const adapter = await among(context, world, crowd, { historyWaitMs: 6_000 });
    adapter.watch([escrow]);
    let found: string | null = null;
    for (let reads = 0; found === null && reads < 15; reads += 1) {
      ({ secret: found } = await adapter.readEscrow(escrow, anyTime()));
      crowd.shallow += 400;
      world.time.now += 61;
    }
    assert.equal(found, secret);
  },
);

slowly('an endless history that grows while it is read comes to its end', async (context) => {
  const { world, escrow } = await sceneOf(context, fund, claim, finalize);
  const crowd = crowdOf(escrow, { above: 5_005, answer: () => unreadable });
  const logged: string[] = [];
  const log = (event: string) => logged.push(event);
  const adapter = await among(context, world, crowd, { ...patient, log });
  adapter.watch([escrow]);
  await adapter.changes(soon());
  let found: string | null = null;
  for (let reads = 0; found === null && reads < 40; reads += 1) {
    const facts = await adapter.readEscrow(escrow, anyTime());
    found = facts.secret;
    assert.equal(facts.claimed?.deep, true);
    // The follower comes back to it by itself.
    assert.deepEqual((await adapter.changes(soon())).touched, [escrow.address]);
    // Faster than the new ones alone are read in one pass.
    if (reads < 12) crowd.above += 700;
  }
  assert.equal(found, secret);
  assert.ok(logged.includes('long_history'));
  // The history is complete, whatever is written there.
  const asked = crowd.asked.size;
  crowd.above += 700;
  await adapter.readEscrow(escrow, anyTime());
  assert.equal(crowd.asked.size, asked);
});

slowly(
  'a node that holds its history back keeps nobody from what the account says',
  async (context) => {
    const world = await newWorld(context);
    const open = escrowIn(world);
    const next = escrowIn(world, { amount: 1_500_000_000n });
    await fund(world, open);
    await finalize(world);
    const held = new Set<() => void>();
    const url = await lyingNode(context, world.chain.info.rpcUrl, (call, forward) => {
      if (!isRead(call) && call.method !== 'getSignaturesForAddress') return forward();
      return new Promise((resolve) => held.add(() => resolve({ result: [] })));
    });
    const rpc = { attemptTimeoutMs: 60_000 };
    const adapter = adapterOf(world, [], { rpcUrls: [url], rpc, historyWaitMs: 500 });
    // Each look at the history would take ten seconds.
    const inTime = async <T>(work: Promise<T>): Promise<T> => {
      const tooLate = later(8_000).then(() => assert.fail('it waited for the history'));
      return Promise.race([work, tooLate]);
    };
    assert.equal((await inTime(adapter.readEscrow(next, soon()))).funded, null);
    await adapter.buildFund(built(next), soon());
    assert.equal((await inTime(adapter.readEscrow(open, soon()))).funded?.deep, true);
    const material = await adapter.buildClaim(built(open), secret, soon());
    await adapter.broadcast(await adapter.readSigned(signed(material, 'payee'), soon()), soon());
    await finalize(world);
    assert.equal((await inTime(adapter.readEscrow(open, soon()))).claimed?.deep, true);
    for (const each of held) each();
  },
);
