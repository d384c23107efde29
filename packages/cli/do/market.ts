// `parley market`, `book` and `feed`: the requests and prices there are to trade. These commands
// bind nobody.

import { feedTopics } from '@parley/core/events.ts';
import { factsOf } from '@parley/core/families.ts';
import { graceSeconds, pageLimit } from '@parley/core/limits.ts';
import type { ParleyClient } from '@parley/sdk/client.ts';
import type { Pair, Rfq } from '@parley/sdk/types.ts';
import {
  allAssets,
  type Catalogue,
  catalogueOf,
  shownAmount,
  shownName,
} from '@parley/trader/assets.ts';
import { Failure, misused } from '@parley/trader/failures.ts';
import { answer, type Cli, note, tell } from '@parley/trader/io.ts';
import { inSession, marketOf, type Session, signedIn } from '@parley/trader/session.ts';
import { ageOf, durationOf, tableOf } from '@parley/trader/show.ts';
import { wholeNumber } from '../arguments.ts';
import type { Given, Run } from '../command.ts';

const mostRows = 10_000;
const mostSettled = 1_000;
const whats = { assets, pair, status } as const;

export const market: Run = (cli, given) =>
  inSession(cli, (session) => whats[given.args[0] as keyof typeof whats](cli, session, given));

async function assets(cli: Cli, session: Session, given: Given): Promise<void> {
  const { keyless } = await marketOf(session);
  const all = await allAssets(keyless, given.text('chain'));
  const rows = all.map((asset) => [
    shownName(session, asset),
    asset.address ?? 'its own coin',
    String(asset.decimals),
    [asset.enabled ? '' : 'closed', asset.verified ? 'curated' : ''].filter(Boolean).join(', '),
  ]);
  answer(cli, { assets: all }, tableOf(['asset', 'contract', 'decimals', ''], rows));
}

async function pair(cli: Cli, session: Session, { args: [, base, quote] }: Given): Promise<void> {
  if (base === undefined || quote === undefined)
    throw misused('"market pair" wants BASE and QUOTE');
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
}

function pairLines(session: Session, found: Pair): string[] {
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

async function status(cli: Cli, session: Session): Promise<void> {
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
}

export const book: Run = (cli, given) =>
  inSession(cli, async (session) => {
    const { client } = await signedIn(session);
    const names = await catalogueOf(session, client);
    const [base, quote] = given.args;
    const settled = given.text('settled');
    const most = wholeNumber('--limit', given.text('limit') ?? '100', { least: 1, most: mostRows });
    const rfqs = await readRfqs(client, most, {
      ...(base === undefined ? {} : { baseAssetId: names.idOf(base) }),
      ...(quote === undefined ? {} : { quoteAssetId: names.idOf(quote) }),
      ...(given.has('own') ? { own: true } : {}),
      ...(given.has('addressed') ? { addressed: true } : {}),
      ...(settled === undefined
        ? {}
        : { minSettled: wholeNumber('--settled', settled, { least: 1, most: mostSettled }) }),
    });
    const now = session.now();
    const rows = rfqs.map((each) => [...wordsOf(names, each), ageOf(each.expiresAt, now)]);
    answer(cli, { rfqs }, tableOf(['RFQ', 'the taker', 'asks', 'ends'], rows));
  });

type Query = Parameters<ParleyClient['rfqs']>[0];

async function readRfqs(client: ParleyClient, most: number, query: Query): Promise<Rfq[]> {
  const all: Rfq[] = [];
  let cursor: string | null = null;
  do {
    const from: { cursor?: string } = cursor === null ? {} : { cursor };
    const limit = Math.min(pageLimit.most, most - all.length);
    const { rfqs, nextCursor } = await client.rfqs({ ...query, ...from, limit });
    all.push(...rfqs.slice(0, limit));
    cursor = nextCursor;
  } while (cursor !== null && all.length < most);
  return all;
}

/** Its id, what the taker does, and what is asked for it. */
export function wordsOf(names: Catalogue, rfq: Rfq): string[] {
  const { id, direction, baseAssetId, quoteAssetId, baseAmount, askAmount } = rfq;
  const quote = names.of(quoteAssetId);
  const verb = direction === 'sell_base' ? 'sells' : 'buys';
  const what = `${verb} ${shownAmount(baseAmount, names.of(baseAssetId))} for ${quote.name}`;
  return [id, what, askAmount === null ? 'any price' : shownAmount(askAmount, quote)];
}

export const feed: Run = (cli, { text }) =>
  inSession(cli, async (session) => {
    const gone = text('cancel-after');
    const switched =
      gone === undefined
        ? {}
        : { cancelOnDisconnect: wholeNumber('--cancel-after', gone, graceSeconds) };
    if (typeof WebSocket === 'undefined') {
      const sentence = `Node ${process.versions.node} has no WebSocket: the feed wants Node 22`;
      throw new Failure('local', 'old_node', sentence);
    }
    const { client, account } = await signedIn(session);
    const names = await catalogueOf(session, client);
    const { makerFeed } = await import('@parley/sdk/feed.ts');
    const { market: baseUrl, shortName } = session.profile;
    const ended = new AbortController();
    const own = makerFeed({
      baseUrl,
      key: account.key,
      shortName,
      events: feedTopics,
      ...switched,
      onChange: (change) => {
        const [id, what, asks] = wordsOf(names, change.rfq);
        tell(cli, change, `${change.kind.padEnd(9)}  ${id}  ${what}, asks ${asks}`);
      },
      onEvent: (event) => {
        const { type, threadId, eventSeq: _, createdAt, rfqId: __, ...rest } = event;
        tell(cli, event, `${createdAt}  ${type}  ${threadId}  ${JSON.stringify(rest)}`);
      },
      onState: (state) => {
        note(cli, `feed: ${state}${state === 'live' ? waitsFor(own.book.size) : ''}`);
        if (state === 'closed') ended.abort();
      },
      onError: (sentence) => note(cli, `feed: ${sentence}`),
    });
    try {
      const begun = own.ready.catch((cause: Error) => {
        throw new Failure('refused', 'feed_refused', cause.message, { cause });
      });
      await Promise.race([begun, untilAborted(cli.signal)]);
      await untilAborted(AbortSignal.any([cli.signal, ended.signal]));
    } finally {
      own.close();
    }
    if (!cli.signal.aborted) {
      throw new Failure('refused', 'feed_refused', 'the market has ended the feed for this key');
    }
  });

/** An empty book would otherwise print no line until something happens. */
function waitsFor(rfqs: number): string {
  const there = rfqs === 0 ? 'no request is open' : `${rfqs} open`;
  return `, ${there}: waits for requests, and for news of your threads, until you end it`;
}

/** Without a person's interruption it never resolves. */
export function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
