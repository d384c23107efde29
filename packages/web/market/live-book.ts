// The book of others as the feed has it, and that one's own threads have moved. A page hears of
// either twice a second at most, however many changes there are.

import { threadTopics } from '@parley/core/events.ts';
import { makerFeed } from '@parley/sdk/feed.ts';
import type { Rfq } from '@parley/sdk/types.ts';
import { useEffect, useState } from 'react';
import { account } from './account.ts';
import { ownSite } from './site.ts';

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

/** `moved`: the cached own threads are out of date; the same function at each call. */
export function useLiveBook(moved: () => void = ignored): LiveBook {
  const [book, setBook] = useState(nothing);
  useEffect(() => openBook(setBook, moved), [moved]);
  return book;
}

/** Until what it returns is called. */
function openBook(tell: (book: LiveBook) => void, moved: () => void): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let hasMoved = false;
  let trouble: string | null = null;
  let isOver = false;
  const soon = () => {
    if (isOver) return;
    timer ??= setTimeout(() => {
      timer = undefined;
      tell({ state: feed.state(), rfqs: [...feed.book.values()], trouble });
      if (hasMoved) moved();
      hasMoved = false;
    }, tellMs);
  };
  const movedSoon = () => {
    hasMoved = true;
    soon();
  };
  const feed = makerFeed({
    ...ownSite,
    ticket: async () => (await account.feedTicket()).ticket,
    onChange: soon,
    events: threadTopics,
    onEvent: movedSoon,
    onGap: movedSoon,
    onState: (state) => {
      if (state === 'live') trouble = null;
      soon();
    },
    onError: (sentence) => {
      trouble = sentence;
      soon();
    },
  });
  return () => {
    isOver = true;
    clearTimeout(timer);
    feed.close();
  };
}
