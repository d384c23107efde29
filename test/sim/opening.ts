// How processes of the market start, and which of their commits are late.

import { isPublic } from './deals.ts';
import { simTime } from './gas.ts';
import { noteSent } from './keeper.ts';
import { checkSent, checkSigned } from './keeper-oracle.ts';
import { overtake } from './negotiate.ts';
import { startProcess } from './process.ts';
import { nameOf, noteActivity, poll, pollAll } from './servers.ts';
import type { Server, World } from './state.ts';
import { noteClosed } from './stored.ts';
import { count, planKeep, stirAll, stirKeeper, tell } from './world.ts';

export function newServer(name: string): Server {
  const none = () => new Set<string>();
  const sets = { planned: none(), unsure: none(), polling: none() };
  const server: Server = {
    ...{ name, process: null, ...sets, timePolledAt: 0, dooms: [] },
    reopen: (world) => reopen(world, server),
  };
  return server;
}

async function reopen(world: World, server: Server): Promise<void> {
  await openServer(world, server);
  tell(world, `${nameOf(world, server)} is started again`);
  await pollAll(world);
  stirAll(world);
  stirKeeper(world);
}

const kinds = {
  crash: { name: 'crash', does: 'dies' },
  cut: { name: 'connection lost', does: 'loses a connection' },
  wait: { name: 'overtaken', does: 'is overtaken' },
} as const;

/** Whether it is the commit that the drill wants late. */
function lateOf(world: World, wrote: ReadonlySet<string>): string | null {
  const { drill } = world;
  if (drill?.lateAgreement && wrote.has('swap_insert')) return 'the first agreement';
  const tells = wrote.has('swap_update') && wrote.has('outbox_insert');
  const [deal] = world.deals;
  if (!drill?.lateReveal || !tells || deal === undefined) return null;
  return isPublic(world, deal) ? 'what tells the secret' : null;
}

/** Commits that are late, and how late: some others are served before. */
function holdBack(world: World, wrote: ReadonlySet<string>): number {
  const { chance, rushes, ending } = world;
  const late = world.wasLate ? null : lateOf(world, wrote);
  if (late !== null) {
    world.wasLate = true;
    world.alone = false;
    count(world, 'commit late');
    tell(world, `${late} commits late`);
    world.beside.push(overtake(world));
    // It goes on when nobody else wants to be served.
    return Number.POSITIVE_INFINITY;
  }
  if (!rushes || ending || !chance.hits(0.05)) return 0;
  count(world, 'commit late');
  world.alone = false;
  // Whoever polls meanwhile must not take what is missing for what never comes.
  if (chance.hits(0.4)) {
    const server = chance.pick(world.servers);
    for (const { chain } of world.nodes) world.beside.push(poll(world, server, chain.chain));
  }
  return chance.int(2, 40);
}

export async function openServer(world: World, server: Server): Promise<void> {
  const { real, settings, metrics, nodes, chance, line, keeper } = world;
  const gas = keeper?.on.has(server.name) ? keeper : null;
  for (const { chain } of nodes) server.unsure.add(chain.chain);
  const now = () => world.nowMs;
  const process = startProcess({
    ...{ real, settings, metrics, nodes, line, now },
    chanceFor: () => chance.fork(),
    gas: gas && {
      posts: gas.posts.values(),
      chance: gas.chance.fork(),
      onSigned: (chain, tx) => checkSigned(world, chain, tx),
      onWake: (chain) => planKeep(world, chain, 1),
      time: simTime(() => line.take().then((turn) => turn.end()), now),
    },
    dooms: server.dooms,
    send: () => (sending) => world.receiver.take(sending),
    onDoom: (kind, where) => {
      count(world, kinds[kind].name);
      tell(world, `${nameOf(world, server)} ${kinds[kind].does} ${where}`);
    },
    holdsBack: (wrote) => holdBack(world, wrote),
    onStored: (statement) => noteClosed(world, statement),
    onSent: (chain, txid, wasShown) => {
      noteActivity(world, chain);
      const tx = noteSent(world, chain, txid);
      if (tx !== null) checkSent(world, { txid, tx, wasShown });
    },
    count: (fault) => count(world, fault),
  });
  // Its making takes turns of the event loop, whose number a seed does not decide.
  await process.app();
  server.process = process;
}
