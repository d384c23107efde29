// Tests only: agreed swaps between two chains that no node stands behind, and what their chains are
// said to show.

import type { EscrowFacts } from '@parley/core/facts.ts';
import { swapStatus } from '@parley/core/status.ts';
import { longOf, shortOf } from '@parley/core/swap.ts';
import type { LegName } from '@parley/core/trade.ts';
import { type TestDeps, testDeps } from '@parley/verify/test/support/deps.ts';
import type { Database } from '../../db/database.ts';
import { storedFacts } from '../../db/escrows.ts';
import { type Swap, swapById } from '../../db/swaps.ts';
import { insertAccount } from '../../settle/testing/account.ts';
import {
  insertAgreed,
  insertAsset,
  nodelessAdapters,
  someWallets,
} from '../../settle/testing/rows.ts';
import { addLogins, someAddress } from './people.ts';

export type Agreed = {
  readonly swap: Swap;
  readonly initiator: string;
  readonly counterparty: string;
  readonly long: LegName;
  readonly short: LegName;
};

export type Market = {
  readonly deps: TestDeps;
  /** Both parties are reached by mail. */
  agree(): Promise<Agreed>;
  /** The facts that the current escrows of a swap show, by leg; the secret, once it is public. */
  show(
    swap: Agreed,
    shown: Partial<Record<LegName, EscrowFacts>>,
    secret?: string | null,
  ): Promise<Swap>;
  /** All chains' clocks, Unix seconds. */
  clock(seconds: number): Promise<void>;
};

export async function openSwaps(db: Database): Promise<Market> {
  const adapters = new Map(nodelessAdapters().map((each) => [each.chain, each]));
  const deps = testDeps({ db, adapters });
  const base = await insertAsset(deps, 'evm-dev', null, null);
  const quote = await insertAsset(deps, 'evm-dev-2', null, null);
  const party = async () => {
    const { accountId } = await insertAccount(deps, [someWallets().evm]);
    await addLogins(deps, accountId, { email: [someAddress()] });
    return accountId;
  };
  const run = (text: string, values: readonly unknown[]) => db.rows({ name: '', text, values });
  const read = async (id: string) => {
    const swap = await swapById(db, id);
    if (swap === null) throw new Error(`no swap ${id}`);
    return swap;
  };
  return {
    deps,
    agree: async () => {
      const makerId = await party();
      const takerId = await party();
      const amounts = { baseAmount: 10n ** 17n, quoteAmount: 10n ** 17n };
      const terms = { direction: 'sell_base', base, quote, ...amounts } as const;
      const id = await db.transaction((tx) => insertAgreed(tx, deps, terms, { makerId, takerId }));
      const swap = await read(id);
      const [initiator, counterparty] =
        swap.initiator === 'maker' ? [makerId, takerId] : [takerId, makerId];
      const { leg: long } = longOf(swap.state);
      return { swap, initiator, counterparty, long, short: shortOf(swap.state).leg };
    },
    show: async ({ swap }, shown, secret = null) => {
      for (const [leg, facts] of Object.entries(shown)) {
        const text = `update escrows set facts = $3 where swap_id = $1 and leg = $2`;
        await run(text, [swap.id, leg, JSON.stringify(storedFacts(facts))]);
      }
      await run('update swaps set secret = $2 where id = $1', [swap.id, secret]);
      const status = swapStatus((await read(swap.id)).state, Math.floor(deps.now() / 1_000));
      await run('update swaps set status = $2 where id = $1', [swap.id, status]);
      return read(swap.id);
    },
    clock: async (seconds) => {
      for (const chain of ['evm-dev', 'evm-dev-2']) {
        const text = `insert into chain_heads (chain, height, hash, clock, seen_at)
          values ($1, 1, 'x', $2, now()) on conflict (chain) do update set clock = $2`;
        await run(text, [chain, seconds]);
      }
    },
  };
}
