// A secret that nobody else knows leaves the keeper by its gates alone: before what was kept is
// sent, before it is signed anew, and again where signing it has taken its time.

import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import type { ChainAdapter } from '@parley/chains/adapter.ts';
import { ParleyError } from '@parley/core/errors.ts';
import { must } from '@parley/market/settle/testing/world.ts';
import type { Gas } from './port.ts';
import type { Loose } from './testing/desk.ts';
import { type Deal, long, onMarket } from './testing/market.ts';

const m = onMarket();
let gas: Loose;
let account: Gas['account'];
beforeEach(() => {
  gas = m.key();
  ({ account } = gas);
});

const tellsNobody = async (deal: Deal) => {
  assert.equal(m.short.state.mempool.size, 0, 'no node has the secret');
  assert.equal((await m.swap(deal)).secret, null);
};

/** The chain of the long leg is away: no node can say that it still holds the money. */
function close(): void {
  const away = async () => Promise.reject(new ParleyError('chain_unavailable', 'of a test', {}));
  m.show({ look: away, readEscrow: away }, long);
}

const open = () => m.show({}, long);

async function lands(deal: Deal): Promise<void> {
  open();
  await m.turn();
  await m.deepen();
  const { status, claimedBy } = (await m.swap(deal)).legs.a;
  assert.deepEqual([status, claimedBy], ['claimed', 'keeper']);
}

async function relayed(): Promise<Deal> {
  const deal = await m.funded();
  must(await m.relay(deal));
  return deal;
}

/** A node that refuses what it is given, and has kept none of it. */
async function refusedByAll(deal: Deal): Promise<void> {
  const broadcast: ChainAdapter['broadcast'] = async () => {
    throw new ParleyError('refused_by_node', 'not now', {});
  };
  m.show({ broadcast });
  await m.turn();
  m.show({});
  assert.equal((await m.attempts(deal))[0]?.outcome, 'unknown');
  await tellsNobody(deal);
}

test('a relayed claim that was kept is sent by its gates, and not before', async () => {
  const deal = await relayed();
  close();
  await m.turn();
  await tellsNobody(deal);
  assert.equal((await m.job(deal))?.last_failure, 'chain_unavailable');
  await lands(deal);
});

test('one whose nonce something else took is signed anew by its gates', async () => {
  const deal = await relayed();
  await refusedByAll(deal);
  m.short.state.used.set(account.address, 1);
  const signed: string[] = [];
  const sign: typeof account.sign = async (work, slot, signal) => {
    signed.push(work.verb);
    return account.sign(work, slot, signal);
  };
  gas.account = { ...account, sign };
  close();
  await m.turn();
  await tellsNobody(deal);
  assert.deepEqual(signed, []);
  await lands(deal);
  assert.deepEqual(signed, ['claim']);
});

test('one that may pay no more is sent as it is by its gates, which closed meanwhile', async () => {
  const deal = await relayed();
  await refusedByAll(deal);
  gas.account = {
    ...account,
    outbid: async () => 'price',
    sign: async () => {
      close();
      throw new ParleyError('fee_above_limit', 'of a test', {});
    },
  };
  m.deps.advance(900_000);
  await m.turn();
  await tellsNobody(deal);
  gas.account = account;
  await lands(deal);
});
