// Rows of the matrix: that a process lives, what it does when time is missing from its database,
// and what it then reads back from the chains.

import type { Row } from './matrix.ts';
import { pass, type Work } from './pass.ts';
import type { Reading } from './snapshot.ts';
import { acceptance, bury, deliverAll, must, openThread } from './trade.ts';
import type { World } from './world.ts';

/** More than all heartbeats; each missing time jumps by as many. */
const jump = 1_000_000_000;

/** Numbers given out twice where the first was rolled back; how often it beat. */
const reading: Reading = {
  timeless: true,
  only: {
    heartbeat: ({ beat, lineage, restored }) => {
      return { jumps: Math.floor(Number(beat) / jump), lineage, restored };
    },
    gaps: ({ id: _, ...row }) => row,
    gap_readings: ({ gap_id: _, ...row }) => row,
  },
};

/** A nonce, an acceptance that waits for the other side, and a feed that was told of both. */
async function lively(world: World) {
  await world.market.presence.beatNow();
  const made = await openThread(world);
  await must(world, acceptance(made, made.initiator));
  await must(world, { method: 'GET', url: '/v1/keys/nonce' });
  await deliverAll(world);
  return made;
}

/** Another history of the database than it was: keys that were revoked since may live in it. */
async function otherHistory(world: World): Promise<void> {
  const text = `update heartbeat set lineage = 'of another cluster'`;
  await world.real.rows({ name: '', text, values: [] });
  world.nowMs += 7_200_000;
  await bury(world);
}

/** The first opens what is missing, if anything is; the second finds nothing. */
const beat: Work = async ({ presence }) => {
  await presence.beatNow();
  await presence.beatNow();
};

const readBack: Work = ({ presence }) => presence.readNow();

/** One of the hashlocks is of the acceptance that the missing time has ended. */
async function toBeRead(world: World): Promise<void> {
  const { hashlock } = await lively(world);
  const strange = (byte: string) => byte.repeat(32);
  world.hashlocks.set('sim-bitcoin', [strange('a1'), hashlock, strange('b2')]);
  world.hashlocks.set('sim-evm', [strange('c3')]);
  await otherHistory(world);
  await world.market.presence.beatNow();
}

export const presenceRows: readonly Row[] = [
  pass(
    'presence.beatNow',
    'time is missing',
    beat,
    async (world) => {
      await lively(world);
      await otherHistory(world);
    },
    { reading },
  ),
  pass('presence.readNow', 'what two chains show', readBack, toBeRead, {
    right: async ({ market }) =>
      (await market.presence.readNow()) ? [] : ['what two chains show was not read'],
    reading,
  }),
];
