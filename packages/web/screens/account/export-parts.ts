// The parts of an account that go into its file, and how each is read.

import { threadStatuses } from '@parley/core/trade.ts';
import type { account as accountCalls } from '../../market/account.ts';
import type { market as marketClient } from '../../market/client.ts';
import type { PageRead } from '../../market/pages.ts';

export const limit = 100;

type Asked = {
  readonly market: Pick<typeof marketClient, 'me' | 'rfqs' | 'swaps' | 'quotes' | 'webhooks'>;
  readonly account: Pick<typeof accountCalls, 'sessions' | 'keys' | 'payouts'>;
};

export const whole = (rows: readonly unknown[]) => ({ rows, nextCursor: null });
export const from = (cursor: string | undefined) =>
  cursor === undefined ? { limit } : { limit, cursor };

type Reads = Readonly<Record<string, PageRead>>;

/** Parts that depend on no other: each is a list of its own in the file. */
export const partsOf = ({ market, account }: Asked): Reads => ({
  sessions: async (_, signal) => whole((await account.sessions(signal)).sessions),
  keys: async (_, signal) => whole((await account.keys(signal)).keys),
  payouts: async (_, signal) => whole((await account.payouts(signal)).payouts),
  wallets: async (_, signal) => whole([(await market.me({ signal })).wallets]),
  orders: async (cursor, signal) => {
    const { rfqs: rows, nextCursor } = await market.rfqs(
      { own: true, ...from(cursor) },
      { signal },
    );
    return { rows, nextCursor };
  },
  swaps: async (cursor, signal) => {
    const { swaps: rows, nextCursor } = await market.swaps(from(cursor), { signal });
    return { rows, nextCursor };
  },
  ...Object.fromEntries(
    threadStatuses.map((status): [string, PageRead] => [
      `${status}Quotes`,
      async (cursor, signal) => {
        const query = { role: 'maker', status, ...from(cursor) } as const;
        const { threads: rows, nextCursor } = await market.quotes(query, { signal });
        return { rows, nextCursor };
      },
    ]),
  ),
  webhooks: async (cursor, signal) => {
    const { webhooks: rows, nextCursor } = await market.webhooks(from(cursor), { signal });
    return { rows, nextCursor };
  },
});
