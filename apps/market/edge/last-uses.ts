// When and from where keys and sessions were used last, for their person to see, and for sessions
// to end when nobody uses them. Kept in memory and written now and then: no request waits for it,
// and what a crash loses is half a minute of it.

import type { Tx } from '../db/database.ts';
import { type KeyUse, noteKeyUses } from '../db/keys.ts';
import { noteSessionUses, type SessionUse } from '../db/sessions.ts';
import type { Deps } from '../ports/deps.ts';
import type { Caller } from './auth.ts';
import { clientNetwork } from './budgets.ts';

/** Last uses of keys and sessions are noted in memory, and written this often. */
const writeEveryMs = 30_000;
/** Keys and sessions between two writes: further ones are noted after the next one. */
const mostHeld = 20_000;
/** Rows a statement. */
const batch = 500;
/** A database that is gone does not hold up a stop. */
const mostStopMs = 2_000;

export type LastUses = {
  note(caller: Pick<Caller, 'by' | 'keyId'>, client: string): void;
  /** Writes what was noted since; uses that cannot be written are let go. */
  write(): Promise<void>;
  /** The last of it. */
  close(): Promise<void>;
};

type Use = { readonly by: Caller['by']; client: string; atMs: number };
type Needs = Pick<Deps, 'db' | 'now' | 'log' | 'settings'>;

export function createLastUses(deps: Needs): LastUses {
  let held = new Map<string, Use>();
  let writing = Promise.resolve();

  async function writeAll(): Promise<void> {
    const noted = held;
    held = new Map();
    await writeUses(deps, noted).catch((error: unknown) => {
      deps.log.warn({ err: error }, 'last uses of keys and sessions were not written');
    });
  }

  const write = () => {
    writing = writing.then(writeAll);
    return writing;
  };
  const timer = setInterval(() => void write(), writeEveryMs);
  timer.unref();
  return {
    note({ by, keyId }, client) {
      const last = held.get(keyId);
      const atMs = deps.now();
      if (last !== undefined) {
        last.client = client;
        last.atMs = atMs;
      } else if (held.size < mostHeld) held.set(keyId, { by, client, atMs });
    },
    write,
    close: () => {
      clearInterval(timer);
      if (held.size === 0) return writing;
      const late = new Promise<void>((resolve) => setTimeout(resolve, mostStopMs).unref());
      return Promise.race([write(), late]);
    },
  };
}

async function writeUses({ db, settings }: Needs, noted: ReadonlyMap<string, Use>): Promise<void> {
  const keys: KeyUse[] = [];
  const sessions: SessionUse[] = [];
  for (const [id, { by, client, atMs }] of noted) {
    const at = new Date(atMs);
    if (by === 'session') sessions.push({ id, at });
    else {
      const network = clientNetwork(client, settings.clientPrefixes);
      keys.push({ id, on: at.toISOString().slice(0, 10), network });
    }
  }
  await writeRows(db, keys, noteKeyUses);
  await writeRows(db, sessions, noteSessionUses);
}

async function writeRows<Row>(
  tx: Tx,
  rows: readonly Row[],
  write: (tx: Tx, rows: readonly Row[]) => Promise<void>,
): Promise<void> {
  for (let at = 0; at < rows.length; at += batch) await write(tx, rows.slice(at, at + batch));
}
