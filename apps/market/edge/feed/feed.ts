// The maker feed (`/v1/ws`) of one process: its sockets, what they get, and their ends.

import type { FastifyInstance } from 'fastify';
import type { WebSocket } from 'ws';
import type { Deps } from '../../ports/deps.ts';
import { clientNetwork, socketNetwork } from '../budgets.ts';
import { createShares } from '../shares.ts';
import { createFeedEvents } from './events.ts';
import { type Following, followFeed } from './follow.ts';
import { createHub } from './hub.ts';
import { type From, type Inbox, openInbox } from './inbox.ts';
import { type Commands, endKey, type Feed } from './maker.ts';
import { closeCodes, closeInWaves, createPeer, type Peer } from './peer.ts';
import { createSnapshots } from './snapshot.ts';
import { createSwitches, type Switches } from './switches.ts';
import { limitUnfinished, type Unfinished } from './unfinished.ts';
import { acceptSockets } from './upgrade.ts';

/** The limit of a process, some 20 KB each. */
const mostSockets = 20_000;
const tickMs = 1_000;
/** A peer that answers no ping for as long again is gone. */
const pingMs = 30_000;
/**
 * The part of its grace, in milliseconds a second, between pings to one whose quotes hang on it.
 */
const graceShareMs = 300;

type Open = {
  readonly ws: WebSocket;
  readonly peer: Peer;
  readonly inbox: Inbox;
  readonly unfinished: Unfinished;
  /** Something came since the last ping. */
  alive: boolean;
  nextPingAt: number;
  pingedAt: number;
  heardAt: number;
  /** The silence of one that was dropped: since it was last heard. */
  silentMs: number;
};

export function registerFeed(app: FastifyInstance, deps: Deps, commands: Commands): void {
  const hub = createHub();
  const { keys, budgets, uses } = app.edge;
  const open = new Set<Open>();
  let closing = false;
  let following: Following | null = null;
  const snapshots = createSnapshots(deps, hub);
  const events = createFeedEvents(deps);
  const switches = createSwitches(deps);
  const shared = { deps, hub, keys, budgets, uses, snapshots, commands, events, switches };
  const { promise: listening, resolve: listens } = Promise.withResolvers<void>();
  const known = async () => {
    await listening;
    await following?.known();
  };
  const feed: Feed = { ...shared, known, isClosing: () => closing };
  const forgetKeys = keys.onForgotten((accountId) => {
    for (const each of hub.of(accountId)) each.check();
  });
  const counts = createShares();
  const { feedSocketsPerIp, feedSocketsPerNetwork } = deps.settings;
  const sharesOf = (client: string) => {
    const network = clientNetwork(client, socketNetwork);
    return [
      { name: clientNetwork(client), most: feedSocketsPerIp, what: 'address' },
      { name: `in ${network}`, most: feedSocketsPerNetwork, what: `network (${network})` },
    ];
  };

  acceptSockets(app, deps.settings, (ws, socket, from) => {
    const { over, release } = counts.take(sharesOf(from.client));
    ws.on('error', () => {}); // Said by the close that comes with it.
    ws.on('close', release);
    const peer = createPeer(ws, socket, (code) => deps.metrics.feedEnded.inc({ code }));
    const unfinished = limitUnfinished(ws, socket, peer);
    if (over !== null) {
      const { most, what } = over;
      peer.end(closeCodes.tooMany, `${most} sockets of this ${what} are open, the most there may`);
    } else if (open.size >= mostSockets) {
      peer.end(closeCodes.tooMany, `${mostSockets} sockets are open, the most that are served`);
    } else if (closing) {
      peer.end(closeCodes.restart, 'the server is shutting down');
    } else {
      serve(feed, open, { ws, peer, unfinished, from });
      following?.woken();
    }
  });

  const tick = createTick(deps, open, switches);
  let ticking: NodeJS.Timeout | undefined;
  app.addHook('onListen', async () => {
    following = followFeed(deps, {
      hub,
      isWanted: () => open.size > 0,
      reset: () => void closeInWaves(new Set(open)),
    });
    listens();
    events.start();
    switches.start();
    ticking = setInterval(tick, tickMs);
    ticking.unref();
  });
  app.addHook('preClose', async () => {
    closing = true;
    listens();
    clearInterval(ticking);
    forgetKeys();
    await closeInWaves(open);
    await following?.stop();
    await events.stop();
    await switches.stop();
  });
}

function serve(
  feed: Feed,
  open: Set<Open>,
  { from, ...socket }: Pick<Open, 'ws' | 'peer' | 'unfinished'> & { readonly from: From },
): void {
  const { feedMakers } = feed.deps.metrics;
  const { ws, peer } = socket;
  const inbox = openInbox(feed, ws, peer, from);
  const nextPingAt = performance.now() + pingMs * (0.5 + Math.random() / 2);
  const now = performance.now();
  const heard = { alive: true, pingedAt: now, heardAt: now, silentMs: 0 };
  const each: Open = { ...socket, inbox, nextPingAt, ...heard };
  open.add(each);
  const isAlive = () => {
    each.alive = true;
    each.heardAt = performance.now();
  };
  ws.on('pong', isAlive);
  ws.on('message', isAlive);
  ws.on('ping', peer.pong);
  ws.on('close', () => {
    open.delete(each);
    const maker = inbox.maker();
    if (maker !== null) {
      feed.hub.leave(maker);
      feed.events.leave(maker);
      feed.switches.leave(maker, each.silentMs);
    }
    feedMakers.set(open.size);
  });
  feedMakers.set(open.size);
}

/** Finds who is gone, and whose key has expired. */
function createTick(deps: Deps, open: ReadonlySet<Open>, switches: Switches): () => void {
  return () => {
    const at = performance.now();
    const nowMs = deps.now();
    for (const each of open) {
      const { ws, peer, inbox, unfinished } = each;
      unfinished.look();
      const maker = inbox.maker();
      if (maker !== null && maker.expiresAtMs <= nowMs) endKey(maker);
      // The silence of a maker whose quotes hang on it is noticed within its grace.
      const grace = maker === null ? null : switches.graceOf(maker);
      const everyMs = grace === null ? pingMs : Math.min(pingMs, grace * graceShareMs);
      if (at < Math.min(each.nextPingAt, each.pingedAt + everyMs)) continue;
      if (!each.alive) {
        each.silentMs = at - each.heardAt;
        peer.drop();
        continue;
      }
      each.alive = false;
      each.pingedAt = at;
      each.nextPingAt = at + pingMs;
      if (peer.isOpen()) ws.ping();
    }
  };
}
