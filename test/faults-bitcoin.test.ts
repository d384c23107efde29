// Reorganisations and failing nodes of Bitcoin, on a real bitcoind, under the market as a process:
// each swap ends with both parties having what they were promised, or their own back.

import assert from 'node:assert/strict';
import { SettleError } from '../sdk/errors.ts';
import {
  bitcoinRpc,
  doubleSpend,
  invalidate,
  otherBlocks,
  restartBitcoind,
} from './faults/chains.ts';
import { onStage } from './faults/scenario.ts';
import {
  agreed,
  endsRight,
  finish,
  fund,
  heard,
  isFunded,
  run,
  runUntil,
  shows,
} from './support/deals.ts';

const scenario = onStage();

scenario(
  'decisive',
  'on a funding that was double-spent in a reorganisation nobody funds, and nothing is lost',
  async ({ stage, pair }) => {
    const rpc = bitcoinRpc(stage);
    const deal = await agreed(stage, pair, 'BTC', 'ETH');
    await stage.dev.mining(stage.place.bitcoin.chain, false);
    const maker = run(stage, deal, 'maker');
    await runUntil(stage, deal, 'taker', isFunded);
    await stage.dev.mine(stage.place.bitcoin.chain, 1);
    const { legs } = await shows(deal, 'it is seen', (each) => each.legs.b.confirmations === 1);
    const other = await doubleSpend(rpc, legs.b.fundTx ?? '', pair[0]);
    await invalidate(rpc, 1);
    await otherBlocks(rpc, 3, [other]);
    await shows(deal, 'it is gone', (each) => each.legs.b.status === 'unfunded');
    await stage.dev.mining(stage.place.bitcoin.chain, true);
    await assert.rejects(
      run(stage, deal, 'taker'),
      (error) => error instanceof SettleError && error.code === 'funding_replaced',
    );
    const { deadlines } = await pair[1].client.swap(deal.id);
    const over = Math.max(deadlines.expiresAt, deadlines.counterpartyFundBy);
    await stage.move(over - stage.now() + 60);
    const { end } = await maker;
    await endsRight(stage, deal, [end], 'nothing');
  },
);

scenario(
  'soak',
  'a funding that was final and is taken back is told, nobody funds on it, and it counts again',
  async ({ stage, pair }) => {
    const rpc = bitcoinRpc(stage);
    const deal = await agreed(stage, pair, 'BTC', 'EVM dollar');
    await fund(stage, deal, 'initiator');
    await shows(deal, 'it is final', ({ status }) => status === 'initiator_funded');
    await stage.dev.mining(stage.place.bitcoin.chain, false);
    await invalidate(rpc, 6);
    await otherBlocks(rpc, 9);
    await shows(deal, 'it is taken back', ({ status }) => status === 'agreed');
    await stage.dev.mining(stage.place.bitcoin.chain, true);
    await endsRight(stage, deal, await finish(stage, deal), 'received');
    const told = heard(stage, pair[1], deal.id).map(({ type, status }) => `${type} ${status}`);
    assert.ok(told.includes('swap.reorged agreed'), told.join(', '));
  },
);

scenario(
  'soak',
  'a funding that a restarted node forgot is sent again and counts',
  async ({ stage, pair }) => {
    const deal = await agreed(stage, pair, 'BTC', 'ETH');
    await stage.dev.mining(stage.place.bitcoin.chain, false);
    await runUntil(stage, deal, 'taker', isFunded);
    await restartBitcoind(stage);
    await stage.dev.mine(stage.place.bitcoin.chain, 2);
    await shows(deal, 'it is forgotten', ({ legs }) => legs.b.status === 'unfunded');
    await stage.dev.mining(stage.place.bitcoin.chain, true);
    await endsRight(stage, deal, await finish(stage, deal), 'received');
  },
);
