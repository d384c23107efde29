// Reorganisations and failing nodes of Bitcoin, on a real bitcoind, under the market as a process:
// each swap ends with both parties having what they were promised, or their own back.

import assert from 'node:assert/strict';
import { SettleError } from '../sdk/errors.ts';
import type { Progress } from '../sdk/settle.ts';
import {
  bitcoinRpc,
  doubleSpend,
  invalidate,
  isMined,
  otherBlocks,
  restartBitcoind,
  secondBitcoind,
} from './faults/chains.ts';
import {
  agreed,
  endsRight,
  heard,
  isFunded,
  refusal,
  run,
  runUntil,
  seen,
  shows,
} from './faults/deals.ts';
import { onStage } from './faults/scenario.ts';
import { portOf } from './faults/stage.ts';

const scenario = onStage();
const on = (fault: string, decisive: boolean) => ({ fault, where: 'bitcoind', decisive });

scenario(
  on('reorg takes a funding below depth; it returns', false),
  'a funding that a reorganisation takes below depth counts again when it returns',
  async ({ stage, pair }) => {
    const rpc = bitcoinRpc(stage);
    const deal = await agreed(stage, pair, 'BTC', 'ETH');
    await stage.dev.mining(stage.place.bitcoin.chain, false);
    const maker = run(stage, deal, 'maker');
    await runUntil(stage, deal, 'taker', isFunded);
    await stage.dev.mine(stage.place.bitcoin.chain, 1);
    await shows(deal, 'one block holds it', ({ legs }) => legs.b.confirmations === 1);
    await invalidate(rpc, 1);
    await shows(deal, 'no block holds it', ({ legs }) => legs.b.confirmations === 0);
    await otherBlocks(rpc, 2);
    await stage.dev.mining(stage.place.bitcoin.chain, true);
    const ends = await Promise.all([run(stage, deal, 'taker'), maker]);
    await endsRight(stage, deal, ends, 'received');
    return { meanwhile: 'seen at 1, at 0, then deep', end: 'both paid' };
  },
);

scenario(
  on('reorg takes a funding below depth; double-spent', true),
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
    await endsRight(stage, deal, [await maker], 'nothing');
    return { meanwhile: 'unfunded again; nobody funds on it', end: 'nothing moved' };
  },
);

scenario(
  on('longer chain without a deep funding', false),
  'a funding that was deep and is taken back is told, nobody funds on it, and it counts again',
  async ({ stage, pair }) => {
    const rpc = bitcoinRpc(stage);
    const deal = await agreed(stage, pair, 'BTC', 'EVM dollar');
    const isVerified = ({ step }: Progress) => step === 'verified';
    await Promise.all([
      runUntil(stage, deal, 'maker', isVerified),
      runUntil(stage, deal, 'taker', isFunded),
    ]);
    await shows(deal, 'it is deep', ({ status }) => status === 'initiator_funded');
    await stage.dev.mining(stage.place.bitcoin.chain, false);
    await invalidate(rpc, 6);
    await otherBlocks(rpc, 9);
    await shows(deal, 'it is taken back', ({ status }) => status === 'agreed');
    await stage.dev.mining(stage.place.bitcoin.chain, true);
    const ends = await Promise.all([run(stage, deal, 'taker'), run(stage, deal, 'maker')]);
    await endsRight(stage, deal, ends, 'received');
    const told = heard(stage, pair[1], deal.id).map(({ type, status }) => `${type} ${status}`);
    assert.ok(told.includes('swap.reorged agreed'), told.join(', '));
    return { meanwhile: 'swap.reorged told, then deep anew', end: 'both paid' };
  },
);

scenario(
  on('reorg takes the last claim', false),
  'a claim that a reorganisation takes is mined again, and the secret stays known',
  async ({ stage, pair }) => {
    const rpc = bitcoinRpc(stage);
    const deal = await agreed(stage, pair, 'BTC', 'ETH');
    const taker = run(stage, deal, 'taker');
    await runUntil(stage, deal, 'maker', isFunded);
    await shows(deal, 'the secret is public', ({ secret }) => secret !== null);
    await stage.dev.mining(stage.place.bitcoin.chain, false);
    const txid = await runUntil(stage, deal, 'maker', seen('claim', 'b'));
    await stage.dev.mine(stage.place.bitcoin.chain, 1);
    await isMined(stage, txid);
    await invalidate(rpc, 1);
    await otherBlocks(rpc, 2);
    const { secret } = await pair[1].client.swap(deal.id);
    assert.notEqual(secret, null);
    await stage.dev.mining(stage.place.bitcoin.chain, true);
    const ends = await Promise.all([taker, run(stage, deal, 'maker')]);
    await endsRight(stage, deal, ends, 'received');
    return { meanwhile: 'the secret stays known', end: 'both paid' };
  },
);

scenario(
  on('one node stands still', false),
  'while one of two nodes stands still nobody funds, and afterwards it goes on',
  async ({ stage, pair }) => {
    const other = await secondBitcoind(stage);
    try {
      stage.nodes.bitcoin[1].pointTo(other.port);
      await stage.dev.mine(stage.place.bitcoin.chain, 4);
      const deal = await agreed(stage, pair, 'BTC', 'ETH');
      const maker = run(stage, deal, 'maker');
      await runUntil(stage, deal, 'taker', ({ step }) => step === 'verified');
      const refused = await refusal(pair[0].client.fund(deal.id, 'b'));
      assert.equal(refused.code, 'sources_disagree');
      assert.equal(refused.status, 409);
      await other.follow();
      const ends = await Promise.all([run(stage, deal, 'taker'), maker, other.followOn()]);
      await endsRight(stage, deal, [ends[0], ends[1]], 'received');
      return { meanwhile: '409 sources_disagree', end: 'both paid' };
    } finally {
      stage.nodes.bitcoin[1].pointTo(portOf(stage.place.bitcoin.rpcUrl));
      await other.stop();
    }
  },
);

scenario(
  on('restart with an empty mempool', false),
  'a funding that a restarted node forgot is sent again and counts',
  async ({ stage, pair }) => {
    const deal = await agreed(stage, pair, 'BTC', 'ETH');
    await stage.dev.mining(stage.place.bitcoin.chain, false);
    const maker = run(stage, deal, 'maker');
    await runUntil(stage, deal, 'taker', isFunded);
    await restartBitcoind(stage);
    await stage.dev.mine(stage.place.bitcoin.chain, 2);
    await shows(deal, 'it is forgotten', ({ legs }) => legs.b.status === 'unfunded');
    await stage.dev.mining(stage.place.bitcoin.chain, true);
    const ends = await Promise.all([run(stage, deal, 'taker'), maker]);
    await endsRight(stage, deal, ends, 'received');
    return { meanwhile: 'forgotten, sent again', end: 'both paid' };
  },
);
