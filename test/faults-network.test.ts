// A proxy between the market and every node and the database that is late, cuts, stays silent,
// answers by halves or crawls, at every moment of a swap: it ends right, and requests are answered.

import assert from 'node:assert/strict';
import { agreed, endsRight, isFunded, refusal, run, runUntil } from './faults/deals.ts';
import { faults, type Moment, moments, swapThrough, type Where } from './faults/moments.ts';
import { onStage } from './faults/scenario.ts';
import { families } from './faults/stage.ts';

const scenario = onStage();

/** All of them in the soak. */
const isDecisive = (where: Where, kind: keyof typeof faults, moment: Moment): boolean =>
  where === 'database' && kind === 'half-open, mute' && moment === 'while the funding is sent';

for (const where of [...families, 'database'] as const) {
  for (const kind of Object.keys(faults) as (keyof typeof faults)[]) {
    for (const moment of moments) {
      scenario(
        { fault: `${kind} ${moment}`, where, decisive: isDecisive(where, kind, moment) },
        `${where}: ${kind} ${moment}, and the swap ends right`,
        (scene) => swapThrough(scene, where, kind, moment),
      );
    }
  }
}

scenario(
  { fault: 'the answer to a broadcast is lost', where: 'evm', decisive: false },
  'a broadcast whose answer is lost is 504 with its txid, is found there, and is sent again once',
  async ({ stage, pair }) => {
    const deal = await agreed(stage, pair, 'ETH', 'SOL');
    const { who } = deal.taker;
    const lost: { raw: unknown; txid: string | null; status: number }[] = [];
    const client = {
      ...who.client,
      broadcast: async (chain: string, raw: never) => {
        if (lost.length > 0) return who.client.broadcast(chain, raw);
        const only = { ...who.client };
        for (const each of stage.nodes.evm) each.fail({ kind: 'mute' });
        const refused = await refusal(only.broadcast(chain, raw));
        for (const each of stage.nodes.evm) each.heal();
        lost.push({ raw, txid: refused.txid, status: refused.status });
        const again = await who.client.broadcast(chain, raw);
        assert.equal(again.txid, refused.txid, 'the same transaction');
        return again;
      },
    } as typeof who.client;
    const maker = run(stage, deal, 'maker');
    const taker = await run(stage, deal, 'taker', { client });
    assert.equal(lost[0]?.status, 504);
    assert.equal(lost[0]?.txid, taker.txids.b.fund);
    await endsRight(stage, deal, [taker, await maker], 'received');
    return { meanwhile: '504 with x-parley-txid, sent again: the same', end: 'both paid' };
  },
);

scenario(
  { fault: 'one chain silent for a whole swap of others', where: 'bitcoin', decisive: false },
  'while Bitcoin is silent a swap of other chains settles, and afterwards the other one too',
  async ({ stage, pair }) => {
    const [taker, maker] = pair;
    const stuck = await agreed(stage, pair, 'BTC', 'ETH');
    await Promise.all([
      runUntil(stage, stuck, 'taker', isFunded),
      runUntil(stage, stuck, 'maker', ({ step }) => step === 'verified'),
    ]);
    for (const each of stage.nodes.bitcoin) each.fail({ kind: 'deaf' });
    const deal = await agreed(stage, [maker, taker], 'TRX', 'SOL');
    const ends = await Promise.all([run(stage, deal, 'taker'), run(stage, deal, 'maker')]);
    await endsRight(stage, deal, ends, 'received');
    const refused = await refusal(maker.client.fund(stuck.id, 'a'));
    assert.deepEqual([refused.status, refused.code], [504, 'chain_timeout']);
    for (const each of stage.nodes.bitcoin) each.heal();
    const late = await Promise.all([run(stage, stuck, 'taker'), run(stage, stuck, 'maker')]);
    await endsRight(stage, stuck, late, 'received');
    return { meanwhile: 'others settle; 504 chain_timeout to fund', end: 'both swaps paid' };
  },
);
