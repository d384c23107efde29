// The one connection of this process that hears what others notify, shared by all who want to. It
// is opened with the first of them, again whenever it is lost, and closed with the last.

import { type Database, type Listener, proveListener, type Tx } from '../db/database.ts';

const proveEveryMs = 5_000;
const retryMs = { least: 100, most: 5_000 } as const;

/** A listener. An exception of it costs the connection. */
export type Ear = {
  /** On each new connection: listens, before anything is taken for heard. */
  readonly begin: (own: Listener) => Promise<void>;
  readonly hear: (own: Listener, channel: string, payload: string) => Promise<void> | void;
  /** The listener misses notices from now on, until the next `begin`. */
  readonly lost?: () => void;
  /** On a connection that others still use. */
  readonly end?: (own: Listener) => Promise<void>;
};

export type Joined = {
  /** False: notices may be missed. */
  isHeard(): boolean;
  leave(): void;
};

type Notices = {
  /** Resolves after the first try to listen; later ones go on in the background. */
  join(ear: Ear): Promise<Joined>;
  /** The connection itself, which waits for no other; null while it is not open. */
  current(): Tx | null;
};

/** By what listens, which a way to the database has from the database that it is a way to. */
const ofDatabases = new WeakMap<Database['listen'], Notices>();

export function noticesOf(db: Pick<Database, 'listen'>): Notices {
  const known = ofDatabases.get(db.listen) ?? createNotices(db);
  ofDatabases.set(db.listen, known);
  return known;
}

function createNotices(db: Pick<Database, 'listen'>): Notices {
  const ears = new Map<Ear, boolean>();
  const begin = async (own: Listener, ear: Ear): Promise<void> => {
    await ear.begin(own);
    if (link.isOpen(own) && ears.has(ear)) ears.set(ear, true);
  };
  const link = keepLink(db, {
    isWanted: () => ears.size > 0,
    opened: async (own) => {
      for (const ear of ears.keys()) await begin(own, ear);
    },
    hear: (own, channel, payload) => {
      for (const { hear } of ears.keys()) {
        const heard = async () => hear(own, channel, payload);
        heard().catch(() => link.lose(own));
      }
    },
    lost: () => {
      for (const ear of ears.keys()) {
        ears.set(ear, false);
        ear.lost?.();
      }
    },
  });
  return {
    current: link.current,
    join: async (ear) => {
      ears.set(ear, false);
      const own = await link.open();
      // It was open before.
      if (own !== null && ears.get(ear) === false) {
        await begin(own, ear).catch(() => link.lose(own));
      }
      return {
        isHeard: () => ears.get(ear) ?? false,
        leave: () => {
          if (!ears.delete(ear)) return;
          ear.lost?.();
          const still = link.current();
          if (ears.size === 0) link.lose(still);
          else if (still !== null) ear.end?.(still).catch(() => {});
        },
      };
    },
  };
}

type Uses = {
  /** Whether a connection that was lost is opened again. */
  readonly isWanted: () => boolean;
  readonly opened: (own: Listener) => Promise<void>;
  readonly hear: (own: Listener, channel: string, payload: string) => void;
  readonly lost: () => void;
};

/** A listening connection, again and again. */
function keepLink(db: Pick<Database, 'listen'>, uses: Uses) {
  let link: Listener | null = null;
  let opening: Promise<void> | null = null;
  let timer: NodeJS.Timeout | undefined;
  let pauseMs: number = retryMs.least;

  function after(ms: number, work: () => Promise<unknown>): void {
    clearTimeout(timer);
    timer = setTimeout(() => void work(), ms).unref();
  }

  /** A failure of a connection that was replaced since says nothing of the new one. */
  function lose(which: Listener | null): void {
    if (which !== link) return;
    link?.end();
    link = null;
    clearTimeout(timer);
    uses.lost();
    if (!uses.isWanted()) return;
    after(pauseMs, open);
    pauseMs = Math.min(pauseMs * 2, retryMs.most);
  }

  async function connect(): Promise<void> {
    clearTimeout(timer);
    let fresh: Listener | null = null;
    const heard = (channel: string, payload: string) => {
      if (fresh !== null) uses.hear(fresh, channel, payload);
    };
    try {
      fresh = await db.listen({ heard, lost: () => lose(fresh) });
      link = fresh;
      await uses.opened(fresh);
    } catch {
      return lose(link);
    }
    if (link !== fresh) return;
    if (!uses.isWanted()) return lose(fresh);
    pauseMs = retryMs.least;
    after(proveEveryMs, prove);
  }

  async function open(): Promise<Listener | null> {
    if (link === null) {
      opening ??= connect().finally(() => {
        opening = null;
      });
    }
    await opening;
    return link;
  }

  /** A connection can be gone without a word: each answer proves that it is there. */
  async function prove(): Promise<void> {
    const own = link;
    if (own === null) return;
    const restMs = own.answeredAt() + proveEveryMs - performance.now();
    if (restMs > 0) return after(restMs, prove);
    // One that was lost meanwhile is being opened again.
    const again = () => own === link && after(proveEveryMs, prove);
    await proveListener(own).then(again, () => lose(own));
  }

  return { open, lose, current: () => link, isOpen: (own: Listener) => own === link };
}
