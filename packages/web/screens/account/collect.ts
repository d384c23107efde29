// All that the market tells of an account, list by list. Each list has a limit, and the result
// names those that had more.

import { pageLimit } from '@parley/core/limits.ts';
import { threadStatuses } from '@parley/core/trade.ts';
import { pagesOf } from '@parley/sdk/pages.ts';
import type { account as accountCalls } from '../../market/account.ts';
import type { market as marketClient } from '../../market/site.ts';

/** Pages of a list: 10,000 rows. */
const mostPages = 100;
/** Orders, or webhooks, whose own lists are read, a page of each: the account has some hundreds of requests a minute. */
const mostOwners = 200;

type Asked = {
  readonly market: Pick<
    typeof marketClient,
    'me' | 'rfqs' | 'swaps' | 'quotes' | 'webhooks' | 'threadsOfRfq'
  >;
  readonly account: Pick<typeof accountCalls, 'sessions' | 'keys' | 'payouts' | 'deliveries'>;
};

type Page = { readonly nextCursor: string | null };
type From = { readonly limit: number; readonly cursor?: string };

export async function collected(
  { market, account }: Asked,
  signal: AbortSignal,
  onPart: (name: string) => void,
) {
  const how = { signal };
  const cut = new Set<string>();
  async function rows<P extends Page, Row>(
    name: string,
    ask: (from: From) => Promise<P>,
    rowsOf: (page: P) => readonly Row[],
    most = mostPages,
  ): Promise<Row[]> {
    onPart(name);
    const found: Row[] = [];
    let hasMore = false;
    for await (const page of pagesOf(most, (from) => ask({ limit: pageLimit.most, ...from }))) {
      found.push(...rowsOf(page));
      hasMore = page.nextCursor !== null;
    }
    if (hasMore) cut.add(name);
    return found;
  }
  async function ofEach<Owner, Row>(
    name: string,
    owners: readonly Owner[],
    read: (owner: Owner) => Promise<Row[]>,
  ): Promise<Row[]> {
    if (owners.length > mostOwners) cut.add(name);
    const all: Row[] = [];
    for (const owner of owners.slice(0, mostOwners)) all.push(...(await read(owner)));
    return all;
  }
  const { wallets } = await market.me(how);
  const { sessions } = await account.sessions(signal);
  const { keys } = await account.keys(signal);
  const { payouts } = await account.payouts(signal);
  const orders = await rows(
    'orders',
    (from) => market.rfqs({ own: true, ...from }, how),
    ({ rfqs }) => rfqs,
  );
  const quotes = await ofEach('quotes', orders, ({ id }) =>
    rows(
      'quotes',
      (from) => market.threadsOfRfq(id, from, how),
      ({ threads }) => threads,
      1,
    ),
  );
  const ownQuotes = await ofEach('ownQuotes', threadStatuses, (status) =>
    rows(
      'ownQuotes',
      (from) => market.quotes({ role: 'maker', status, ...from }, how),
      ({ threads }) => threads,
    ),
  );
  const swaps = await rows(
    'swaps',
    (from) => market.swaps(from, how),
    (page) => page.swaps,
  );
  const webhooks = await rows(
    'webhooks',
    (from) => market.webhooks(from, how),
    (page) => page.webhooks,
  );
  const deliveries = await ofEach('deliveries', webhooks, ({ id: webhookId }) =>
    rows(
      'deliveries',
      (from) => account.deliveries(webhookId, from, signal),
      (page) => page.deliveries.map((each) => ({ webhookId, ...each })),
      1,
    ),
  );
  const parts = { wallets, sessions, keys, payouts, orders, quotes, ownQuotes, swaps };
  return { ...parts, webhooks, deliveries, cut: [...cut] };
}
