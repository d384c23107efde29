// Revoked keys stop at once in every process. Who revokes notifies in the same transaction; each
// process drops what it remembers of the account and answers; and whoever revoked waits, before it
// says so, for the answers of all that listen.
//
// Nothing hangs on notices alone: a key is remembered for at most `rememberedMs` from the start of
// its look-up, so whoever has waited as long since the commit needs no answer. And a process that
// does not listen remembers nothing. Why: docs/decisions/0005-revoked-everywhere-at-once.md.

import type { Logger } from 'pino';
import type { Database } from '../db/database.ts';
import {
  endListening,
  findListeners,
  listenForRevocations,
  tellForgotten,
} from '../db/revocations.ts';
import { noticesOf } from '../ports/notices.ts';

/** How long a key that was looked up is remembered, and the longest wait for answers. */
export const rememberedMs = 1_000;

/** Answers may come before they are waited for. */
const mostNotices = 1_000;

export type Revocations = {
  /** False = a revocation might not be heard of: nothing may be remembered. */
  isListening(): boolean;
  /** After the commit: when no process accepts what was revoked under this notice any more. */
  everywhere(notice: string): Promise<void>;
  close(): void;
};

type Needs = {
  readonly db: Pick<Database, 'rows' | 'listen'>;
  readonly log: Logger;
  /** Drops what is remembered of the account, or of all of them. */
  readonly forget: (accountId: string | null) => void;
  /** Instead of `rememberedMs`. */
  readonly limitMs?: number;
};

/** Resolves after the first try to listen; later ones go on in the background. */
export async function openRevocations(needs: Needs): Promise<Revocations> {
  // Timers may fire up to a millisecond early.
  const { db, log, forget, limitMs = rememberedMs + 2 } = needs;
  const answers = createAnswers();
  let closed = false;
  let warned = false;
  const link = await noticesOf(db).join({
    begin: async (own) => {
      await listenForRevocations(own);
      if (warned) log.info('keys are remembered again');
      warned = false;
    },
    hear: async (own, channel, payload) => {
      const [subject = '', who = ''] = payload.split(' ');
      if (channel === 'key_forgotten') return answers.take(subject, who);
      if (channel !== 'key_revoked') return;
      forget(subject);
      await tellForgotten(own, who);
    },
    lost: () => {
      forget(null);
      if (closed || warned) return;
      log.warn('keys are not remembered: this process does not hear of revocations');
      warned = true;
    },
    end: endListening,
  });
  return {
    isListening: link.isHeard,
    everywhere: (notice) => withinLimit(limitMs, answers, notice, () => findListeners(db)),
    close: () => {
      closed = true;
      link.leave();
    },
  };
}

type Answers = ReturnType<typeof createAnswers>;

/** Who has answered which notice. */
function createAnswers() {
  const given = new Map<string, Set<string>>();
  const waiting = new Map<string, () => void>();
  return {
    take(notice: string, who: string): void {
      let answered = given.get(notice);
      if (answered === undefined) {
        answered = new Set();
        given.set(notice, answered);
        if (given.size > mostNotices) given.delete(given.keys().next().value as string);
      }
      answered.add(who);
      waiting.get(notice)?.();
    },
    have: (notice: string, who: string) => given.get(notice)?.has(who) ?? false,
    /** Calls `check` after each answer to the notice. */
    watch: (notice: string, check: () => void) => waiting.set(notice, check),
    unwatch: (notice: string) => waiting.delete(notice),
  };
}

/** Until all have answered, or until what was remembered at the commit has lapsed by itself. */
function withinLimit(
  limitMs: number,
  answers: Answers,
  notice: string,
  find: () => Promise<string[]>,
): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      answers.unwatch(notice);
      resolve();
    };
    const timer = setTimeout(end, limitMs);
    const check = (listeners: string[]) => {
      if (listeners.every((who) => answers.have(notice, who))) end();
    };
    find().then(
      (listeners) => {
        answers.watch(notice, () => check(listeners));
        check(listeners);
      },
      () => {}, // Who listens is not known: the limit holds.
    );
  });
}
