// `parley feed`: the requests there are to quote, each change, and what becomes of own threads. It
// binds nobody.

import { feedTopics } from '@parley/core/events.ts';
import { catalogueOf } from '@parley/trader/assets.ts';
import { Failure } from '@parley/trader/failures.ts';
import { type Cli, note, tell } from '@parley/trader/io.ts';
import { inSession, signedIn } from '@parley/trader/session.ts';
import { wordsOf } from './market.ts';

type Feed = { readonly cancelAfter?: number | undefined };

export const feed = (cli: Cli, { cancelAfter }: Feed) =>
  inSession(cli, async (session) => {
    const switched = cancelAfter === undefined ? {} : { cancelOnDisconnect: cancelAfter };
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
