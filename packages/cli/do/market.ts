// `parley market` and `book`: the requests and prices there are to trade. These commands bind nobody.

import { factsOf } from '@parley/core/families.ts';
import { pageLimit } from '@parley/core/limits.ts';
import { pagesOf } from '@parley/sdk/pages.ts';
import type { Pair, Rfq } from '@parley/sdk/types.ts';
import {
  allAssets,
  type Catalogue,
  catalogueOf,
  shownAmount,
  shownName,
} from '@parley/trader/assets.ts';
import { answer, type Cli } from '@parley/trader/io.ts';
import { inSession, marketOf, type Session, signedIn } from '@parley/trader/session.ts';
import { ageOf, durationOf, tableOf } from '@parley/trader/show.ts';

export const assets = (cli: Cli, { chain }: { readonly chain?: string }) =>
  inSession(cli, async (session) => {
    const { keyless } = await marketOf(session);
    const all = await allAssets(keyless, chain);
    const rows = all.map((asset) => [
      shownName(session, asset),
      asset.address ?? 'its own coin',
      String(asset.decimals),
      [asset.enabled ? '' : 'closed', asset.verified ? 'curated' : ''].filter(Boolean).join(', '),
    ]);
    answer(cli, { assets: all }, tableOf(['asset', 'contract', 'decimals', ''], rows));
  });

export const pair = (cli: Cli, base: string, quote: string) =>
  inSession(cli, async (session) => {
    const { keyless } = await marketOf(session);
    const names = await catalogueOf(session, keyless);
    const ids = { baseAssetId: names.idOf(base), quoteAssetId: names.idOf(quote) };
    const [found, price] = await Promise.all([
      keyless.pair({ direction: 'sell_base', ...ids }),
      keyless.pairPrice(ids),
    ]);
    const { median } = price;
    const traded =
      median === null
        ? 'prices of others: too few agreements'
        : `others traded at ${shownAmount(median.baseAmount, names.of(ids.baseAssetId))} for ` +
          `${shownAmount(median.quoteAmount, names.of(ids.quoteAssetId))} (median, a hint)`;
    answer(cli, { pair: found, price }, [...pairLines(session, found), traded].join('\n'));
  });

export function pairLines(session: Session, found: Pair): string[] {
  const { initiator, legs, initiatorFundBySeconds, counterpartyFundBySeconds } = found;
  const legLines = (['b', 'a'] as const).map((name) => {
    const { chain, timelockSeconds, confirmations, costs, long } = legs[name];
    const who = name === 'b' ? 'the taker' : 'the maker';
    const of = session.profile.chains[chain];
    const own = { name: chain, decimals: of === undefined ? 0 : factsOf[of.family].coin.decimals };
    const cost =
      costs === null ? '' : `, costs about ${shownAmount(costs.fund.usual, own)} to fund`;
    const lock = `locked for at most ${durationOf(timelockSeconds)}${long ? ' (long leg)' : ''}`;
    return `${who} funds on ${chain}: ${lock}, ${confirmations} confirmations${cost}`;
  });
  const { expected } = found;
  return [
    ...legLines,
    `the ${initiator} funds first, within ${durationOf(initiatorFundBySeconds)}; the other side ` +
      `within ${durationOf(counterpartyFundBySeconds)} of the agreement`,
    ...(expected === null
      ? []
      : [`both are usually paid after ${durationOf(expected.counterparty.usualSeconds)}`]),
  ];
}

export const status = (cli: Cli) =>
  inSession(cli, async (session) => {
    const found = await (await marketOf(session)).status();
    const { network, agrees, waitsFor, chains } = found;
    const works = agrees
      ? 'swaps are agreed'
      : `no swap is agreed: the market waits for ${waitsFor.join(', ')}`;
    const rows = chains.map(({ chain, height, isQuiet, haltedSince }) => [
      chain,
      height === null ? 'not seen yet' : String(height),
      haltedSince === null ? (isQuiet ? 'quiet' : '') : `halted since ${haltedSince}`,
    ]);
    const head = `${session.profile.market}, on ${network}: ${works}`;
    answer(cli, found, [head, tableOf(['chain', 'height', ''], rows)].join('\n'));
  });

type Book = {
  readonly own?: true;
  readonly addressed?: true;
  readonly settled?: number;
  readonly limit: number;
};

export const book = (
  cli: Cli,
  base: string | undefined,
  quote: string | undefined,
  { settled, limit, ...which }: Book,
) =>
  inSession(cli, async (session) => {
    const { client } = await signedIn(session);
    const names = await catalogueOf(session, client);
    const query = {
      ...which,
      ...(base === undefined ? {} : { baseAssetId: names.idOf(base) }),
      ...(quote === undefined ? {} : { quoteAssetId: names.idOf(quote) }),
      ...(settled === undefined ? {} : { minSettled: settled }),
    };
    const rfqs = await rowsOf(limit, async (page) => {
      const { rfqs: rows, nextCursor } = await client.rfqs({ ...query, ...page });
      return { rows, nextCursor };
    });
    const now = session.now();
    const rows = rfqs.map((each) => [...wordsOf(names, each), ageOf(each.expiresAt, now)]);
    answer(cli, { rfqs }, tableOf(['RFQ', 'the taker', 'asks', 'ends'], rows));
  });

type Page<Row> = { readonly rows: readonly Row[]; readonly nextCursor: string | null };

/** The first so many rows of a list, page by page. */
export async function rowsOf<Row>(
  most: number,
  ask: (page: { readonly limit: number; readonly cursor?: string }) => Promise<Page<Row>>,
): Promise<Row[]> {
  const all: Row[] = [];
  const limit = Math.min(most, pageLimit.most);
  const pages = pagesOf(Math.ceil(most / limit), (from) => ask({ ...from, limit }));
  for await (const { rows } of pages) all.push(...rows);
  return all.slice(0, most);
}

/** Its id, what the taker does, and what is asked for it. */
export function wordsOf(names: Catalogue, rfq: Rfq): string[] {
  const { id, direction, baseAssetId, quoteAssetId, baseAmount, askAmount } = rfq;
  const quote = names.of(quoteAssetId);
  const verb = direction === 'sell_base' ? 'sells' : 'buys';
  const what = `${verb} ${shownAmount(baseAmount, names.of(baseAssetId))} for ${quote.name}`;
  return [id, what, askAmount === null ? 'any price' : shownAmount(askAmount, quote)];
}
