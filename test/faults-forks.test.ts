// Reorganisations and forks of EVM on a real anvil, and of TRON and Solana as far as their
// simulators go (blocks that are not final), under the market as a process.

import assert from 'node:assert/strict';
import { evmRpc, forkedAnvil } from './faults/chains.ts';
import { onStage, type Scene } from './faults/scenario.ts';
import {
  agreed,
  endsRight,
  finish,
  fund,
  heard,
  isFunded,
  refusal,
  run,
  runUntil,
  seen,
  shows,
} from './support/deals.ts';
import { portOf } from './support/stage.ts';

const scenario = onStage();

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
  'decisive',
  'a secret whose claim was taken back stays known, and both are paid',
  async (scene) => {
    const { stage, pair } = scene;
    const deal = await agreed(stage, pair, 'BTC', 'ETH');
    await fund(stage, deal, 'both');
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
    await endsRight(stage, deal, await finish(stage, deal), 'received');
  },
);

scenario(
  'soak',
  'a funding that was taken back is told, and the secret is not shown for it',
  async (scene) => {
    const { stage, pair } = scene;
    const deal = await agreed(stage, pair, 'BTC', 'ETH');
    await fund(stage, deal, 'initiator');
    await shows(deal, 'the long leg counts', ({ status }) => status === 'initiator_funded');
    await takenBack(scene, async () => {
      await runUntil(stage, deal, 'maker', isFunded);
      await shows(deal, 'both count', ({ status }) => status === 'counterparty_funded');
    });
    await shows(deal, 'it is taken back', ({ status }) => status === 'initiator_funded');
    const secret = await pair[0].store.getSecret(deal.hashlock);
    const refused = await refusal(pair[0].client.claim(deal.id, 'a', secret ?? ''));
    assert.equal(refused.code, 'not_both_funded');
    await endsRight(stage, deal, await finish(stage, deal), 'received');
    const told = heard(stage, pair[0], deal.id).map(({ type }) => type);
    assert.ok(told.includes('swap.reorged'), told.join(', '));
  },
);

scenario(
  'soak',
  'while two nodes disagree nobody funds or reveals, and a public secret still claims',
  async ({ stage, pair }) => {
    const deal = await agreed(stage, pair, 'BTC', 'ETH');
    await fund(stage, deal, 'initiator');
    const fork = await forkedAnvil(stage);
    const [, second] = stage.nodes.evm;
    try {
      await runUntil(stage, deal, 'maker', isFunded);
      await shows(deal, 'both count', ({ status }) => status === 'counterparty_funded');
      second.pointTo(fork);
      const secret = (await pair[0].store.getSecret(deal.hashlock)) ?? '';
      const refused = await refusal(pair[0].client.claim(deal.id, 'a', secret));
      assert.deepEqual([refused.status, refused.code], [409, 'sources_disagree']);
      // The initiator's own node sees one chain: it reveals, and then nothing of ours may refuse.
      const taker = run(stage, deal, 'taker');
      await shows(deal, 'the secret is public', (each) => each.secret !== null);
      await pair[1].client.claim(deal.id, 'b', secret);
      const ends = await Promise.all([taker, run(stage, deal, 'maker')]);
      await endsRight(
        stage,
        deal,
        ends.map(({ end }) => end),
        'received',
      );
    } finally {
      second.pointTo(portOf(stage.place.evm.rpcUrl));
    }
  },
);

for (const [family, b, a] of [
  ['tron', 'TRX', 'SOL'],
  ['solana', 'SOL', 'TRX'],
] as const) {
  scenario(
    'soak',
    `a funding on ${family} that is not final counts for nothing, and is sent again when it is gone`,
    async ({ stage, pair }) => {
      const { chain } = stage.place[family];
      const deal = await agreed(stage, pair, b, a);
      await stage.dev.mining(chain, false);
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
      await endsRight(stage, deal, await finish(stage, deal), 'received');
    },
  );
}
