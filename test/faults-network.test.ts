// A proxy between the market and every node and the database that is late, cuts, stays silent,
// answers by halves or crawls, at every moment of a swap: it ends right, and requests are answered.

import assert from 'node:assert/strict';
import { faults, type Moment, moments, swapThrough, type Where } from './faults/moments.ts';
import { onStage, type When } from './faults/scenario.ts';
import { agreed, endsRight, finish, fund, refusal } from './support/deals.ts';
import { families } from './support/stage.ts';

const scenario = onStage();

/** All of them in the soak. */
const whenOf = (where: Where, kind: keyof typeof faults, moment: Moment): When =>
  where === 'database' && kind === 'half-open, mute' && moment === 'while the funding is sent'
    ? 'decisive'
    : 'soak';

for (const where of [...families, 'database'] as const) {
  for (const kind of Object.keys(faults) as (keyof typeof faults)[]) {
    for (const moment of moments) {
      scenario(
        whenOf(where, kind, moment),
        `${where}: ${kind} ${moment}, and the swap ends right`,
        (scene) => swapThrough(scene, where, kind, moment),
      );
    }
  }
}

scenario(
  'soak',
  'while Bitcoin is silent a swap of other chains settles, and afterwards the other one too',
  async ({ stage, pair }) => {
    const [taker, maker] = pair;
    const stuck = await agreed(stage, pair, 'BTC', 'ETH');
    await fund(stage, stuck, 'initiator');
    for (const each of stage.nodes.bitcoin) each.fail({ kind: 'deaf' });
    const deal = await agreed(stage, [maker, taker], 'TRX', 'SOL');
    await endsRight(stage, deal, await finish(stage, deal), 'received');
    const refused = await refusal(maker.client.fund(stuck.id, 'a'));
    assert.deepEqual([refused.status, refused.code], [504, 'chain_timeout']);
    for (const each of stage.nodes.bitcoin) each.heal();
    await endsRight(stage, stuck, await finish(stage, stuck), 'received');
  },
);
