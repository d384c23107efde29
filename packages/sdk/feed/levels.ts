// Levels on their way: those of a pair one after the other, so that each answer is known. A frame
// is not repeated by itself: a maker publishes again soon.

import { QuoteError } from '../errors.ts';
import type { PublishedLevels, PublishLevels } from '../types.ts';
import type { ServerFrame } from './link.ts';

type Waiting = {
  readonly levels: PublishLevels;
  readonly resolve: (published: PublishedLevels) => void;
  readonly reject: (error: QuoteError) => void;
};

type Pair = { readonly baseAssetId: string; readonly quoteAssetId: string };

/**
 * Levels that are not answered in this time end with `QuoteError` `unknown`, and the next ones go.
 */
const answerMs = 15_000;
/** A pair is one, whichever of both is called the base. */
const nameOf = ({ baseAssetId, quoteAssetId }: Pair) =>
  [baseAssetId, quoteAssetId]
    .map((each) => each.toLowerCase())
    .sort()
    .join(' ');

export function createLevels(send: (frame: object) => boolean) {
  const sent = new Map<string, Waiting & { readonly timer: ReturnType<typeof setTimeout> }>();
  /** The next ones of a pair whose last ones are not answered. */
  const next = new Map<string, Waiting>();
  let over = false;

  const go = (name: string, each: Waiting) => {
    if (!send({ levels: each.levels })) {
      each.reject(new QuoteError('stale', 'there is no connection: no levels were published'));
      return;
    }
    const timer = setTimeout(() => {
      settle(name, ({ reject }) => reject(unknown('no answer came')));
    }, answerMs);
    sent.set(name, { ...each, timer });
  };

  const settle = (name: string, end: (each: Waiting) => void): boolean => {
    const each = sent.get(name);
    if (each === undefined) return false;
    clearTimeout(each.timer);
    sent.delete(name);
    end(each);
    const after = next.get(name);
    next.delete(name);
    if (after !== undefined) go(name, after);
    return true;
  };

  const endAll = (ofSent: () => QuoteError, ofNext: () => QuoteError) => {
    for (const each of next.values()) each.reject(ofNext());
    next.clear();
    for (const name of [...sent.keys()]) settle(name, ({ reject }) => reject(ofSent()));
  };

  return {
    publish: (levels: PublishLevels) =>
      new Promise<PublishedLevels>((resolve, reject) => {
        if (over) return reject(closed());
        const name = nameOf(levels);
        const each = { levels, resolve, reject };
        if (!sent.has(name)) return go(name, each);
        next.get(name)?.reject(new QuoteError('superseded', 'other levels of the pair came after'));
        next.set(name, each);
      }),
    /** Whether it was an answer of the market to one of these. */
    take: (frame: ServerFrame): boolean => {
      if (frame.type === 'levels') {
        const { type: _, seq: _seq, ...published } = frame;
        return settle(nameOf(frame), ({ resolve }) => resolve(published));
      }
      if (frame.type !== 'error') return false;
      const { baseAssetId, quoteAssetId, error, code } = frame;
      if (baseAssetId === undefined || quoteAssetId === undefined) return false;
      return settle(nameOf({ baseAssetId, quoteAssetId }), ({ reject }) =>
        reject(new QuoteError('refused', error, code ?? null)),
      );
    },
    lost: () =>
      endAll(
        () => unknown('the connection was lost'),
        () => new QuoteError('stale', 'the connection was lost: they were not sent'),
      ),
    end: () => {
      over = true;
      endAll(closed, closed);
    },
  };
}

const closed = () => new QuoteError('closed', 'the feed was closed');
const unknown = (why: string) =>
  new QuoteError('unknown', `${why}: the levels may have been published`);
