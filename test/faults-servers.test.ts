// Two servers on one database behind one address, of which one is killed or frozen in the middle of
// swaps; and servers whose clocks are wrong, or are set while they run.

import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { parleyClient } from '../sdk/client.ts';
import { rememberedMs } from '../server/edge/revocations.ts';
import {
  agreed,
  deep,
  endsRight,
  heard,
  isFunded,
  refusal,
  run,
  runUntil,
  shows,
  until,
} from './faults/deals.ts';
import { onStage, type Scene } from './faults/scenario.ts';
import type { Server } from './faults/stage.ts';

const scenario = onStage();

async function two({ stage }: Scene): Promise<[Server, Server]> {
  await stage.startServer();
  return stage.servers as [Server, Server];
}

/** The second of two, which scenarios that follow do not know of. */
async function endSecond({ stage }: Scene): Promise<void> {
  const [other] = stage.servers.splice(1);
  await other?.market.kill();
  stage.front.pointTo(...stage.servers.map(({ port }) => port));
}

scenario(
  {
    fault: 'one of two is frozen for longer than its leases',
    where: 'two servers',
    decisive: true,
  },
  'a server that was frozen and wakes up does nothing twice, and the other takes over meanwhile',
  async (scene) => {
    const { stage, pair } = scene;
    const [first, other] = await two(scene);
    const deal = await agreed(stage, pair, 'SOL', 'ETH');
    // The first has a delivery in hand when it stops: the other stands still until then.
    const inHand = Promise.withResolvers<void>();
    stage.receiver.answer(() => inHand.resolve());
    stage.front.pointTo(first.port);
    other.market.child.kill('SIGSTOP');
    await Promise.all([
      runUntil(stage, deal, 'taker', isFunded),
      runUntil(stage, deal, 'maker', ({ step }) => step === 'verified'),
    ]);
    await inHand.promise;
    first.market.child.kill('SIGSTOP');
    other.market.child.kill('SIGCONT');
    stage.receiver.answer(200);
    stage.front.pointTo(other.port);
    try {
      const ends = await Promise.all([run(stage, deal, 'taker'), run(stage, deal, 'maker')]);
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
      await endSecond(scene);
    }
    return { meanwhile: 'the other follows and delivers', end: 'both paid' };
  },
);

scenario(
  { fault: 'kill -9 of one of two', where: 'two servers', decisive: false },
  'one of two servers killed in the middle of a swap is not missed',
  async (scene) => {
    const { stage, pair } = scene;
    const [, other] = await two(scene);
    const deal = await agreed(stage, pair, 'TRX', 'ETH');
    let killed: Promise<void> | null = null;
    const maker = run(stage, deal, 'maker');
    const taker = run(stage, deal, 'taker', {
      onProgress: (progress) => {
        if (deep('b')(progress)) killed ??= other.market.kill();
      },
    });
    const ends = await Promise.all([taker, maker]);
    assert.notEqual(killed, null);
    await endSecond(scene);
    await endsRight(stage, deal, ends, 'received');
    return { meanwhile: 'the first goes on alone', end: 'both paid' };
  },
);

const minute = 60;

for (const minutes of [-10, 10, -45, 45]) {
  const way = minutes < 0 ? 'behind' : 'ahead';
  scenario(
    {
      fault: `clock ${Math.abs(minutes)} min ${way}, set while it runs`,
      where: 'server',
      decisive: false,
    },
    `a server whose clock is set ${Math.abs(minutes)} minutes ${way} in a swap, and back, loses nobody anything`,
    async ({ stage, pair }) => {
      const [server] = stage.servers;
      assert.ok(server);
      const deal = await agreed(stage, pair, 'BTC', 'ETH');
      try {
        await runUntilBothStarted(stage, deal);
        await server.skew(minutes * minute);
        const me = await pair[0].client.me();
        assert.equal(me.userId, pair[0].userId, 'keys go on');
        const maker = run(stage, deal, 'maker');
        await runUntil(stage, deal, 'taker', deep('a'));
        await server.skew(0);
        const ends = await Promise.all([run(stage, deal, 'taker'), maker]);
        await endsRight(stage, deal, ends, 'received');
      } finally {
        await server.skew(0);
      }
      return { meanwhile: 'keys, gates and webhooks go on', end: 'both paid' };
    },
  );
}

async function runBoth(stage: Scene['stage'], deal: Awaited<ReturnType<typeof agreed>>) {
  return Promise.all([run(stage, deal, 'taker'), run(stage, deal, 'maker')]);
}

async function runUntilBothStarted(
  stage: Scene['stage'],
  deal: Awaited<ReturnType<typeof agreed>>,
): Promise<void> {
  await Promise.all([
    runUntil(stage, deal, 'taker', isFunded),
    runUntil(stage, deal, 'maker', ({ step }) => step === 'verified'),
  ]);
}

scenario(
  { fault: 'clock hours behind the chains, then hours ahead', where: 'server', decisive: true },
  'gates take the later of wall clock and chain clock: a clock that is behind opens nothing late',
  async ({ stage, pair }) => {
    const [server] = stage.servers;
    assert.ok(server);
    const deal = await agreed(stage, pair, 'BTC', 'ETH');
    await runUntilBothStarted(stage, deal);
    const { deadlines } = await shows(
      deal,
      'the long leg is deep',
      ({ status }) => status === 'initiator_funded',
    );
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
    await endsRight(stage, deal, await runBoth(stage, deal), 'refunded');
    return {
      meanwhile: '409 too_late_to_fund, too_early_to_refund',
      end: 'refunded, nothing lost',
    };
  },
);

scenario(
  { fault: 'clock set back and forward', where: 'keys and nonces', decisive: false },
  'a key lives by its own dates whatever the clock did meanwhile, and a nonce is used once',
  async ({ stage, pair }) => {
    const [server] = stage.servers;
    assert.ok(server);
    const { client, evm } = pair[0];
    try {
      await server.skew(-30 * minute);
      assert.equal((await client.me()).userId, pair[0].userId);
      await server.skew(91 * 86_400);
      const fresh = parleyClient({ baseUrl: stage.url, key: pair[0].key });
      const expired = await refusal(fresh.me());
      assert.deepEqual([expired.status, expired.code], [401, 'key_invalid']);
      await server.skew(0);
      // What was no key by the clock of then is remembered for so long.
      await sleep(rememberedMs);
      assert.equal((await client.me()).userId, pair[0].userId, 'it is not forgotten');
      const { nonce } = await client.walletNonce();
      await server.skew(60 * minute);
      const message = `Parley - link this wallet\n\nAddress: ${evm.address}\nNonce: ${nonce}`;
      const signature = await evm.signMessage(message);
      const late = client.proveWallet('evm', { address: evm.address, message, signature });
      assert.ok((await refusal(late)).status < 500);
    } finally {
      await server.skew(0);
    }
    const deal = await agreed(stage, pair, 'SOL', 'TRX');
    await endsRight(stage, deal, await runBoth(stage, deal), 'received');
    return { meanwhile: '401 at its end, back with the clock', end: 'both paid' };
  },
);
