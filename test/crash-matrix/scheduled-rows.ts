// Rows of the matrix: refunds that a funder signed beforehand, kept and sent when they are due.

import { rawOf } from '../sim/transaction.ts';
import type { Row } from './matrix.ts';
import { chainNamed } from './parts.ts';
import { leaseMs, request } from './request.ts';
import { agree, bury, deliverAll, look, must, readSwap, settleLeg, waitUntil } from './trade.ts';
import type { World } from './world.ts';

const route = 'POST /v1/swaps/{id}/legs/{leg}/refund/scheduled';

/** The long leg is funded, and its funder has signed two refunds of it. */
async function signedRefunds(world: World) {
  const made = await agree(world);
  await settleLeg(world, made, 'fund', made.long);
  const view = await readSwap(world, made);
  const { chain, escrow } = view.legs[made.long];
  const held = chainNamed(world, chain).holdings.get(escrow ?? '') ?? [];
  const coins = held.map(({ txid }) => txid);
  const by = made.initiator.wallets.get(chain)?.[0]?.pubkey ?? '';
  const about = { chain, verb: 'refund' as const, escrow: escrow ?? '', by, coins };
  const transactions = [5, 9].map((fee) => rawOf({ ...about, amount: '0', secret: null, fee }));
  const url = `/v1/swaps/${made.swapId}/legs/${made.long}/refund/scheduled`;
  return { view, made, asked: { url, by: made.initiator, body: { transactions } } };
}

export const scheduledRows: readonly Row[] = [
  request('', route, async (world) => (await signedRefunds(world)).asked),
  {
    name: 'scheduled.pass',
    of: 'scheduled.pass',
    prepare: async (world) => {
      const { view, made, asked } = await signedRefunds(world);
      await must(world, asked);
      await waitUntil(world, view.deadlines.refundAt[made.long] + 7_200);
      await look(world);
      await deliverAll(world);
      return {
        act: async ({ market }) => {
          await market.scheduled.pass();
          return null;
        },
        after: async (copy) => {
          for (let again = 0; again < 5; again += 1) {
            copy.nowMs += 2 * leaseMs;
            await copy.market.scheduled.pass();
            await bury(copy);
            await look(copy);
          }
          await deliverAll(copy);
        },
        // Who had it in hand, and what waited for a block when it was looked at.
        reading: {
          timeless: true,
          only: {
            scheduled_refunds: ({ escrow, rungs, version, due_at }) => ({
              escrow,
              rungs,
              version,
              isOver: due_at === null,
            }),
          },
        },
      };
    },
  },
];
