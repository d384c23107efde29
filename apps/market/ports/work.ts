// The services that wait for work in this process, and the events that ring for it: commits here,
// and notices of other processes.

import type { Database } from '../db/database.ts';
import { type Work, workChannel } from '../db/work.ts';
import { type Ear, type Joined, noticesOf } from './notices.ts';

export type { Work } from '../db/work.ts';

type WorkBells = {
  /** Until the answer is called. `heard`: of a commit that every process hears of, not by `ring`. */
  on(work: readonly Work[], ring: (heard: boolean) => void): () => void;
  /** After a commit of this process. */
  ring(work: Work): void;
  /** Whether others' commits are heard of; else only a poll finds what they made. */
  isHeard(): boolean;
  /**
   * Whether this process takes up at once what any of several may do: so it is until it hears that
   * another one does.
   */
  isFirst(): boolean;
  beFirst(is: boolean): void;
};

const ofDatabases = new WeakMap<Database['listen'], WorkBells>();

export function workOf(db: Pick<Database, 'listen'>): WorkBells {
  const known = ofDatabases.get(db.listen) ?? createBells(db);
  ofDatabases.set(db.listen, known);
  return known;
}

type Waiting = { readonly work: readonly Work[]; readonly ring: (heard: boolean) => void };

function createBells(db: Pick<Database, 'listen'>): WorkBells {
  const waiting = new Set<Waiting>();
  let joined: Promise<Joined> | null = null;
  let isHeard = () => false;

  let first = true;

  const ring = (name: string, heard: boolean) => {
    for (const each of waiting) if (each.work.some((one) => one === name)) each.ring(heard);
  };
  // Each time another one: a listener that left a moment ago may still be on the way out.
  const newEar = (): Ear => ({
    begin: async (own) => {
      await own.rows({ name: 'work_listen', text: `listen ${workChannel}`, values: [] });
      // The notices were missed while the connection was away.
      for (const each of waiting) each.ring(false);
    },
    hear: (_own, channel, payload) => {
      if (channel === workChannel) ring(payload, true);
    },
  });
  const join = async () => {
    const own = await noticesOf(db).join(newEar());
    isHeard = own.isHeard;
    return own;
  };
  return {
    on: (work, ring) => {
      const each: Waiting = { work, ring };
      waiting.add(each);
      joined ??= join();
      return () => {
        if (!waiting.delete(each) || waiting.size > 0) return;
        void joined?.then((own) => own.leave());
        joined = null;
        isHeard = () => false;
      };
    },
    ring: (name) => ring(name, false),
    isHeard: () => isHeard(),
    isFirst: () => first,
    beFirst: (is) => {
      const wasBehind = !first;
      first = is;
      // The one before may have left what all the others left to it.
      if (is && wasBehind) for (const each of waiting) each.ring(false);
    },
  };
}
