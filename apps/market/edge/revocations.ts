// Revoked keys stop at once in every process. The transaction that revokes notifies, and each process
// drops what it remembers of the account. The process that revoked asks for that once more under a
// word used once, and waits for the answers of all that listen before it says so: one session is
// renewed and then ended, and an answer to the first would pass for one to the second.
//
// The protocol does not depend on notices alone: a key is remembered for at most `rememberedMs` from
// the start of its look-up, so a process that has waited as long since the commit needs no answer.
// And a process that does not listen remembers nothing (decision 0005 in docs/decisions/README.md).

import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import type { Database } from '../db/database.ts';
import {
  askForgotten,
  endListening,
  findListeners,
  listenForRevocations,
  tellForgotten,
} from '../db/revocations.ts';
import { noticesOf } from '../ports/notices.ts';

/** How long a key that was looked up is remembered, and the longest wait for answers. */
export const rememberedMs = 1_000;

type Revocations = {
  /** False = a revocation might not be heard of: the process may remember no key. */
  isListening(): boolean;
  /** After the commit: when no process accepts what was revoked of the account any more. */
  everywhere(accountId: string): Promise<void>;
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
  /** Callers that wait, by their words; each takes the name of a process that answered. */
  const waiting = new Map<string, (who: string) => void>();
  let closed = false;
  let warned = false;
  const link = await noticesOf(db).join({
    begin: async (own) => {
      await listenForRevocations(own);
      // Those of before it listened were missed: every connected account is looked up again.
      forget(null);
      if (warned) log.info('keys are remembered again');
      warned = false;
    },
    hear: async (own, channel, payload) => {
      const [subject = '', other = ''] = payload.split(' ');
      if (channel === 'key_forgotten') return waiting.get(subject)?.(other);
      if (channel !== 'key_revoked') return;
      forget(subject);
      if (other !== '') await tellForgotten(own, other);
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
    everywhere: (accountId) => {
      const { promise, resolve } = Promise.withResolvers<void>();
      // Timers may fire up to a millisecond early.
      const timer = setTimeout(resolve, rememberedMs + 2);
      const word = randomUUID();
      const answers = new Set<string>();
      let listeners: readonly string[] | null = null;
      const check = () => {
        if (listeners?.every((who) => answers.has(who))) resolve();
      };
      waiting.set(word, (who) => {
        answers.add(who);
        check();
      });
      // A process that begins to listen in between has read nothing of before the commit.
      const ask = async () => {
        listeners = await findListeners(db);
        await askForgotten(db, accountId, word);
        check();
      };
      // Where it is not known who listens, the limit holds.
      ask().catch(() => {});
      return promise.finally(() => {
        clearTimeout(timer);
        waiting.delete(word);
      });
    },
    close: () => {
      closed = true;
      link.leave();
    },
  };
}
