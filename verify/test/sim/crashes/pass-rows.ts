// Rows of the matrix that are passes: a process's own work, its work when time is missing from its
// database, and its stop.

import { setBlocked } from '@parley/market/db/accounts.ts';
import { withdrawBlocked } from '@parley/market/market/blocking.ts';
import { cutOff, mine } from '../chain.ts';
import { sql } from '../world.ts';
import { secondsOf, type World } from './copies.ts';
import { chainNamed, type Machine, rocket } from './machine.ts';
import type { Play, Row } from './matrix.ts';
import { again, leaseMs, passes, type Work } from './plays.ts';
import { inspected, refused, tokenAddress, waits, wish } from './requests.ts';
import {
  acceptance,
  agree,
  ask,
  building,
  bury,
  deliverAll,
  fundBoth,
  get,
  must,
  openRfq,
  openThread,
  openTraders,
  pollAll,
  rfqBody,
  sendAlone,
  settled,
  settleLeg,
  shortOf,
  waitFor,
} from './trade.ts';

const dayMs = 86_400_000;

const fundedAlone = async (world: World) => {
  const made = await agree(world);
  await sendAlone(world, made, 'fund', made.long);
  return made;
};

const pollOnce: Work = async ({ settlement }, { nodes }) => {
  for (const { chain } of nodes) await settlement.pass(chain.chain);
};

const follows: readonly Row[] = [
  ...passes('settlement.pass', pollOnce, {
    'a funding': async (world) => {
      await fundedAlone(world);
      await bury(world);
    },
    'a funding that waits': fundedAlone,
    'both fundings of two swaps': async (world) => {
      const one = await agree(world);
      const other = await agree(world, 'eth');
      for (const made of [one, other]) await sendAlone(world, made, 'fund', made.long);
      await settled(world);
      for (const made of [one, other]) await sendAlone(world, made, 'fund', shortOf(made));
      await bury(world);
    },
    'a secret': async (world) => {
      const made = await fundBoth(world);
      await sendAlone(world, made, 'claim', shortOf(made));
      mine(chainNamed(world, 'sim-evm'), secondsOf(world), () => true);
    },
    'the end of a swap': async (world) => {
      const made = await fundBoth(world);
      await settleLeg(world, made, 'claim', shortOf(made));
      await sendAlone(world, made, 'claim', made.long);
      await bury(world);
    },
    refunds: async (world) => {
      const made = await fundBoth(world);
      await waitFor(world, made);
      for (const leg of ['a', 'b'] as const) await sendAlone(world, made, 'refund', leg);
      await bury(world);
    },
    'a reorganisation': async (world) => {
      await fundedAlone(world);
      await settled(world);
      await deliverAll(world);
      cutOff(chainNamed(world, 'sim-bitcoin'), 12, () => false);
      mine(chainNamed(world, 'sim-bitcoin'), secondsOf(world), () => true);
    },
  }),
  ...passes('settlement.passDue', ({ settlement }) => settlement.passDue(), {
    'two swaps that nobody funds': async (world) => {
      await agree(world);
      await agree(world);
      world.nowMs += dayMs;
    },
  }),
];

/** A quote for the taker, an agreement for both. */
const news = (world: World) => agree(world);

const tellings: readonly Row[] = [
  ...passes('feed.sequence', ({ feed }) => feed.sequence(), {
    'what came and went': async (world) => {
      const first = await openRfq(world);
      await must(world, { url: `/v1/rfqs/${first.rfqId}/cancel`, by: first.taker });
      const body = { ...rfqBody(first), ttlSeconds: 60 };
      await must(world, { url: '/v1/rfqs', by: first.taker, body });
      await openRfq(world, 'eth', first);
      world.nowMs += 120_000;
    },
  }),
  ...passes('delivering.pass', ({ delivering }) => delivering.pass(), {
    'events of both sides': news,
  }),
  ...passes(
    'delivering.pass',
    failThenDeliver,
    { 'receivers that fail': news },
    {
      // A failed attempt that was not stored is not counted.
      reading: {
        timeless: true,
        only: { delivery_attempts: () => null, deliveries: ({ attempts: _, ...row }) => row },
      },
      after: async (world) => {
        world.receiver.failing = 0;
        await again(8, 300_000, deliverAll)(world, null);
      },
    },
  ),
];

async function failThenDeliver({ delivering }: Machine, world: World): Promise<void> {
  world.receiver.failing = 1;
  await delivering.pass();
  world.nowMs += 16_000;
  world.receiver.failing = 0;
  await delivering.pass();
}

/** A token that was listed by itself, with an RFQ for it. */
async function listedToken(world: World): Promise<void> {
  const traders = await openTraders(world);
  inspected(world, tokenAddress);
  const { asset } = await must(world, wish(traders.taker));
  const wanted = { ...rfqBody(traders), quoteAssetId: asset.id, ttlSeconds: 604_800 };
  await must(world, { url: '/v1/rfqs', by: traders.taker, body: wanted });
  await deliverAll(world);
  world.nowMs += dayMs;
}

/** Tokens that somebody asked for, and that have to wait. */
async function candidates(world: World, ...addresses: readonly string[]): Promise<void> {
  const { taker } = await openTraders(world);
  for (const address of addresses) {
    inspected(world, address, waits);
    await must(world, wish(taker, address));
  }
}

const recheck: Work = ({ rechecks }) => rechecks.pass();

const listings = passes(
  'rechecks.pass',
  recheck,
  {
    'a candidate is listed, one is refused': async (world) => {
      const other = `0x${'7f'.repeat(20)}`;
      await candidates(world, tokenAddress, other);
      inspected(world, tokenAddress);
      inspected(world, other, refused);
      world.nowMs += 3_600_000;
    },
    'a listed token closes with its orders': async (world) => {
      await listedToken(world);
      inspected(world, tokenAddress, waits);
    },
    'one reopens with its orders': async (world) => {
      await listedToken(world);
      inspected(world, tokenAddress, waits);
      await world.market.rechecks.pass();
      await deliverAll(world);
      inspected(world, tokenAddress);
      world.nowMs += dayMs;
    },
    'candidates whose time is over': async (world) => {
      await candidates(world, tokenAddress);
      world.nowMs += 8 * dayMs;
    },
  },
  {
    // Work that a dead process had in hand is due again later.
    after: again(2, 700_000, async (world) => {
      await world.market.rechecks.pass();
      await deliverAll(world);
    }),
  },
);

const launching = passes(
  'launchpads.look',
  async ({ launchpads }) => launchpads.look(rocket),
  {
    '': async (world) => {
      await world.market.launchpads.look(rocket);
      world.launched.push(`0x${'71'.repeat(20)}`, `0x${'72'.repeat(20)}`);
      world.nowMs += 60_000;
    },
  },
  { after: again(2, 300_000, ({ market }) => market.launchpads.look(rocket)) },
);

const housekeeping = passes('pruning.pass', ({ pruning }) => pruning.pass(), {
  '': async (world) => {
    await news(world);
    await get(world, '/v1/keys/nonce');
    const made = await openRfq(world);
    const asked = { url: '/v1/rfqs', by: made.taker, body: rfqBody(made) };
    await must(world, { ...asked, once: 'kept for a day' });
    await deliverAll(world);
    world.nowMs += 9 * dayMs;
  },
});

/** An operator's command, which is given again where it did not end. */
const block =
  (who: 'taker' | 'maker'): Work =>
  async ({ deps }, { nowMs, parties }) => {
    const id = parties[who === 'taker' ? 0 : 1]?.accountId ?? '';
    const at = new Date(nowMs);
    await deps.db.transaction((tx) => setBlocked(tx, { id, reason: 'abuse', at }));
    await withdrawBlocked(deps.db, id, at);
  };

const blocking: readonly Row[] = (['taker', 'maker'] as const).flatMap((who) =>
  passes('withdrawBlocked', block(who), {
    [`a ${who} with a swap, and with an acceptance that waits`]: async (world) => {
      const traders = await openTraders(world);
      await agree(world, 'btc', traders);
      const made = await openThread(world, 'eth', traders);
      await must(world, acceptance(made, made[who]));
      await deliverAll(world);
    },
  }),
);

/** More than all heartbeats; each missing time jumps by as many. */
const jump = 1_000_000_000;

/** Numbers given out twice where the first was rolled back; how often it beat. */
const reading: Play['reading'] = {
  timeless: true,
  only: {
    heartbeat: ({ beat, lineage }) => ({ jumps: Math.floor(Number(beat) / jump), lineage }),
    gaps: ({ id: _, ...row }) => row,
  },
};

/** A nonce, an acceptance that waits for the other side, and a feed that was told of both. */
async function lively(world: World) {
  await world.market.presence.beatNow();
  const made = await openThread(world);
  await must(world, acceptance(made, made.initiator));
  await get(world, '/v1/keys/nonce');
  await deliverAll(world);
  return made;
}

/** Another history of the database than it was: keys that were revoked since may live in it. */
async function otherHistory(world: World): Promise<void> {
  await sql(world.real, `update heartbeat set lineage = 'of another cluster'`);
  world.nowMs += 7_200_000;
  await bury(world);
}

/** The first opens what is missing, if anything is; the second finds nothing. */
const beat: Work = async ({ presence }) => {
  await presence.beatNow();
  await presence.beatNow();
};

const missing: readonly Row[] = [
  ...passes(
    'presence.beatNow',
    beat,
    {
      'time is missing': async (world) => {
        await lively(world);
        await otherHistory(world);
      },
    },
    { reading },
  ),
];

/**
 * SIGTERM while requests and passes are under way: the client asks again for a request that was cut
 * off.
 */
const stopping: Row = {
  name: 'stop, with requests and passes under way',
  of: 'stop',
  prepare: async (world) => {
    const made = await fundedAlone(world);
    await bury(world);
    const asked = { url: '/v1/rfqs', by: made.taker, body: rfqBody(made), once: 'once' };
    const build = { ...building(made, 'fund', made.long), once: 'once' };
    return {
      act: async (copy, tries) => {
        const { market } = copy;
        const work = Promise.all([ask(copy, asked), ask(copy, build)]);
        if (tries === 0) {
          const under = [market.settlement.pass('sim-bitcoin'), market.delivering.pass()];
          const ended = Promise.allSettled(under);
          // Requests that are being served have begun.
          await new Promise(setImmediate);
          await Promise.all([market.stop(), ended]);
        }
        // The worst of the answers.
        const [one, other] = await work;
        return one.status >= other.status ? one : other;
      },
      after: again(2, leaseMs, async (copy) => {
        await pollAll(copy);
        await deliverAll(copy);
      }),
      reading: { timeless: true },
    };
  },
};

export const passRows: readonly Row[] = [
  ...[follows, tellings, listings, launching, housekeeping, blocking, missing].flat(),
  stopping,
];
