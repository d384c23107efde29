// Runs a command at most once under its Idempotency-Key.
//
// Effect and stored reply commit together, under a lock of the transaction's. "Still running" is
// answered before that too, while a chain is read (underway.ts). Not stored: 401, 429, 503, 504,
// the scope's 403, an account's refusals beyond 10 000 a day, replies above 32 KiB, and faults of
// what may have been taken on all the same (`lasts`). Successful replies have room for some MB a
// day; past them a command whose reply must be kept is refused.

import { ParleyError } from '@parley/core/errors.ts';
import type { Tx } from '../../db/database.ts';
import { releaseSavepoint, rollBackToSavepoint, savepoint } from '../../db/idempotency.ts';
import type { Deps } from '../../ports/deps.ts';
import type { Caller } from '../auth.ts';
import { bodyHash } from '../body.ts';
import { fault, type HttpCode, HttpError, refusalOf } from '../errors.ts';
import type { Slot, StoredReply } from './replies.ts';
import { attemptOf, findReply, lockSlot, mostKeptBytes, storeReply } from './replies.ts';
import type { Underway } from './underway.ts';

export type Reply = {
  readonly status: number;
  readonly body: unknown;
  /** The code of a refusal whose effect is kept: an exception is rolled back. */
  readonly code?: HttpCode;
};

/** The input of a command: a request, or what came another way in the shape of one. */
export type Asked = {
  readonly method: string;
  /** Path and query. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly params: unknown;
  readonly query: unknown;
  readonly body: unknown;
  /** The client's address, of a request. */
  readonly ip?: string;
};

export type Answer = StoredReply & { readonly replayed: boolean };

export type Steps<I, Prepared> = {
  readonly parse: () => I;
  readonly before?: ((input: I, attempt: Uint8Array | null) => Promise<Prepared>) | undefined;
  /** The effect. An exception rolls it back; a refusal is stored as the reply. */
  readonly run: (tx: Tx, input: I & { prepared: Prepared }) => Promise<Reply>;
  /** Instead of `run` without an Idempotency-Key: commits by itself, with others' effects. */
  readonly grouped?: (input: I & { prepared: Prepared }) => Promise<Reply>;
  /** Asked before a stored reply is given again; throws where it must not be. */
  readonly replay?: (tx: Tx, input: I & { reply: StoredReply }) => Promise<void>;
  /** Carries a secret, in or out: the stored answers are encrypted. */
  readonly secret?: true;
  /** Where the day has no room left its reply is not kept: a retry has no other effect. */
  readonly anew?: true;
  /** Its `before` takes on what lasts, once: after a fault of ours a retry finds that. */
  readonly lasts?: true;
};

const attempts = 3;
const longestKey = 255;
const neverStored = new Set([401, 429, 503, 504]);

export async function runOnce<I, Prepared>(
  deps: Deps,
  underway: Underway,
  asked: Asked,
  caller: Caller,
  steps: Steps<I, Prepared>,
): Promise<Answer> {
  const slot = slotOf(asked, caller);
  if (slot === null) {
    const input = await prepare(steps, null);
    const reply = await (steps.grouped?.(input) ?? transact(deps, (tx) => steps.run(tx, input)));
    return { ...storedOf(reply), replayed: false };
  }
  if (!underway.enter(slot)) throw stillRunning();
  try {
    return await runInSlot(deps, underway, slot, steps);
  } catch (error) {
    const isFault = refusalOf(error, deps.settings.shortName) === null;
    if (isFault && !steps.lasts) await storeFault(deps, slot, steps.secret);
    throw error;
  } finally {
    underway.leave(slot);
  }
}

async function runInSlot<I, Prepared>(
  deps: Deps,
  underway: Underway,
  slot: Slot,
  steps: Steps<I, Prepared>,
): Promise<Answer> {
  if (steps.before !== undefined) {
    const early = await stored(deps, deps.db, slot, steps);
    if (early !== null) return early;
    if (!(await underway.announce(slot))) throw stillRunning();
  }
  const ready = await prepare(steps, attemptOf(slot)).then(
    (input) => ({ input }),
    (error: unknown) => ({ refused: storable(error, deps) }),
  );
  return transact(deps, async (tx) => {
    if (!(await lockSlot(tx, slot))) throw stillRunning();
    const earlier = await stored(deps, tx, slot, steps);
    if (earlier !== null) return earlier;
    const result =
      'refused' in ready
        ? ready.refused
        : await tryEffect(deps, tx, () => steps.run(tx, ready.input));
    const kept = await storeReply(deps, tx, slot, result, steps.secret);
    if (!kept && !steps.anew) throw noRoom(deps);
    return { ...result, replayed: false };
  });
}

/**
 * Stores that the request ended in a fault of ours, unless it has an answer. In a transaction of
 * its own, whatever the one of the effect ended with; where it cannot be stored, a retry may run.
 */
async function storeFault(deps: Deps, slot: Slot, secret?: true): Promise<void> {
  const { status, code, sentence } = fault();
  const reply = { status, body: { error: sentence }, code };
  const store = async (tx: Tx) => {
    if (!(await lockSlot(tx, slot)) || (await findReply(deps, tx, slot)) !== null) return;
    await storeReply(deps, tx, slot, reply, secret);
  };
  await transact(deps, store).catch(() => {});
}

/** The effect, or the refusal that it met with nothing of it left. */
async function tryEffect(deps: Deps, tx: Tx, run: () => Promise<Reply>): Promise<StoredReply> {
  await savepoint(tx);
  try {
    const reply = await run();
    await releaseSavepoint(tx);
    return storedOf(reply);
  } catch (error) {
    const refused = storable(error, deps);
    await rollBackToSavepoint(tx);
    return refused;
  }
}

function storedOf({ status, body, code }: Reply): StoredReply {
  return { status, body, code: code ?? null };
}

/** The refusal to store for what was thrown; other exceptions are thrown on. */
function storable(error: unknown, deps: Deps): StoredReply {
  const refusal = refusalOf(error, deps.settings.shortName);
  if (refusal === null || neverStored.has(refusal.status)) throw error;
  return { status: refusal.status, body: { error: refusal.sentence }, code: refusal.code };
}

async function stored<I, Prepared>(
  deps: Deps,
  tx: Tx,
  slot: Slot,
  { replay, parse }: Steps<I, Prepared>,
): Promise<Answer | null> {
  const found = await findReply(deps, tx, slot);
  if (found === null) return null;
  if (found === 'differs') {
    const sentence = 'this Idempotency-Key was used with another body; use a new key';
    throw new HttpError('key_reused', sentence);
  }
  if ('sealed' in found) throw unreadable(found.status);
  if (found.status < 400) await replay?.(tx, { ...parse(), reply: found });
  return { ...found, replayed: true };
}

async function prepare<I, Prepared>(
  { parse, before }: Steps<I, Prepared>,
  attempt: Uint8Array | null,
): Promise<I & { prepared: Prepared }> {
  const input = parse();
  try {
    return { ...input, prepared: (await before?.(input, attempt)) as Prepared };
  } catch (error) {
    const { name } = error as Error;
    if (name !== 'TimeoutError' && name !== 'AbortError') throw error;
    const sentence = 'the chain did not answer in time; the market changed nothing';
    throw new ParleyError('chain_timeout', sentence, {}, { cause: error });
  }
}

// 40001 and 40P01 are the database asking for another try: this try left no row.
async function transact<R>(deps: Deps, work: (tx: Tx) => Promise<R>): Promise<R> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await deps.db.transaction(work);
    } catch (error) {
      const { code } = error as { code?: string };
      if (attempt === attempts || (code !== '40001' && code !== '40P01')) throw error;
    }
  }
}

function slotOf({ headers, method, url, body }: Asked, { accountId }: Caller): Slot | null {
  const key = headers['idempotency-key'];
  if (key === undefined) return null;
  if (typeof key !== 'string' || key === '' || key.length > longestKey) {
    throw new HttpError('bad_header', `Idempotency-Key must be 1 to ${longestKey} characters`);
  }
  return { accountId, method, path: url, key, bodyHash: bodyHash(body) };
}

/** The command does not run again: the effect of the first request stands. */
function unreadable(status: number): HttpError {
  const sentence =
    `the first request with this Idempotency-Key was answered with status ${status}; that reply` +
    ' is encrypted with a key that the server no longer holds, and nothing was run again';
  return new HttpError('reply_sealed', sentence);
}

function stillRunning(): HttpError {
  const sentence = 'a request with this Idempotency-Key is still running; ask again later';
  return new HttpError('still_running', sentence, { 'retry-after': '1' });
}

const dayMs = 86_400_000;

function noRoom({ settings, now }: Deps): HttpError {
  const megabytes = Math.floor(mostKeptBytes(settings) / 1_000_000);
  const seconds = Math.ceil((dayMs - (now() % dayMs)) / 1_000);
  const sentence =
    `replies under Idempotency-Keys of this account have taken ${megabytes} MB of this day` +
    ` (UTC); the market did nothing; ask without the header, or with it in ${seconds} s`;
  return new HttpError('kept_replies_full', sentence, { 'retry-after': String(seconds) });
}
