// Pages of the book, and what a maker first sees of it, kept ready. A page is right until the book changes or an RFQ on it
// expires. Changes made here show at once: a caller that changed the book calls `touch` when its
// transaction has ended, before it replies. A change by another process shows after `maxAgeMs`.

import type { Database } from '../db/database.ts';
import { workOf } from '../ports/work.ts';

/** How stale a change by another process may show: reading the page again costs about 1 ms. */
const maxAgeMs = 250;
/** At about 10 to 50 KB a page. */
const mostPages = 256;

export type Page<T> = {
  readonly value: T;
  /** When the first RFQ on it expires, on the market's clock. */
  readonly validUntilMs: number;
};

export type Book = {
  /**
   * The page under `key`, ready or by `load`; `nowMs` on the market's clock. A key has values of
   * one type.
   */
  page<T>(key: string, nowMs: number, load: () => Promise<Page<T>>): Promise<T> | T;
  /** The book may have changed: a page read until now is not shown again. */
  touch(): void;
};

type Kept = Page<unknown> & { readonly readAt: number; readonly loadedAtMs: number };

export function createBook(): Book {
  let kept = new Map<string, Kept>();
  let loading = new Map<string, Promise<Page<unknown>>>();

  function load<T>(key: string, nowMs: number, read: () => Promise<Page<T>>): Promise<Page<T>> {
    // A page that was being read when the book changed is stored in a map nobody looks at.
    const pages = kept;
    const underway = loading;
    const readAt = performance.now();
    const reading = read()
      .then((page) => {
        if (pages.size >= mostPages) pages.delete(pages.keys().next().value!);
        pages.set(key, { ...page, readAt, loadedAtMs: nowMs });
        return page;
      })
      .finally(() => underway.delete(key));
    underway.set(key, reading);
    return reading;
  }

  return {
    page<T>(key: string, nowMs: number, read: () => Promise<Page<T>>) {
      const page = kept.get(key);
      if (
        page !== undefined &&
        nowMs < page.validUntilMs &&
        nowMs >= page.loadedAtMs &&
        performance.now() - page.readAt < maxAgeMs
      ) {
        return page.value as T;
      }
      const underway = loading.get(key) as Promise<Page<T>> | undefined;
      return (underway ?? load(key, nowMs, read)).then(({ value }) => value);
    },
    touch() {
      kept = new Map();
      loading = new Map();
    },
  };
}

const books = new WeakMap<Database, Book>();

/** The book of this process on this database. */
export function bookOf(db: Database): Book {
  let book = books.get(db);
  if (book === undefined) {
    book = createBook();
    books.set(db, book);
  }
  return book;
}

/** A way to the database whose transactions touch the book when they have ended. */
export function bookWriting(db: Database): Database {
  return afterEach(db, () => bookOf(db).touch());
}

/** The same for what makes RFQs come or go: makers are to be told at once. */
export function feedWriting(db: Database): Database {
  return afterEach(db, () => {
    bookOf(db).touch();
    workOf(db).ring('feed outbox');
  });
}

function afterEach(db: Database, then: () => void): Database {
  const followed = async <R>(ended: Promise<R>): Promise<R> => {
    try {
      return await ended;
    } finally {
      // Also after a failure: a commit whose answer was lost may have happened.
      then();
    }
  };
  return {
    ...db,
    transaction: (work) => followed(db.transaction(work)),
    pipelined: (work) => followed(db.pipelined(work)),
  };
}
