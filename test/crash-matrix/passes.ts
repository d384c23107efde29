// Rows of the matrix that are passes: what a process does by itself, and what it does when it
// stops.

import { cutOff, mine, submit } from '../sim/chain.ts';
import type { Party } from '../sim/state.ts';
import { inspectionOf, refused, tokenAddress, waits } from './identity-requests.ts';
import { type Machine, rocket } from './machine.ts';
import type { Play, Row } from './matrix.ts';
import { chainNamed, tokenChain } from './parts.ts';
import { pass, type Work } from './pass.ts';
import { leaseMs } from './request.ts';
import {
  type Agreed,
  acceptance,
  agree,
  ask,
  building,
  bury,
  deliverAll,
  fundBoth,
  look,
  must,
  openRfq,
  openThread,
  openTraders,
  rfqBody,
  settleLeg,
  shortOf,
  sign,
  waitUntil,
} from './trade.ts';
import { secondsOf, type World } from './world.ts';

const dayMs = 86_400_000;

const lookAtAll: Work = async ({ settlement }, { nodes }) => {
  for (const { chain } of nodes) await settlement.pass(chain.chain);
};

const follow = (detail: string, prepare: (world: World) => Promise<unknown>) =>
  pass('settlement.pass', detail, lookAtAll, prepare);

/** Past us: signed here, sent by a node of the party's own. */
async function sendAlone(
  world: World,
  made: Agreed,
  verb: 'fund' | 'claim' | 'refund',
  leg: 'a' | 'b',
): Promise<void> {
  const tx = await sign(world, made, verb, leg);
  submit(chainNamed(world, tx.chain), tx);
}

const follows: readonly Row[] = [
  follow('a funding', async (world) => {
    const made = await agree(world);
    await sendAlone(world, made, 'fund', made.long);
    await bury(world);
  }),
  follow('a funding that waits', async (world) => {
    const made = await agree(world);
    await sendAlone(world, made, 'fund', made.long);
  }),
  follow('both fundings of two swaps', async (world) => {
    const [one, other] = [await agree(world), await agree(world, 'eth')];
    for (const made of [one, other]) await sendAlone(world, made, 'fund', made.long);
    await bury(world);
    await look(world);
    for (const made of [one, other]) await sendAlone(world, made, 'fund', shortOf(made));
    await bury(world);
  }),
  follow('a secret', async (world) => {
    const made = await fundBoth(world);
    await sendAlone(world, made, 'claim', shortOf(made));
    mine(chainNamed(world, 'sim-evm'), secondsOf(world), () => true);
  }),
  follow('the end of a swap', async (world) => {
    const made = await fundBoth(world);
    await settleLeg(world, made, 'claim', shortOf(made));
    await sendAlone(world, made, 'claim', made.long);
    await bury(world);
  }),
  follow('refunds', async (world) => {
    const made = await fundBoth(world);
    const { deadlines } = await must(world, {
      method: 'GET',
      url: `/v1/swaps/${made.swapId}`,
      by: made.taker,
    });
    await waitUntil(world, Math.max(deadlines.refundAt.a, deadlines.refundAt.b) + 7_200);
    await look(world);
    for (const leg of ['a', 'b'] as const) await sendAlone(world, made, 'refund', leg);
    await bury(world);
  }),
  follow('a reorganisation', async (world) => {
    const made = await agree(world);
    await sendAlone(world, made, 'fund', made.long);
    await bury(world);
    await look(world);
    await deliverAll(world);
    cutOff(chainNamed(world, 'sim-bitcoin'), 12, () => false);
    mine(chainNamed(world, 'sim-bitcoin'), secondsOf(world), () => true);
  }),
  pass(
    'settlement.passDue',
    'two swaps that nobody funds',
    ({ settlement }) => settlement.passDue(),
    async (world) => {
      await agree(world);
      await agree(world);
      world.nowMs += dayMs;
    },
  ),
];

const deliver: Work = ({ delivering }) => delivering.pass();

/** A quote for the taker, an agreement for both. */
async function news(world: World): Promise<void> {
  const made = await openThread(world);
  await must(world, acceptance(made, made.taker));
  await must(world, acceptance(made, made.maker));
}

const tellings: readonly Row[] = [
  pass(
    'feed.sequence',
    'what came and went',
    ({ feed }) => feed.sequence(),
    async (world) => {
      const first = await openRfq(world);
      await must(world, { url: `/v1/rfqs/${first.rfqId}/cancel`, by: first.taker });
      const body = { ...rfqBody(first, 'btc'), ttlSeconds: 60 };
      await must(world, { url: '/v1/rfqs', by: first.taker, body });
      await openRfq(world, 'eth', first);
      world.nowMs += 120_000;
    },
  ),
  pass('delivering.pass', 'events of both sides', deliver, news),
  pass('delivering.pass', 'receivers that fail', failThenDeliver, news, {
    // A failed attempt that was not stored is not counted.
    reading: {
      timeless: true,
      only: { delivery_attempts: () => null, deliveries: withoutAttempts },
    },
    after: async (world) => {
      world.receiver.failing = 0;
      for (let again = 0; again < 8; again += 1) {
        world.nowMs += 300_000;
        await deliverAll(world);
      }
    },
  }),
];

function withoutAttempts({ attempts: _, ...row }: Record<string, unknown>) {
  return row;
}

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
  world.tokens.set(tokenAddress, inspectionOf(tokenAddress));
  const body = { chain: tokenChain, address: tokenAddress };
  const { asset } = await must(world, { url: '/v1/assets', by: traders.taker, body });
  const wanted = { ...rfqBody(traders, 'btc'), quoteAssetId: asset.id, ttlSeconds: 604_800 };
  await must(world, { url: '/v1/rfqs', by: traders.taker, body: wanted });
  await deliverAll(world);
  world.nowMs += dayMs;
}

const recheck: Work = ({ rechecks }) => rechecks.pass();
/** What a dead process had in hand is due again later. */
const laterAgain: Partial<Play> = {
  after: async (world) => {
    for (let again = 0; again < 2; again += 1) {
      world.nowMs += 700_000;
      await world.market.rechecks.pass();
      await deliverAll(world);
    }
  },
};

/** Tokens that somebody asked for, and that have to wait. */
async function candidates(world: World, ...addresses: readonly string[]): Promise<void> {
  const { taker } = await openTraders(world);
  for (const address of addresses) {
    world.tokens.set(address, inspectionOf(address, waits));
    await must(world, { url: '/v1/assets', by: taker, body: { chain: tokenChain, address } });
  }
}

const listings: readonly Row[] = [
  pass(
    'rechecks.pass',
    'a candidate is listed, one is refused',
    recheck,
    async (world) => {
      const other = `0x${'7f'.repeat(20)}`;
      await candidates(world, tokenAddress, other);
      world.tokens.set(tokenAddress, inspectionOf(tokenAddress));
      world.tokens.set(other, inspectionOf(other, refused));
      world.nowMs += 3_600_000;
    },
    laterAgain,
  ),
  pass(
    'rechecks.pass',
    'a listed token closes with its orders',
    recheck,
    async (world) => {
      await listedToken(world);
      world.tokens.set(tokenAddress, inspectionOf(tokenAddress, waits));
    },
    laterAgain,
  ),
  pass(
    'rechecks.pass',
    'one reopens with its orders',
    recheck,
    async (world) => {
      await listedToken(world);
      world.tokens.set(tokenAddress, inspectionOf(tokenAddress, waits));
      await world.market.rechecks.pass();
      await deliverAll(world);
      world.tokens.set(tokenAddress, inspectionOf(tokenAddress));
      world.nowMs += dayMs;
    },
    laterAgain,
  ),
  pass(
    'rechecks.pass',
    'candidates whose time is over',
    recheck,
    async (world) => {
      await candidates(world, tokenAddress);
      world.nowMs += 8 * dayMs;
    },
    laterAgain,
  ),
];

const launching: readonly Row[] = [
  pass(
    'launchpads.look',
    '',
    async ({ launchpads }) => launchpads.look(rocket),
    async (world) => {
      await world.market.launchpads.look(rocket);
      world.launched.push(`0x${'71'.repeat(20)}`, `0x${'72'.repeat(20)}`);
      world.nowMs += 60_000;
    },
    {
      after: async (world) => {
        world.nowMs += 300_000;
        for (let again = 0; again < 2; again += 1) {
          await world.market.launchpads.look(rocket);
          world.nowMs += 60_000;
        }
      },
    },
  ),
];

const housekeeping: readonly Row[] = [
  pass(
    'pruning.pass',
    '',
    ({ pruning }) => pruning.pass(),
    async (world) => {
      await news(world);
      await must(world, { method: 'GET', url: '/v1/keys/nonce' });
      const { taker, assets, maker } = await openRfq(world);
      const body = rfqBody({ taker, maker, assets }, 'btc');
      await must(world, { url: '/v1/rfqs', by: taker, body, once: 'kept for a day' });
      await deliverAll(world);
      world.nowMs += 9 * dayMs;
    },
  ),
];

/** SIGTERM while requests and passes are under way: what it cuts off is asked for again. */
const stopping: Row = {
  name: 'stop, with requests and passes under way',
  of: 'stop',
  prepare: async (world) => {
    const made = await agree(world);
    await sendAlone(world, made, 'fund', made.long);
    await bury(world);
    const body = rfqBody(made, 'btc');
    const asked = { url: '/v1/rfqs', by: made.taker as Party, body, once: 'once' };
    const build = { ...building(made, 'fund', made.long), once: 'once' };
    return {
      act: async (copy, tries) => {
        const { market } = copy;
        const work = Promise.all([ask(copy, asked), ask(copy, build)]);
        if (tries > 0) return answered(await work);
        const passes = [market.settlement.pass('sim-bitcoin'), market.delivering.pass()];
        const ended = Promise.allSettled(passes);
        // Requests that are being served have begun.
        await new Promise(setImmediate);
        await Promise.all([market.stop(), ended]);
        return answered(await work);
      },
      after: async (copy) => {
        for (let again = 0; again < 2; again += 1) {
          copy.nowMs += leaseMs;
          await look(copy);
          await deliverAll(copy);
        }
      },
      reading: { timeless: true },
    };
  },
};

/** The worst of the answers. */
const answered = <Answered extends { status: number }>(answers: readonly Answered[]) =>
  [...answers].sort((one, other) => other.status - one.status)[0] as Answered;

export const passes: readonly Row[] = [
  ...follows,
  ...tellings,
  ...listings,
  ...launching,
  ...housekeeping,
  stopping,
];

/** Every pass of a process, as `of` names it. */
export function passesOf(machine: Machine): string[] {
  const { settlement, scheduled, keeper, delivering, messaging, reminding } = machine;
  const { rechecks, launchpads, pruning, passing, feed, presence } = machine;
  const first = { settlement, scheduled, keeper, delivering, messaging, reminding };
  const parts = { ...first, rechecks, launchpads, pruning, passing, feed, presence };
  return Object.entries(parts).flatMap(([name, part]) =>
    Object.keys(part)
      .filter((verb) => verb !== 'start' && verb !== 'stop')
      .map((verb) => `${name}.${verb}`),
  );
}
