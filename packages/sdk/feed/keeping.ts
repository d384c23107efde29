// The book kept whole: the frames say what changes, and REST has what a snapshot does not hold.

import { sleep } from '@parley/chains/nodes/turn.ts';
import { withResolvers } from '@parley/core/engines.ts';
import { pageLimit } from '@parley/core/limits.ts';
import type { ParleyClient } from '../client.ts';
import { messageOf } from '../errors.ts';
import { pagesOf } from '../pages.ts';
import type { Rfq } from '../types.ts';
import { type AssetPair, type BookChange, createEntries, mostRfqs } from './entries.ts';
import { isRfq, type LinkState, type ServerFrame } from './link.ts';

export type KeepOptions = {
  /** The pairs to keep, at most 20; all of them unless named. */
  readonly pairs?: readonly AssetPair[] | undefined;
  /** The most RFQs to keep, default 100 000. More are left out, and `onError` is told once. */
  readonly most?: number | undefined;
  /** An RFQ came, or left the book. */
  readonly onChange?: ((change: BookChange) => void) | undefined;
  /** `live`: the book is whole and changes are heard. */
  readonly onState?: ((state: LinkState) => void) | undefined;
  /** Refusals that answer no quote, lost connections, the reason why it was given up. */
  readonly onError?: ((sentence: string) => void) | undefined;
  /** How often private RFQs are read anew, for wallets proven or removed meanwhile: a minute. */
  readonly renewMs?: number | undefined;
};

/** The most entries of a snapshot: the rest is read by REST. */
const snapshotSize = pageLimit.most;
const mostPairs = 20;
const againMs = 1_000;
/** How late a wallet that was proven or removed elsewhere shows in private RFQs. */
const renewMs = 60_000;

type Listing = NonNullable<Parameters<ParleyClient['rfqs']>[0]>;

export type Kept = ReturnType<typeof keepBook>;

/** Give it the frames and the states of a link. Throws RangeError for too many pairs. */
export function keepBook(client: ParleyClient, options: KeepOptions) {
  const { pairs, most = mostRfqs, onChange = () => {}, onState = () => {} } = options;
  const { onError = () => {} } = options;
  if (pairs !== undefined && (pairs.length === 0 || pairs.length > mostPairs)) {
    throw new RangeError(`a book is of 1 to ${mostPairs} pairs, or of all; ${pairs.length} named`);
  }
  const entries = createEntries(() => Date.now(), pairs, most);
  const first = withResolvers<void>();
  first.promise.catch(() => {});
  const stop = new AbortController();
  let state: LinkState = 'connecting';
  let isLinked = false;
  /** Counts snapshots: a page that was being read for an earlier one is of no use. */
  let filling = 0;
  let whole = false;
  let saidFull = false;

  const tell = (changes: readonly BookChange[]) => {
    for (const each of changes) onChange(each);
    if (saidFull || entries.leftOut() === 0) return;
    saidFull = true;
    onError(`the book has ${most} RFQs, as many as may be: more are left out`);
  };
  const move = (next: LinkState) => {
    if (next === state || state === 'closed') return;
    state = next;
    onState(next);
  };
  const goLive = () => {
    move('live');
    first.resolve();
  };

  /** A snapshot that is full is the newest part of the book. */
  const begin = (frame: ServerFrame & { type: 'snapshot' }) => {
    filling += 1;
    const lists = [frame.rfqs, frame.addressed ?? []];
    whole = lists.every(({ length }) => length < snapshotSize);
    if (whole) tell(entries.settle());
    else fill(filling).catch(() => {}); // Stopped.
  };

  const fill = async (turn: number) => {
    for (;;) {
      try {
        await fillOnce(turn);
        break;
      } catch (error) {
        stop.signal.throwIfAborted();
        onError(`the rest of the book could not be read: ${messageOf(error)}`);
        await sleep(againMs, stop.signal);
      }
    }
    if (turn !== filling) return;
    tell(entries.settle());
    whole = true;
    if (isLinked) goLive();
  };

  const fillOnce = async (turn: number) => {
    const { userId } = await client.me({ signal: stop.signal });
    for (const list of [...listingsOf(pairs), { addressed: true }]) {
      const rfqs = await readAll(list, turn);
      if (turn !== filling) return;
      tell(entries.fill(rfqs.filter(({ creatorId }) => creatorId !== userId)));
    }
  };

  const readAll = async (list: Listing, turn: number): Promise<Rfq[]> => {
    const all: Rfq[] = [];
    const { signal } = stop;
    const ask = (from: object) =>
      client.rfqs({ limit: snapshotSize, ...list, ...from }, { signal });
    for await (const { rfqs } of pagesOf(Math.ceil(mostRfqs / snapshotSize), ask)) {
      all.push(...rfqs.slice(0, snapshotSize).filter(isRfq));
      if (turn !== filling) break;
    }
    return all;
  };

  const isLive = () => state === 'live';
  const renew = async () => {
    if (!isLive()) return;
    const turn = filling;
    const there = await readAll({ addressed: true }, turn);
    if (turn === filling && isLive()) tell(entries.renew(there));
  };
  const renewing = setInterval(() => {
    renew().catch(() => {}); // Again in a minute.
  }, options.renewMs ?? renewMs);
  (renewing as Partial<NodeJS.Timeout>).unref?.();

  return {
    rfqs: entries.rfqs,
    leftOut: entries.leftOut,
    /** Resolves when the book is whole for the first time; rejects where it never can be. */
    ready: first.promise,
    state: () => state,
    take: (frame: ServerFrame): void => {
      tell(entries.take(frame));
      if (frame.type === 'snapshot') begin(frame);
    },
    moved: (next: LinkState): void => {
      isLinked = next === 'live';
      if (!isLinked) move(next);
      else if (whole) goLive();
    },
    /** No frame will come. */
    end: (why: string): void => {
      clearInterval(renewing);
      stop.abort();
      move('closed');
      first.reject(new Error(why));
    },
  };
}

/** A pair is read both ways: the market lists an RFQ by the base that it was asked with. */
function listingsOf(pairs: readonly AssetPair[] | undefined): Listing[] {
  if (pairs === undefined) return [{}];
  return pairs.flatMap(([one, other]) => [
    { baseAssetId: one, quoteAssetId: other },
    { baseAssetId: other, quoteAssetId: one },
  ]);
}
