// The book of others as the feed has it, and that one's own threads have moved. A page hears of
// either a few times a second, however many changes there are.

import { threadTopics } from '@parley/core/events.ts';
import { makerFeed } from '@parley/sdk/feed.ts';
import type { Rfq } from '@parley/sdk/types.ts';
import { useEffect, useState } from 'react';
import { account } from '../../market/account.ts';
import { text } from '../../texts/texts.ts';
import { countedSite } from './budget.ts';

export type LiveBook = {
  readonly state: 'connecting' | 'live' | 'closed';
  readonly rfqs: readonly Rfq[];
  /** The last error, until the book is live again. */
  readonly trouble: string | null;
};

const tellMs = 150;
/** Each time costs requests of the budget. */
const movedMs = 500;
const isOffline = () => !navigator.onLine;
const nothing: LiveBook = { state: 'connecting', rfqs: [], trouble: null };

/** `moved`: the cached own threads are out of date; the same function at each call. */
export function useLiveBook(moved: () => void): LiveBook {
  const [book, setBook] = useState(nothing);
  useEffect(() => openBook(setBook, moved), [moved]);
  return book;
}

/** Until what it returns is called. */
function openBook(tell: (book: LiveBook) => void, moved: () => void): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let moving: ReturnType<typeof setTimeout> | undefined;
  let movedAt = 0;
  const movedSoon = () => {
    if (isOver) return;
    // The first of a burst at once.
    moving ??= setTimeout(
      () => {
        moving = undefined;
        movedAt = performance.now();
        moved();
      },
      Math.max(0, movedAt + movedMs - performance.now()),
    );
  };
  let trouble: string | null = null;
  let isOver = false;
  const soon = () => {
    if (isOver) return;
    timer ??= setTimeout(() => {
      timer = undefined;
      const state = isOffline() && feed.state() === 'live' ? 'connecting' : feed.state();
      const why = isOffline() ? text('console.offline') : trouble;
      tell({ state, rfqs: [...feed.book.values()], trouble: why });
    }, tellMs);
  };
  const feed = makerFeed({
    ...countedSite,
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
  // A socket hears of it only when it has been silent for a while.
  window.addEventListener('online', soon);
  window.addEventListener('offline', soon);
  return () => {
    isOver = true;
    window.removeEventListener('online', soon);
    window.removeEventListener('offline', soon);
    clearTimeout(timer);
    clearTimeout(moving);
    feed.close();
  };
}
