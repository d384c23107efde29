// A seeded simulation of the driver: a side that leaves everything to `settle` never ends with
// neither its own money nor the promised one. The other side does what pays it most; from when the
// secret is public nodes fall silent, pools forget, fees rise, the store fails, the market dies or
// lies, and the process is killed. Until then, the receiver's view of the reveal is at most one of
// chain and market. Before and after, nodes refuse to try claims, quote what they were asked, and
// tell it to the other side; a store hangs or is slow. `PARLEY_DRIVER_SEED` runs one seed alone.
// Ten thousand are `PARLEY_TEST_TIMES=834 npm run node -- packages/sdk/settle/neither.test.ts`.

import assert from 'node:assert/strict';
import test from 'node:test';
import { ParleyError } from '@parley/core/errors.ts';
import { type Chance, chanceOf } from '@parley/verify/test/sim/chance.ts';
import { runs } from '@parley/verify/test/support/runs.ts';
import { ParleyApiError } from '../errors.ts';
import type { SettleInput } from '../settle.ts';
import type { Store } from '../stores/store.ts';
import { type PaperScene, paperScene, run } from '../testing/paper-scene.ts';

const hour = 3_600;
const atOnce = 50;

/** From when to when, Unix seconds. */
type Stretch = readonly [from: number, until: number];
const holds = ([from, until]: Stretch, wall: number) => from <= wall && wall < until;
const never: Stretch = [Infinity, Infinity];

/** Troubles once the secret is public, relative to that. */
type Trouble = {
  readonly node: 'gone' | 'silent';
  /** Trouble of the chain that this side has funded, for as long as it likes. */
  readonly given: Stretch;
  /** Trouble of the chain that pays this side, within its policy's allowance. */
  readonly paying: Stretch;
  readonly store: Stretch;
  readonly market: 'well' | 'dead' | 'lying';
  readonly forgets: number;
  readonly fees: number;
  readonly crashes: number;
};

function troubleOf(chance: Chance): Trouble {
  const begin = () => chance.int(0, 2) * chance.int(0, hour);
  const long = () => (chance.hits(0.7) ? Infinity : begin() + chance.int(1, 6) * hour);
  const given = begin();
  const paying = begin();
  return {
    node: chance.pick(['gone', 'silent']),
    given: chance.hits(0.8) ? [given, long()] : never,
    paying: chance.hits(0.5) ? [paying, paying + chance.int(600, hour)] : never,
    store: chance.hits(0.5) ? [begin(), long()] : never,
    market: chance.pick(['well', 'dead', 'lying']),
    forgets: chance.pick([0, 0.1, 0.3]),
    fees: chance.pick([0, 0.1]),
    crashes: chance.pick([0, 0.03]),
  };
}

/** Troubles from when both legs are funded, relative to that. */
type Early = {
  /** Nodes refuse estimates, and are in league with the other side. */
  readonly estimates: Stretch;
  readonly preflights: Stretch;
  /** While the secret is not public the store answers nothing. */
  readonly hangs: Stretch;
  /** How long the write takes that tells the secret. */
  readonly slowSeconds: number;
};

function earlyOf(chance: Chance): Early {
  const stretch = (likely: number, most: number): Stretch => {
    const from = chance.hits(0.6) ? 0 : chance.int(0, hour / 2);
    return chance.hits(likely) ? [from, from + chance.int(60, most)] : never;
  };
  return {
    estimates: stretch(0.6, chance.hits(0.5) ? 5 * hour : 100 * hour),
    preflights: stretch(0.15, 4 * hour),
    hangs: stretch(0.2, 4 * hour),
    slowSeconds: chance.hits(0.25) ? chance.int(60, 5 * hour) : 0,
  };
}

/** A node's own words. */
const refusal = (asked: string) =>
  new ParleyError('chain_unavailable', `the node refused eth_estimateGas: ${asked}`, {});

/** One swap to its end. Resolves to what this side lost, or null. */
async function lossOf(seed: number): Promise<string | null> {
  const chance = chanceOf(seed);
  const early = earlyOf(chance.fork());
  const paid = chance.fork();
  const isToken = paid.hits(0.6);
  const scene = await paperScene(chance.pick(['maker', 'taker']), { isToken });
  const { chains, gives, gets, market, input } = scene;
  const isMaker = gives === 'a';
  const isNever = chance.hits(0.15);
  const start = scene.wall;
  scene.theirsAt = isNever ? Infinity : start + chance.int(0, isMaker ? 4 * hour - 120 : hour);
  const trouble = troubleOf(chance);
  // The market alone shows the secret: the chain that does is silent from when it was funded.
  const isHeard = isMaker && chance.hits(0.2);
  // A costly token takes more than a claim gets where nobody tells how much.
  if (isToken) chains[gets].claimGas = paid.pick([60_000n, 150_000n, 300_000n, 390_000n]);
  let bothAt = Infinity;
  let publicAt = Infinity;
  const isEarly = (stretch: Stretch) => holds(stretch, scene.wall - bothAt);
  const hasReveal = () => [...chains.a.pool.values(), ...chains.a.mined].some(isClaim);
  market.lie((swap) => ({ ...swap, secret: hasReveal() && isHeard ? scene.secret : null }));
  const hangs = () => publicAt === Infinity && isEarly(early.hangs);
  const held: (() => void)[] = [];
  const storeWorks = () => !hangs() && !holds(trouble.store, scene.wall - publicAt);
  const asked = async <T>(answer: () => Promise<T>): Promise<T> => {
    if (hangs()) await new Promise<void>((resolve) => held.push(resolve));
    if (storeWorks()) return answer();
    throw new Error('the disk is full');
  };
  const { store: kept } = input;
  let isSlow = !isMaker;
  const store: Store = {
    ...kept,
    putSwap: async (record) => {
      if (record.publicSecret !== null && isMaker) publicAt = Math.min(publicAt, scene.wall);
      if (record.publicSecret !== null && isSlow) {
        isSlow = false;
        scene.wall += early.slowSeconds;
      }
      return asked(() => kept.putSwap(record));
    },
    putSecret: (...about) => asked(() => kept.putSecret(...about)),
    getSecret: (hashlock) => asked(() => kept.getSecret(hashlock)),
    getSwap: (id) => asked(() => kept.getSwap(id)),
    swapIds: (since) => asked(() => kept.swapIds(since)),
  };
  const client = troubled(scene, () => (publicAt < Infinity ? trouble.market : 'well'));
  const stepSeconds = chance.int(30, 90);
  // Far from both timelocks once nothing can be revealed, time is made to pass faster.
  const isFar = () =>
    scene.wall > scene.timelock('a') + hour && Math.abs(scene.wall - scene.timelock('b')) > hour;
  let isKilled = false;
  let isTold = false;
  let toldAt = 0;
  scene.onStep = () => {
    scene.stepSeconds = isFar() ? 5 * stepSeconds : stepSeconds;
    if (bothAt === Infinity && hasFunded(scene, 'a') && hasFunded(scene, 'b')) bothAt = scene.wall;
    if (hasReveal() && !isMaker) publicAt = Math.min(publicAt, scene.wall);
    if (!hasReveal())
      isTold ||= scene.emitted.slice(toldAt).some(({ text }) => text.includes(scene.secret));
    toldAt = scene.emitted.length;
    if (!hangs()) for (const answer of held.splice(0)) answer();
    for (const chain of [chains.a, chains.b]) {
      chain.refusesEstimates = isEarly(early.estimates) ? refusal : null;
      chain.refusesPayout = isEarly(early.preflights) ? refusal('a preflight') : null;
    }
    const since = scene.wall - publicAt;
    const isDeaf = isHeard && scene.wall > scene.theirsAt - 60 && hasFunded(scene);
    const isBlind = isNever && hasFunded(scene) && holds(trouble.given, scene.wall - start);
    chains[gives].node = isDeaf || holds(trouble.given, since) ? trouble.node : 'well';
    chains[gets].node = isBlind || holds(trouble.paying, since) ? trouble.node : 'well';
    if (since >= 0 && chance.hits(trouble.forgets)) chains[gets].pool.clear();
    if (since >= 0 && chance.hits(trouble.fees)) chains[gets].leastFee *= 2n;
    isKilled = storeWorks() && chance.hits(since >= 0 ? trouble.crashes : trouble.crashes / 4);
  };
  const isOver = () =>
    scene.wall > scene.timelock('b') + 6 * hour ||
    (scene.endOf(gives) !== null && scene.endOf(gets) !== null);
  const own: Partial<SettleInput> = { store, client, chainTimeoutMs: 4 };
  for (let ended = null; ended === null && !isOver(); ) {
    ended = await run(scene, own, () => isKilled || isOver());
    isKilled = false;
  }
  const ends = [scene.endOf(gives), scene.endOf(gets)];
  const isFine =
    isTold === false && (ends[0] === 'refunded' || ends[1] === 'claimed' || !hasFunded(scene));
  if (isFine) return null;
  const facts = {
    party: isMaker ? 'maker' : 'taker',
    ends,
    isHeard,
    isNever,
    isTold,
    early,
    trouble,
  };
  const emitted = scene.emitted.map(({ step, leg, text }) => `${step} ${leg} ${text}`);
  return `seed ${seed}: ${JSON.stringify(facts)}\n${emitted.join('\n')}`;
}

const isClaim = ({ call }: { call: { verb: string } }) => call.verb === 'claim';

function hasFunded({ chains, gives }: PaperScene, leg = gives): boolean {
  return chains[leg].mined.some(({ call }) => call.verb === 'fund');
}

function troubled(
  { input }: PaperScene,
  state: () => Trouble['market'],
): NonNullable<SettleInput['client']> {
  const { client } = input;
  assert.ok(client);
  const gone = new ParleyApiError({ status: 0, code: 'no_answer', message: 'the market is gone' });
  return {
    ...client,
    swap: async (...about) => {
      if (state() === 'dead') throw gone;
      const swap = await client.swap(...about);
      return state() === 'lying' ? { ...swap, secret: '00'.repeat(32), legs: {} as never } : swap;
    },
    broadcast: async (...about) => {
      if (state() === 'dead') throw gone;
      // A liar says that it has sent what it has not.
      return state() === 'lying' ? { txid: '00' } : client.broadcast(...about);
    },
  };
}

test('a side that leaves it to the driver never ends with neither', {
  timeout: 3_600_000,
}, async () => {
  const one = process.env.PARLEY_DRIVER_SEED;
  const count = one === undefined ? runs(12) : 1;
  const seeds = Array.from({ length: count }, (_, index) => Number(one ?? index));
  for (let at = 0; at < seeds.length; at += atOnce) {
    const losses = await Promise.all(seeds.slice(at, at + atOnce).map(lossOf));
    for (const loss of losses) assert.equal(loss, null);
  }
});
