// Reorganisations and forks of EVM on a real anvil, and of TRON and Solana as far as their
// simulators go (blocks that are not final), under the market as a process.

import assert from 'node:assert/strict';
import { evmRpc, forkedAnvil } from './faults/chains.ts';
import {
  agreed,
  deep,
  endsRight,
  heard,
  isFunded,
  refusal,
  run,
  runUntil,
  seen,
  shows,
  until,
} from './faults/deals.ts';
import type { Scene } from './faults/scenario.ts';
import { onStage } from './faults/scenario.ts';
import { portOf } from './faults/stage.ts';

const scenario = onStage();
const on = (where: string, fault: string, decisive: boolean) => ({ fault, where, decisive });

/** What is done to the chain is undone, transactions and all: no pool has them afterwards. */
async function takenBack({ stage, pair }: Scene, work: () => Promise<void>): Promise<void> {
  const rpc = evmRpc(stage);
  const before = Number(await rpc<string>('eth_blockNumber'));
  await work();
  await stage.dev.mining(stage.place.evm.chain, false);
  const after = Number(await rpc<string>('eth_blockNumber'));
  await rpc('anvil_rollback', [after - before]);
  await rpc('anvil_dropAllTransactions', []);
  await rpc('anvil_mine', [`0x${(after - before + 1).toString(16)}`, '0x0']);
  for (const each of pair) each.evm.forget();
  await stage.dev.mining(stage.place.evm.chain, true);
}

scenario(
  on('anvil', 'rollback takes the claim that revealed', true),
  'a secret whose claim was taken back stays known, and both are paid',
  async (scene) => {
    const { stage, pair } = scene;
    const deal = await agreed(stage, pair, 'BTC', 'ETH');
    await Promise.all([
      runUntil(stage, deal, 'taker', deep('a')),
      runUntil(stage, deal, 'maker', isFunded),
    ]);
    await takenBack(scene, async () => {
      await runUntil(stage, deal, 'taker', seen('claim', 'a'));
      await shows(deal, 'the secret is public', ({ secret }) => secret !== null);
    });
    // What an adapter remembers by itself ends with its process.
    await stage.restart();
    const { legs } = await shows(deal, 'the claim is gone', ({ legs }) => legs.a.claimTx === null);
    assert.equal(legs.a.status, 'funded');
    const { secret, status } = await pair[1].client.swap(deal.id);
    assert.notEqual(secret, null, 'a secret seen is seen for ever');
    assert.equal(status, 'initiator_claimed');
    await pair[1].client.claim(deal.id, 'b', secret ?? '');
    const ends = await Promise.all([run(stage, deal, 'maker'), run(stage, deal, 'taker')]);
    await endsRight(stage, deal, ends, 'received');
    return { meanwhile: 'the secret stays known', end: 'both paid' };
  },
);

scenario(
  on('anvil', 'rollback takes a funding', false),
  'a funding that was taken back is told, and the secret is not shown for it',
  async (scene) => {
    const { stage, pair } = scene;
    const deal = await agreed(stage, pair, 'BTC', 'ETH');
    await runBothUntilLongFunded(scene, deal);
    await takenBack(scene, async () => {
      await runUntil(stage, deal, 'maker', isFunded);
      await shows(deal, 'both are deep', ({ status }) => status === 'counterparty_funded');
    });
    await shows(deal, 'it is taken back', ({ status }) => status === 'initiator_funded');
    const secret = await pair[0].store.getSecret(deal.taker.trade.hashlock ?? '');
    const refused = await refusal(pair[0].client.claim(deal.id, 'a', secret ?? ''));
    assert.equal(refused.code, 'not_both_funded');
    const ends = await Promise.all([run(stage, deal, 'taker'), run(stage, deal, 'maker')]);
    await endsRight(stage, deal, ends, 'received');
    const told = heard(stage, pair[0], deal.id).map(({ type }) => type);
    assert.ok(told.includes('swap.reorged'), told.join(', '));
    return { meanwhile: 'swap.reorged told, 409 to reveal', end: 'both paid' };
  },
);

async function runBothUntilLongFunded({ stage }: Scene, deal: Awaited<ReturnType<typeof agreed>>) {
  await Promise.all([
    runUntil(stage, deal, 'taker', isFunded),
    runUntil(stage, deal, 'maker', ({ step }) => step === 'verified'),
  ]);
  await shows(deal, 'the long leg is deep', ({ status }) => status === 'initiator_funded');
}

scenario(
  on('anvil', 'one of two nodes on a fork without the funding', false),
  'while two nodes disagree nobody funds or reveals, and a public secret still claims',
  async (scene) => {
    const { stage, pair } = scene;
    const deal = await agreed(stage, pair, 'BTC', 'ETH');
    await runBothUntilLongFunded(scene, deal);
    const fork = await forkedAnvil(stage);
    const [, second] = stage.nodes.evm;
    try {
      await runUntil(stage, deal, 'maker', isFunded);
      await shows(deal, 'both are deep', ({ status }) => status === 'counterparty_funded');
      second.pointTo(fork.port);
      const secret = (await pair[0].store.getSecret(deal.taker.trade.hashlock ?? '')) ?? '';
      const reveal = () => refusal(pair[0].client.claim(deal.id, 'a', secret));
      const refused = await reveal();
      assert.deepEqual([refused.status, refused.code], [409, 'sources_disagree']);
      // The initiator's own node sees one chain: it reveals, and then nothing of ours may refuse.
      const taker = run(stage, deal, 'taker');
      await shows(deal, 'the secret is public', (each) => each.secret !== null);
      await pair[1].client.claim(deal.id, 'b', secret);
      const ends = await Promise.all([taker, run(stage, deal, 'maker')]);
      await endsRight(stage, deal, ends, 'received');
      return { meanwhile: '409 sources_disagree to reveal; claims go on', end: 'both paid' };
    } finally {
      second.pointTo(portOf(stage.place.evm.rpcUrl));
      await fork.stop();
    }
  },
);

scenario(
  on('anvil', 'a node that stands still, asked first', false),
  'a node that lags is nobody’s reason to fund, reveal or lose',
  async (scene) => {
    const { stage, pair } = scene;
    const deal = await agreed(stage, pair, 'BTC', 'ETH');
    const fork = await forkedAnvil(stage, false);
    const [first] = stage.nodes.evm;
    try {
      await runBothUntilLongFunded(scene, deal);
      first.pointTo(fork.port);
      const maker = run(stage, deal, 'maker');
      const taker = run(stage, deal, 'taker');
      await until('the funding is on the true chain', async () =>
        evmRpc(stage)<string>('eth_blockNumber').then((n) => Number(n) > fork.height + 4),
      );
      first.pointTo(portOf(stage.place.evm.rpcUrl));
      await endsRight(stage, deal, await Promise.all([taker, maker]), 'received');
      return { meanwhile: 'served again by the other', end: 'both paid' };
    } finally {
      first.pointTo(portOf(stage.place.evm.rpcUrl));
      await fork.stop();
    }
  },
);

for (const [family, b, a] of [
  ['tron', 'TRX', 'SOL'],
  ['solana', 'SOL', 'TRX'],
] as const) {
  scenario(
    on(`${family} simulator`, 'a fork before it is final takes a funding', false),
    `a funding on ${family} that is not final counts for nothing, and is sent again when it is gone`,
    async (scene) => {
      const { stage, pair } = scene;
      const { chain } = stage.place[family];
      const deal = await agreed(stage, pair, b, a);
      await stage.dev.mining(chain, false);
      const maker = run(stage, deal, 'maker');
      await runUntil(stage, deal, 'taker', isFunded);
      await stage.dev.mine(chain, 2);
      await shows(deal, 'it is seen', ({ legs }) => legs.b.fundTx !== null);
      const refused = await refusal(pair[1].client.fund(deal.id, 'a'));
      assert.equal(refused.code, 'not_fundable_yet');
      await stage.devnet.takeBack(chain, 2);
      // A chain that is shorter and the same so far may be a node that is behind.
      await stage.dev.mine(chain, 3);
      await shows(deal, 'it is gone', ({ legs }) => legs.b.status === 'unfunded');
      await stage.dev.mining(chain, true);
      const ends = await Promise.all([run(stage, deal, 'taker'), maker]);
      await endsRight(stage, deal, ends, 'received');
      return { meanwhile: 'seen, 409 to fund on it, gone, sent again', end: 'both paid' };
    },
  );
}
