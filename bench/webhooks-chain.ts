// A funding that reaches its depth, until the webhook of its swap is at the receiver: the chain is
// polled, the swap reconciled, and the event handed out and delivered, by one market.

import { setTimeout as sleep } from 'node:timers/promises';
import tls from 'node:tls';
import { createSettlement } from '@parley/market/settle/follow.ts';
import {
  agree,
  bitcoin,
  type Deal,
  fundLong,
  must,
  newParty,
  type World,
} from '@parley/market/settle/testing/world.ts';
import { createDelivering } from '@parley/market/webhooks/deliver.ts';
import { bars } from './bars.ts';
import type { Child } from './children.ts';
import { usually } from './miniature.ts';
import { atMost, p99, type Row } from './report.ts';
import { setWorld } from './stage.ts';

const fundingsOfRound = usually(4, 1);
const depth = 3;
const lateMs = usually(10_000, 60_000);

type Receiver = Child<typeof import('./webhooks-sides.ts')>;

export async function benchChainEvents(
  receiver: Receiver,
  { url, ca }: { readonly url: string; readonly ca: string },
  rounds: number,
): Promise<Row> {
  tls.setDefaultCACertificates([...tls.getCACertificates('default'), ca]);
  const world = await setWorld();
  const settlement = createSettlement(world.deps);
  const pollMs = world.deps.settings.followIntervalMs;
  const delivering = createDelivering(world.deps);
  try {
    const initiator = await newParty(world);
    const counterparty = await newParty(world);
    must(await initiator.post('/v1/webhooks', { url, events: ['swap.funded'] }));
    await receiver.ask('slow', []);
    settlement.start();
    delivering.start();
    const milliseconds: number[] = [];
    while (milliseconds.length <= rounds * fundingsOfRound) {
      const deal = await agree(world, { initiator, counterparty });
      milliseconds.push(await toldOf(world, receiver, deal));
    }
    return atMost(
      `webhooks: a funding at its depth -> its webhook at the receiver, p99`,
      // The first warms up: it makes the connection to the receiver.
      {
        value: p99(milliseconds.slice(1)),
        unit: 'ms',
        limit: pollMs + bars.webhooks.soonMs,
        bar: 1,
      },
      `the polling interval of ${pollMs} ms, and ${bars.webhooks.soonMs} ms`,
    );
  } finally {
    await delivering.stop();
    await settlement.stop();
    await world.stop();
  }
}

/** Milliseconds from the block to the receiver. */
async function toldOf(world: World, receiver: Receiver, deal: Deal): Promise<number> {
  const { arrivals: before } = await receiver.ask('heard');
  await fundLong(world, deal);
  await world.dev.mine(bitcoin, depth - 1);
  // The block that brings it to its depth.
  const mined = Date.now();
  await world.dev.mine(bitcoin, 1);
  while (Date.now() < mined + lateMs) {
    const { arrivals } = await receiver.ask('heard');
    const at = arrivals[before.length];
    if (at !== undefined) return at - mined;
    await sleep(20);
  }
  throw new Error(`no webhook within ${lateMs} ms of a funding`);
}
