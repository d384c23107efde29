// How soon an agreement is a swap: from the second acceptance, sent, to its answer, which comes after
// the commit of the swap's row and its events. Sent at a steady rate, whether or not the one before
// has been answered.

import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { bars } from './bars.ts';
import { atMost, type Effort, inRounds, median, p99, type Row } from './report.ts';
import { type Account, orderOf, posted, type Stage } from './stage.ts';

const perSecond = 100;
/** Takers, and as many makers: agreements of one account are made in turns. */
const pairs = 20;
const quoteAmount = '65000000';

export async function benchAccept(stage: Stage, { rounds, seconds }: Effort): Promise<Row[]> {
  const sides: Sides[] = [];
  while (sides.length < pairs) {
    sides.push({ taker: await stage.account(), maker: await stage.account() });
  }
  const round = () => agreed(stage, sides, Math.ceil(seconds * perSecond));
  // The first warms up.
  await round();
  const value = median(await inRounds(rounds, round));
  const { soonMs } = bars.accept;
  const name = `accept: the second acceptance -> its swap and events, p99 at ${perSecond}/s`;
  return [atMost(name, { value, unit: 'ms', limit: soonMs, bar: 1 }, 'the limit')];
}

type Sides = { readonly taker: Account; readonly maker: Account };
type Ready = { readonly id: string; readonly maker: Account };

/** The 99th percentile in milliseconds. Throws unless each made a swap. */
async function agreed(stage: Stage, sides: readonly Sides[], count: number): Promise<number> {
  const { port } = stage;
  const each = Math.ceil(count / sides.length);
  const ofSides = await Promise.all(sides.map((one) => accepted(stage, one, each)));
  // Those of a pair are far from each other.
  const threads = Array.from({ length: each }, (_, nth) => ofSides.map((all) => all[nth]!)).flat();
  const answers = threads.map(async ({ id, maker }, at) => {
    await sleep((at * 1_000) / perSecond);
    const sentAt = performance.now();
    const { swap } = await posted(port, `/v1/threads/${id}/accept`, maker, { quoteAmount });
    if (swap === undefined) throw new Error(`thread ${id} made no swap`);
    return performance.now() - sentAt;
  });
  return p99(await Promise.all(answers));
}

/** Threads that the taker has accepted. */
async function accepted(
  { port, assets }: Stage,
  { taker, maker }: Sides,
  count: number,
): Promise<Ready[]> {
  const ready: Ready[] = [];
  while (ready.length < count) {
    const { rfq } = await posted(port, '/v1/rfqs', taker, orderOf(assets));
    const { thread } = await posted(port, `/v1/rfqs/${rfq!.id}/quotes`, maker, { quoteAmount });
    const { id } = thread!;
    const hashlock = randomBytes(32).toString('hex');
    await posted(port, `/v1/threads/${id}/accept`, taker, { quoteAmount, hashlock });
    ready.push({ id, maker });
  }
  return ready;
}
