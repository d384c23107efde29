// Faults of swaps and gas keys. Most of them move every clock, and so they come last.

import type { SolanaMaterial } from '@parley/chains/interface/material.ts';
import {
  agreed,
  type Deal,
  fund,
  offer,
  probe,
  runUntil,
  seen,
  shows,
  until,
} from '../support/deals.ts';
import type { Stage } from '../support/stage.ts';
import type { Fault, Keeper, Scene } from './scene.ts';

/** The first: the key has no coins yet. */
export const gasFaults: readonly Fault[] = [
  {
    name: 'a gas key without coins',
    alerts: [{ alertname: 'ParleyKeeperGasLow', chain: 'evm-dev' }],
    breaks: async ({ stage, gas }) => {
      return () => stage.dev.faucet({ chain: 'evm-dev', address: gas.address, amount: 10n ** 19n });
    },
  },
];

export const moneyFaults: readonly Fault[] = [
  {
    name: 'both have funded, one claims, and the other does nothing until it is refunded',
    alerts: [{ alertname: 'ParleyHalfSettled' }],
    breaks: halfSettled,
  },
  {
    name: 'the keeper has sent a refund, and its cap of the day is little more than that',
    alerts: [{ alertname: 'ParleyKeeperCapNear', chain: 'evm-dev' }],
    breaks: keeperNearCap,
  },
  {
    name: 'a swap is held, and its time goes by',
    alerts: [{ alertname: 'ParleyStepsOverdue', step: 'reconcile' }],
    breaks: async ({ stage, pair, admin }) => {
      const deal = await agreed(stage, pair, 'SOL', 'ETH');
      await admin.query('begin');
      await admin.query('select 1 from swaps where id = $1 for update', [deal.id]);
      const { rows } = await admin.query('select due_at::int as at from swaps where id = $1', [
        deal.id,
      ]);
      await stage.move((rows[0] as { at: number }).at - stage.now() + 90);
      return () => admin.query('rollback');
    },
  },
  {
    name: 'time is missing, and agreements wait',
    alerts: [{ alertname: 'ParleyNotAgreeing' }],
    breaks: async ({ stage, pair, admin }) => {
      const { threadId, price } = await offer(stage, pair, 'SOL', 'ETH');
      await admin.query(`insert into gaps (why, began_at, ended_at, holds)
        values ('silence', now() - interval '1 hour', now(), true)`);
      const accepted = { quoteAmount: `${price}`, hashlock: 'ab'.repeat(32) };
      const path = `/v1/threads/${threadId}/accept`;
      await until('acceptances are refused', async () => {
        return (await probe(stage, pair[0], path, accepted)).code === 'restoring';
      });
      return () => admin.query('update gaps set holds = false');
    },
  },
];

/** The taker claims what it is given and, when the maker has let the time go by, takes back. */
async function halfSettled({ stage, pair }: Scene): Promise<() => Promise<unknown>> {
  const deal = await agreed(stage, pair, 'SOL', 'TRX');
  await fund(stage, deal, 'both');
  await runUntil(stage, deal, 'taker', seen('claim', 'a'));
  await toRefund(stage, deal);
  const { solana, client } = deal.taker.who;
  const built = await until('the refund is built', () => client.refund(deal.id, 'b'));
  const signed = await solana.sign(built as unknown as SolanaMaterial, AbortSignal.timeout(60_000));
  await client.broadcast(stage.place.solana.chain, signed.raw as never);
  await shows(deal, 'one has both', ({ status }) => status === 'half_settled');
  // This fault is not mended.
  return async () => {};
}

/** Seconds past the last timelock: chains' clocks are behind. */
const further = 120;

async function toRefund(stage: Stage, deal: Deal): Promise<void> {
  const { deadlines } = await deal.taker.who.client.swap(deal.id);
  const last = Math.max(deadlines.refundAt.a, deadlines.refundAt.b);
  await stage.move(last - stage.now() + further);
}

async function keeperNearCap(scene: Scene): Promise<() => Promise<unknown>> {
  const { stage, pair, prometheus, gas, keeper } = scene;
  await stage.dev.faucet({ chain: 'evm-dev', address: gas.address, amount: 10n ** 19n });
  const deal = await agreed(stage, pair, 'SOL', 'ETH');
  await fund(stage, deal, 'both');
  await toRefund(stage, deal);
  await shows(deal, 'the keeper refunds', ({ legs }) => legs.a.refundedBy === 'keeper');
  const spent = await until('its cost is told', async () => {
    const [first] = await prometheus.query('parley_keeper_spent_today{chain="evm-dev"} > 0');
    return first === undefined ? null : BigInt(Math.round(Number(first)));
  });
  await startWith(stage, keeper, (spent * 21n) / 20n);
  return () => startWith(stage, keeper, 10n ** 18n);
}

async function startWith(stage: Stage, keeper: Keeper, dailyCap: bigint): Promise<void> {
  await stage.servers[0]?.kill();
  const own = [{ ...keeper, dailyCap: String(dailyCap) }];
  await stage.startServer({ env: { PARLEY_KEEPER: JSON.stringify(own) } });
}
