// Revoked keys stop at once in every process. The transaction that revokes notifies as well; each
// process drops what it remembers of the account and answers; and whoever revoked waits, before it
// says so, for the answers of all that listen.
//
// The protocol does not depend on notices alone: a key is remembered for at most `rememberedMs`
// from the start of
// its look-up, so whoever has waited as long since the commit needs no answer. And a process that
// does not listen remembers nothing (decision 0005 in docs/decisions/README.md).

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

type Revocations = {
  /** False = a revocation might not be heard of: the process may remember no key. */
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
};

/** Resolves after the first try to listen; later ones go on in the background. */
export async function openRevocations({ db, log, forget }: Needs): Promise<Revocations> {
  /** The processes that answered each notice, and the callers that wait for the next answer. */
  const answers = new Map<string, Set<string>>();
  const waiting = new Map<string, () => void>();
  let closed = false;
  let warned = false;
  const answered = (notice: string, who: string) => {
    answers.set(notice, (answers.get(notice) ?? new Set()).add(who));
    const [oldest = ''] = answers.keys();
    if (answers.size > mostNotices) answers.delete(oldest);
    waiting.get(notice)?.();
  };
  const link = await noticesOf(db).join({
    begin: async (own) => {
      await listenForRevocations(own);
      // Those of before it listened were missed: every connected account is looked up again.
      forget(null);
      if (warned) log.info('keys are remembered again');
      warned = false;
    },
    hear: async (own, channel, payload) => {
      const [subject = '', who = ''] = payload.split(' ');
      if (channel === 'key_forgotten') return answered(subject, who);
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
    // Until all have answered, or until what was remembered at the commit has lapsed by itself.
    everywhere: (notice) => {
      const { promise, resolve } = Promise.withResolvers<void>();
      // Timers may fire up to a millisecond early.
      const timer = setTimeout(resolve, rememberedMs + 2);
      let listeners: readonly string[] | null = null;
      const check = () => {
        if (listeners?.every((who) => answers.get(notice)?.has(who))) resolve();
      };
      waiting.set(notice, check);
      const find = async () => {
        listeners = await findListeners(db);
        check();
      };
      // Where it is not known who listens, the limit holds.
      find().catch(() => {});
      return promise.finally(() => {
        clearTimeout(timer);
        waiting.delete(notice);
      });
    },
    close: () => {
      closed = true;
      link.leave();
    },
  };
}
