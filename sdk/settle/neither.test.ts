// A seeded simulation of the driver: nobody who leaves everything to `settle` ends with neither its
// own money nor what it was promised. The other side does what pays it most; from when the secret
// is public nodes fall silent, pools forget, fees rise, the store fails, the market dies or lies,
// and the process is killed. Until then, the receiver's view of the reveal is at most one of chain
// and market. `PARLEY_DRIVER_SEED` runs one seed alone.

import assert from 'node:assert/strict';
import test from 'node:test';
import { type Chance, chanceOf } from '../../test/sim/chance.ts';
import { runs } from '../../test/support/runs.ts';
import { ParleyApiError } from '../errors.ts';
import type { SettleInput } from '../settle.ts';
import type { Store } from '../stores/store.ts';
import { type PaperScene, paperScene, run } from '../testing/paper-scene.ts';

const hour = 3_600;
const atOnce = 10;

/** From when to when, Unix seconds. */
type Stretch = readonly [from: number, until: number];
const holds = ([from, until]: Stretch, wall: number) => from <= wall && wall < until;
const never: Stretch = [Infinity, Infinity];

/** What goes wrong once the secret is public, relative to that. */
type Trouble = {
  readonly node: 'gone' | 'silent';
  /** Of the chain that this side has funded: for as long as it likes. */
  readonly given: Stretch;
  /** Of the chain that pays it: within what its policy allows for. */
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
  const [given, paying] = [begin(), begin()];
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

/** One swap to its end. Resolves to what this side lost, or null. */
async function lossOf(seed: number): Promise<string | null> {
  const chance = chanceOf(seed);
  const scene = await paperScene(chance.pick(['maker', 'taker']));
  const { chains, gives, gets, market, input } = scene;
  const isMaker = gives === 'a';
  const isNever = chance.hits(0.15);
  const start = scene.wall;
  scene.theirsAt = isNever ? Infinity : start + chance.int(0, isMaker ? 4 * hour - 120 : hour);
  const trouble = troubleOf(chance);
  // The market alone shows the secret: the chain that does is silent from when it was funded.
  const isHeard = isMaker && chance.hits(0.2);
  let publicAt = Infinity;
  const hasReveal = () => [...chains.a.pool.values(), ...chains.a.mined].some(isClaim);
  market.lie((swap) => ({ ...swap, secret: hasReveal() && isHeard ? scene.secret : null }));
  const storeWorks = () => !holds(trouble.store, scene.wall - publicAt);
  const asked = async <T>(answer: () => Promise<T>): Promise<T> => {
    if (storeWorks()) return answer();
    throw new Error('the disk is full');
  };
  const { store: kept } = input;
  const store: Store = {
    ...kept,
    putSwap: async (record) => {
      if (record.publicSecret !== null && publicAt === Infinity) publicAt = scene.wall;
      return asked(() => kept.putSwap(record));
    },
    putSecret: (...about) => asked(() => kept.putSecret(...about)),
    getSwap: (id) => asked(() => kept.getSwap(id)),
    swapIds: (since) => asked(() => kept.swapIds(since)),
  };
  const client = troubled(scene, () => (publicAt < Infinity ? trouble.market : 'well'));
  scene.stepSeconds = chance.int(30, 90);
  let isKilled = false;
  scene.onStep = () => {
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
  const isFine = ends[0] === 'refunded' || ends[1] === 'claimed' || !hasFunded(scene);
  if (isFine) return null;
  const facts = { party: isMaker ? 'maker' : 'taker', ends, isHeard, isNever, trouble };
  const told = scene.told.map(({ step, leg, text }) => `${step} ${leg} ${text}`);
  return `seed ${seed}: ${JSON.stringify(facts)}\n${told.join('\n')}`;
}

const isClaim = ({ call }: { call: { verb: string } }) => call.verb === 'claim';

function hasFunded({ chains, gives }: PaperScene): boolean {
  return chains[gives].mined.some(({ call }) => call.verb === 'fund');
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

test('nobody who leaves it to the driver ends with neither', { timeout: 600_000 }, async () => {
  const one = process.env.PARLEY_DRIVER_SEED;
  const count = one === undefined ? runs(12) : 1;
  const seeds = Array.from({ length: count }, (_, index) => Number(one ?? index));
  for (let at = 0; at < seeds.length; at += atOnce) {
    const losses = await Promise.all(seeds.slice(at, at + atOnce).map(lossOf));
    for (const loss of losses) assert.equal(loss, null);
  }
});
