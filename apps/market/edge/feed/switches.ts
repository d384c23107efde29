// Cancel on disconnect in one process: which of its sockets asked for it, the beat that tells the
// others that this process is there, and its turn at withdrawing what is due.

import { randomUUID } from 'node:crypto';
import { beat, beginGrace, endSwitch } from '../../db/feed-switches.ts';
import { arm, beatMs, lostMs, withdrawDue } from '../../market/cancel-on-disconnect.ts';
import type { Deps } from '../../ports/deps.ts';
import { type Next, service, services } from '../../ports/service.ts';
import { closeCodes, type Peer } from './peer.ts';

/** Passes that are further apart were no watch. */
const steadyMs = 2 * beatMs;
/** Between two looks at what is due and could not be withdrawn. */
const leastMs = 100;

/** A socket of an account. */
type Socket = {
  readonly accountId: string;
  readonly peer: Pick<Peer, 'isOpen' | 'end'>;
  say(frame: object): void;
};

type Own = { readonly id: string; readonly graceSeconds: number };

export type Switches = {
  /** From now on; null = no more. Done when it is stored, and the socket was told so. */
  set(socket: Socket, graceSeconds: number | null): Promise<void>;
  /** How long a socket may be silent, in seconds; null = it did not ask. */
  graceOf(socket: Socket): number | null;
  /** It has closed; it was last heard so many milliseconds ago. */
  leave(socket: Socket, silentMs: number): void;
  start(): void;
  stop(): Promise<void>;
};

export function createSwitches(
  deps: Pick<Deps, 'db' | 'now' | 'log' | 'metrics' | 'randomBytes' | 'settings'>,
): Switches {
  const { db, log } = deps;
  const processId = randomUUID();
  const sockets = new Map<Socket, Own>();
  /** Not those that are being stored, which a beat would not find. */
  const stored = new Map<string, Socket>();
  const turns = new WeakMap<Socket, Promise<void>>();
  /** A connection that is not there any more may be stored still. */
  let mayBeStored = false;
  let steadySince = performance.now();
  let passedAt = Number.NEGATIVE_INFINITY;

  const beatOnce = async () => {
    if (sockets.size === 0 && !mayBeStored) return;
    mayBeStored = sockets.size > 0;
    const asked = [...stored];
    const ids = [...sockets.values()].map(({ id }) => id);
    try {
      const standing = new Set(await beat(db, processId, ids));
      for (const [id, socket] of asked) {
        if (standing.has(id) || stored.get(id) !== socket) continue;
        const sentence = 'this connection was taken for lost and your quotes were withdrawn';
        socket.peer.end(closeCodes.restart, `${sentence}: connect again`);
      }
    } catch (error) {
      mayBeStored = true;
      throw error;
    }
  };

  const pass = async (): Promise<Next> => {
    const at = performance.now();
    if (at - passedAt > steadyMs) steadySince = at;
    // A process that could not reach the database a moment ago cannot say that others are dead.
    const next = await withdrawDue(deps, at - steadySince >= lostMs);
    passedAt = performance.now();
    return next === null ? undefined : Math.min(Math.max(next, leastMs), beatMs);
  };
  const failureMs = { least: 250, most: beatMs };
  const wokenBy = ['feed switches'] as const;
  const name = 'cancel on disconnect';
  const watching = service(deps, { name, pass, failureMs, wokenBy });
  // By itself: withdrawing may take long, and makers of this process are not to count as lost.
  const beating = service(deps, {
    name: 'beat of makers',
    failureMs,
    wokenBy,
    pass: async () => {
      await beatOnce();
      return mayBeStored ? beatMs : undefined;
    },
  });
  const both = services([beating, watching]);

  const begin = async (socket: Socket, graceSeconds: number): Promise<void> => {
    const { accountId } = socket;
    const own = { id: sockets.get(socket)?.id ?? randomUUID(), graceSeconds };
    // Before it is stored: a beat takes what is stored and not here for gone.
    sockets.set(socket, own);
    mayBeStored = true;
    await arm(deps, { ...own, accountId, processId });
    if (sockets.has(socket)) stored.set(own.id, socket);
    // Closed meanwhile, when there was nothing to say so of.
    else await beginGrace(db, own.id, 0);
  };

  const end = async (socket: Socket): Promise<void> => {
    const { id } = sockets.get(socket) ?? { id: randomUUID() };
    const wasStored = stored.delete(id);
    try {
      await endSwitch(db, socket.accountId, id);
    } catch (error) {
      if (wasStored) stored.set(id, socket);
      throw error;
    }
    sockets.delete(socket);
  };

  const set: Switches['set'] = async (socket, graceSeconds) => {
    const change = async () => {
      if (!socket.peer.isOpen()) return;
      await (graceSeconds === null ? end(socket) : begin(socket, graceSeconds));
      socket.say({ type: 'cancelOnDisconnect', seconds: graceSeconds });
    };
    // One after the other, whatever became of the one before.
    const own = (turns.get(socket) ?? Promise.resolve()).then(change, change);
    turns.set(socket, own);
    await own;
  };

  return {
    set,
    graceOf: (socket) => sockets.get(socket)?.graceSeconds ?? null,
    leave: (socket, silentMs) => {
      const own = sockets.get(socket);
      if (own === undefined) return;
      sockets.delete(socket);
      stored.delete(own.id);
      beginGrace(db, own.id, Math.round(silentMs)).then(watching.ring, (error: unknown) =>
        log.debug({ err: error }, 'the next beat says that a maker is gone'),
      );
    },
    start: both.start,
    stop: async () => {
      await both.stop();
      sockets.clear();
      stored.clear();
      await beatOnce().catch((error: unknown) =>
        log.warn({ err: error }, 'makers that are gone are noticed by another process'),
      );
    },
  };
}
