// API keys of an account as its person sees them in the browser: which there are, a new one, and
// the end of one.

import { ParleyError } from '@parley/core/errors.ts';
import { type Scope, scopes } from '@parley/core/scopes.ts';
import { type KeyShown, liveKeyOf, liveKeysOf, revokeOneKey } from '../db/keys.ts';
import { insertOutbox } from '../db/outbox.ts';
import { createKey, type MintedKey } from '../market/keys.ts';
import type { Deps } from '../ports/deps.ts';
import { isUuid } from '../ports/ids.ts';
import { lockLive, type Session } from './sessions.ts';

export function keysOf({ db, now }: Pick<Deps, 'db' | 'now'>, accountId: string) {
  return liveKeysOf(db, accountId, new Date(now()));
}

const notDrawn = /(?!\ufe0e|\ufe0f)[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]/u;

type KeyWanted = {
  readonly name: string | null;
  readonly scopes: readonly Scope[];
  readonly lifeDays?: number | undefined;
};

/** Throws `bad_field` and `too_many_keys`. Where it replaced one, whoever commits it waits. */
export function makeKey(deps: Deps, session: Session, wanted: KeyWanted): Promise<MintedKey> {
  const { accountId } = session;
  const name = wanted.name === null ? null : clearName(wanted.name);
  const given = scopes.filter((scope) => wanted.scopes.includes(scope));
  const { lifeDays } = wanted;
  return deps.db.transaction(async (tx) => {
    await lockLive(tx, deps, session);
    const madeBy = session.id;
    return createKey(tx, deps, { accountId, name, scopes: given, madeBy, lifeDays });
  });
}

/** It is read out in messages: it has no character that breaks a line or is not drawn. */
function clearName(text: string): string {
  const name = text.trim();
  const [odd] = notDrawn.exec(name) ?? [];
  if (/(?!\ufe0e|\ufe0f)\S/u.test(name) && odd === undefined) return name;
  const code = (odd?.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
  const sentence =
    odd === undefined ? 'the name is empty' : `the name holds U+${code}, which is not drawn`;
  throw new ParleyError('bad_field', sentence);
}

/** Revoked and told to its owner. Throws `unknown_key`. The caller that commits it waits. */
export async function endKey(deps: Deps, session: Session, id: string): Promise<KeyShown> {
  const { accountId } = session;
  if (!isUuid(id)) throw unknown();
  return deps.db.transaction(async (tx) => {
    await lockLive(tx, deps, session);
    const at = new Date(deps.now());
    const key = await liveKeyOf(tx, accountId, id, at);
    // The first of two at once revokes it.
    const revoked = key !== null && (await revokeOneKey(tx, accountId, id, at));
    if (key === null || !revoked) throw unknown();
    const { prefix, name } = key;
    const payload = { keyId: id, prefix, name };
    await insertOutbox(tx, [{ topic: 'key.revoked', accountId, payload, at }]);
    return key;
  });
}

function unknown(): ParleyError {
  return new ParleyError('unknown_key', 'the account has no live key of this id');
}
