// The secrets kept by numbers of the feed: they show nothing of others' private RFQs, and a client
// that resumes by them loses nothing.

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { someAddress } from '@parley/verify/test/support/trading.ts';
import { parseAddress } from '../../market/addresses.ts';
import { prune } from '../../market/prune.ts';
import { about, openMaker } from '../testing/feed-client.ts';
import { anotherProcess, feedMarket } from '../testing/feed-market.ts';

const resume = { resume: true };
/** A market, what it tells a stranger of private RFQs, and how to ask it as one. */
async function strangers(t: TestContext) {
  const own = await feedMarket();
  t.after(() => own.close());
  const { address } = parseAddress(someAddress('evm'), 'dev');
  const holder = await own.trader({ wallets: [{ family: 'evm', address }] });
  const asks = await own.trader();
  const stranger = await own.trader();
  const hidden = async () => {
    const { id } = await own.rfq(asks, { visibility: 'private', targetAddress: address });
    await asks.post(`/v1/rfqs/${id}/cancel`);
  };
  const open = (at: string, since?: number) =>
    openMaker(at, {
      apiKey: stranger.key,
      ...resume,
      ...(since === undefined ? {} : { since }),
    });
  return { own, asks, holder, address, hidden, open };
}

test('a stranger’s numbers are the same with private RFQs in between and without', async (t) => {
  const heard = async (withHidden: boolean) => {
    const { own, asks, holder, hidden, open } = await strangers(t);
    const seesAll = await own.maker(holder, resume);
    let count = 0;
    const privateOnes = () =>
      seesAll.frames.filter(({ rfq }) => rfq?.visibility === 'private').length;
    /** Waits until it came to whom it is for, so that it is in the log. */
    const between = async () => {
      if (!withHidden) return;
      await hidden();
      count += 2;
      await seesAll.frame(() => privateOnes() === count);
    };
    await between();
    const live = await open(own.at);
    await between();
    const posted: string[] = [];
    for (const round of ['0', '1', '2']) {
      const { id } = await own.rfq(asks);
      posted.push(id);
      await live.frame(about(id));
      await between();
      live.send({ ping: round });
      await live.frame(({ pong }) => pong === round);
    }
    for (const id of posted) await asks.post(`/v1/rfqs/${id}/cancel`);
    const { seq } = await live.frame(about(posted[2]!, 'cancelled'));
    await between();
    const other = await anotherProcess(own);
    const all = [live];
    for (const at of [own.at, other.at]) {
      for (const since of [undefined, 0, 2, seq - 1, seq, seq + 1]) all.push(await open(at, since));
    }
    // A day in which nothing public came.
    own.deps.advance(86_400_001);
    await between();
    while ((await prune(own.deps)).feedLog > 0);
    all.push(await open(own.at, seq));
    for (const each of [...all, seesAll]) each.close();
    await other.close();
    return all.map(({ frames }) => frames.map(({ type, seq: number }) => `${type} ${number}`));
  };
  const without = await heard(false);
  assert.deepEqual(await heard(true), without);
  const rounds = [2, 3, 4].flatMap((seq) => [`rfq ${seq}`, `pong ${seq}`]);
  assert.deepEqual(without[0], ['snapshot 1', 'ready 1', ...rounds, 'rfq 5', 'rfq 6', 'rfq 7']);
});
