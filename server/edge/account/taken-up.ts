// What every way in ends with: the proof is taken up in one transaction, whatever session it ends
// or replaces has ended in every process, and the browser is told.

import type { FastifyInstance } from 'fastify';
import type { Tx } from '../../db/database.ts';
import { revokeSession, type Session } from '../../db/sessions.ts';
import type { TakenUp } from '../../people/sign-in.ts';
import type { Deps } from '../../ports/deps.ts';
import type { Answer } from './declare.ts';

/** `former`: the session of the browser before. Signing in anew ends it: none is fixed on. */
export async function answerOf(
  app: FastifyInstance,
  deps: Deps,
  former: Session | null,
  work: (tx: Tx) => Promise<TakenUp>,
): Promise<Answer & { readonly body: Pick<TakenUp, 'outcome'> }> {
  const taken = await deps.db.transaction(async (tx) => {
    const done = await work(tx);
    if (former !== null && former.id !== done.session.id) {
      const at = new Date(deps.now());
      await revokeSession(tx, former.accountId, former.id, former.id, at);
    }
    return done;
  });
  const { token, session, isNew, way, outcome } = taken;
  deps.metrics.signIns.inc({ way, outcome });
  if (former !== null && token !== null) {
    await app.edge.keys.revoked(former.accountId, former.id);
  }
  const body = { accountId: session.accountId, isNew, outcome };
  return { body, ...(token === null ? {} : { token }) };
}
