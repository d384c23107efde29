// The market's feed: the book of others, and that one's own threads have moved. A page hears of
// either at once, and then twice a second at most, however many changes there are.

import { feedTopics, threadTopics } from '@parley/core/events.ts';
import { minSettled } from '@parley/core/limits.ts';
import { createLink } from '@parley/sdk/feed/link.ts';
import { createOwn } from '@parley/sdk/feed/own.ts';
import { makerFeed } from '@parley/sdk/feed.ts';
import type { Rfq } from '@parley/sdk/types.ts';
import { useEffect, useState } from 'react';
import { account } from './account.ts';
import { paced } from './paced.ts';
import { ownSite } from './site.ts';
import { useOnline } from './use-online.ts';

export type LiveBook = {
  readonly state: 'connecting' | 'live' | 'closed';
  readonly rfqs: readonly Rfq[];
  /** The last error, until the book is live again. */
  readonly trouble: string | null;
};

/** Each time that threads have moved costs requests of the budget. */
const tellMs = 500;
const nothing: LiveBook = { state: 'connecting', rfqs: [], trouble: null };
const ignored = () => {};
const ticket = async () => (await account.feedTicket()).ticket;

/** `moved`: the cached own threads are out of date; the same function at each call. */
export function useLiveBook(moved: () => void = ignored): LiveBook {
  const [book, setBook] = useState(nothing);
  useEffect(() => openBook(setBook, moved), [moved]);
  // A connection without a network is noticed late.
  const isOnline = useOnline();
  return isOnline || book.state === 'closed' ? book : { ...book, state: 'connecting' };
}

/** Until what it returns is called. */
function openBook(tell: (book: LiveBook) => void, moved: () => void): () => void {
  let trouble: string | null = null;
  const told = paced(tellMs, () =>
    tell({ state: feed.state(), rfqs: [...feed.book.values()], trouble }),
  );
  const heard = paced(tellMs, moved);
  const feed = makerFeed({
    ...ownSite,
    ticket,
    onChange: told.soon,
    events: threadTopics,
    onEvent: heard.soon,
    onGap: heard.soon,
    onState: (state) => {
      if (state === 'live') trouble = null;
      told.soon();
    },
    onError: (sentence) => {
      trouble = sentence;
      told.soon();
    },
  });
  return () => {
    told.stop();
    heard.stop();
    feed.close();
  };
}

/**
 * Whether the market says by itself that an own thread or a quote for an own order has moved: it
 * calls `moved` then, which is the same function at each call. Without the book of others.
 */
export function useThreadNews(isSignedIn: boolean, moved: () => void): boolean {
  const [isLive, setLive] = useState(false);
  useEffect(() => (isSignedIn ? openThreads(setLive, moved) : undefined), [isSignedIn, moved]);
  return isLive;
}

/** A book of such accounts alone is next to empty: it is not displayed here. */
const noBook = { minSettled: minSettled.most };

function openThreads(tell: (isLive: boolean) => void, moved: () => void): () => void {
  const heard = paced(tellMs, moved);
  const own = createOwn({
    events: feedTopics,
    onEvent: heard.soon,
    onGap: heard.soon,
  });
  const link = createLink({
    url: `${ownSite.baseUrl.replace(/^http/, 'ws')}/v1/ws`,
    key: ticket,
    greeting: () => ({ ...own.greeting(), ...noBook }),
    heard: own.take,
    changed: (state) => tell(state === 'live'),
    troubled: ignored,
    ended: ignored,
  });
  return () => {
    heard.stop();
    link.close();
  };
}
