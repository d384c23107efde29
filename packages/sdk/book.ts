// The book of RFQs, kept as the market has it: it resumes after a cut where it was, and reads all
// anew where the market cannot say what was missed. It only listens: `makerFeed` quotes, too.

import { parleyClient } from './client.ts';
import { type KeepOptions, keepBook } from './feed/keeping.ts';
import { createLink, type LinkState, type LinkTo, linkOf } from './feed/link.ts';
import type { HttpOptions } from './http.ts';
import type { Rfq } from './types.ts';

export type { AssetPair, BookChange } from './feed/entries.ts';
export type { LinkState } from './feed/link.ts';

/** `key`: with the scope `maker`. */
export type BookOptions = HttpOptions & LinkTo & KeepOptions;

export type Book = {
  /**
   * RFQs of others, public or for this account, by id. While `live` they are what the market has,
   * at most a quarter of a second ago; while `connecting` what it had when it was last heard.
   */
  readonly rfqs: ReadonlyMap<string, Rfq>;
  /** Resolves when the book is whole for the first time; rejects where it never can be. */
  readonly ready: Promise<void>;
  state(): LinkState;
  /** How many RFQs were left out because there are `most` already: 0, or the book is not whole. */
  leftOut(): number;
  close(): void;
};

/** Throws TypeError for a key that no header carries, RangeError for more than 20 pairs. */
export function openBook(options: BookOptions): Book {
  const { onError = () => {} } = options;
  const client = parleyClient(options);
  const kept = keepBook(client, options);
  const link = createLink({
    ...linkOf(options, client),
    heard: (frame) => {
      kept.take(frame);
      if (frame.type === 'error') onError(frame.error);
    },
    changed: kept.moved,
    ended: (why) => {
      kept.end(why);
      onError(why);
    },
  });
  const { rfqs, ready, state, leftOut } = kept;
  return {
    rfqs,
    ready,
    state,
    leftOut,
    close: () => {
      kept.end('the book was closed');
      link.close();
    },
  };
}
