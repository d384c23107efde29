// Two servers on one database behind one address, of which one is frozen in the middle of a swap;
// and servers whose clocks are wrong, or are set while they run.

import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { onStage } from './faults/scenario.ts';
import {
  agreed,
  deep,
  endsRight,
  finish,
  fund,
  heard,
  refusal,
  run,
  runUntil,
  shows,
  until,
} from './support/deals.ts';

const scenario = onStage();

scenario(
  'decisive',
  'a server that was frozen and wakes up does nothing twice, and the other takes over meanwhile',
  async ({ stage, pair }) => {
    const [first] = stage.servers;
    assert.ok(first);
    const other = await stage.startServer();
    const deal = await agreed(stage, pair, 'SOL', 'ETH');
    // The first has a delivery in hand when it stops: the other stands still until then.
    const inHand = Promise.withResolvers<void>();
    stage.receiver.answer(() => inHand.resolve());
    stage.front.pointTo(first.port);
    other.market.child.kill('SIGSTOP');
    await fund(stage, deal, 'initiator');
    await inHand.promise;
    first.market.child.kill('SIGSTOP');
    other.market.child.kill('SIGCONT');
    stage.receiver.answer(200);
    stage.front.pointTo(other.port);
    try {
      const ends = await finish(stage, deal);
      await shows(deal, 'the other sees it end', ({ status }) => status === 'counterparty_claimed');
      // Its leases end, and what it had in hand is the other's.
      for (const { hook } of pair) {
        await until('the other delivers', async () =>
          stage.receiver.received.some(
            ({ path, body }) =>
              path === hook && body.includes('swap.settled') && body.includes(deal.id),
          ),
        );
      }
      const before = heard(stage, pair[0], deal.id).length;
      first.market.child.kill('SIGCONT');
      stage.front.pointTo(first.port, other.port);
      await sleep(3_000);
      await endsRight(stage, deal, ends, 'received');
      assert.equal(heard(stage, pair[0], deal.id).length, before, 'no new event');
    } finally {
      first.market.child.kill('SIGCONT');
      stage.receiver.answer(200);
      await other.kill();
    }
  },
);

const minute = 60;

for (const [minutes, way] of [
  [-45, 'behind'],
  [45, 'ahead'],
] as const) {
  scenario(
    'soak',
    `a server whose clock is set 45 minutes ${way} in a swap, and back, loses nobody anything`,
    async ({ stage, pair }) => {
      const [server] = stage.servers;
      assert.ok(server);
      const deal = await agreed(stage, pair, 'BTC', 'ETH');
      try {
        await fund(stage, deal, 'initiator');
        await server.skew(minutes * minute);
        const me = await pair[0].client.me();
        assert.equal(me.userId, pair[0].userId, 'keys go on');
        const maker = run(stage, deal, 'maker');
        await runUntil(stage, deal, 'taker', deep('a'));
        await server.skew(0);
        const ends = await Promise.all([run(stage, deal, 'taker'), maker]);
        await endsRight(
          stage,
          deal,
          ends.map(({ end }) => end),
          'received',
        );
      } finally {
        await server.skew(0);
      }
    },
  );
}

scenario(
  'decisive',
  'gates take the later of wall clock and chain clock: a clock that is behind opens nothing late',
  async ({ stage, pair }) => {
    const [server] = stage.servers;
    assert.ok(server);
    const deal = await agreed(stage, pair, 'BTC', 'ETH');
    await fund(stage, deal, 'initiator');
    const isFunded = ({ status }: { status: string }) => status === 'initiator_funded';
    const { deadlines } = await shows(deal, 'the long leg counts', isFunded);
    try {
      // The wall says that it is far too late: nobody may fund, whatever the chains say.
      await server.skew(deadlines.counterpartyFundBy - stage.now() + 60);
      const late = await refusal(pair[1].client.fund(deal.id, 'a'));
      assert.deepEqual([late.status, late.code], [409, 'too_late_to_fund']);
      // And it may not be refunded by the wall alone.
      await server.skew(deadlines.refundAt.b - stage.now() + 60);
      const early = await refusal(pair[0].client.refund(deal.id, 'b'));
      assert.deepEqual([early.status, early.code], [409, 'too_early_to_refund']);
      await server.skew(0);
      // The chains say that it is too late: a wall that is behind them opens nothing.
      const ahead = deadlines.counterpartyFundBy - stage.now() + 600;
      await stage.move(ahead);
      await server.skew(-ahead);
      const behind = await refusal(pair[1].client.fund(deal.id, 'a'));
      assert.deepEqual([behind.status, behind.code], [409, 'too_late_to_fund']);
    } finally {
      await server.skew(0);
    }
    await stage.move(Math.max(deadlines.refundAt.a, deadlines.refundAt.b) - stage.now() + 120);
    await endsRight(stage, deal, await finish(stage, deal), 'refunded');
  },
);
