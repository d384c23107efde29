// A look at the nodes of a chain: each by itself, side by side, and then whether they agree.

import type { Heads } from '../../../chains/interface/reading.ts';
import type { Finding } from '../../../server/doctor/findings.ts';
import {
  compareClock,
  compareNodes,
  placeOf,
  silentLog,
  urlsOf,
} from '../../../server/doctor/nodes.ts';
import { openOne } from '../../../server/ports/chains.ts';
import type { ChainSettings } from '../../../server/settings/chains.ts';
import { lookAtCore } from './core.ts';
import { lookAtEsplora } from './esplora.ts';
import { lookAtEvm } from './evm.ts';
import { loadOf } from './load.ts';
import type { Meant } from './meant.ts';
import { type Check, type Look, type Node, type Probe, probe } from './probes.ts';
import { lookAtSolana } from './solana.ts';
import { lookAtTron } from './tron.ts';

export type LookOptions = {
  readonly callMs: number;
  readonly withLoad: boolean;
  readonly now: () => number;
  readonly signal: AbortSignal;
};

/** Tells each check as it is known, of several nodes when one is done. Returns all of them. */
export async function lookAtNodes(
  { sources, isServed }: Meant,
  { callMs, withLoad, now, signal }: LookOptions,
  tell: (check: Check) => void,
): Promise<readonly Check[]> {
  const all: Check[] = [];
  const isAlone = sources.length === 1;
  const note = (check: Check) => {
    all.push(check);
    tell(check);
  };
  const hide = hiding(sources.flatMap(urlsOf));
  const answered: { source: ChainSettings; where: string; heads: Heads }[] = [];
  await Promise.all(
    sources.map(async (source, at) => {
      const place = placeOf(source.chain, at, sources.length);
      const where = `${place} (${hostsOf(source)})`;
      const seconds = () => Math.floor(now() / 1_000);
      const node: Node = { source, where, isServed, callMs, now: seconds, hide };
      const own: Check[] = [];
      const noteOwn = (check: Check) => void (isAlone ? note(check) : own.push(check));
      const heads = await lookAtNode(node, { withLoad, now, signal }, noteOwn);
      if (heads !== null) answered.push({ source, where, heads });
      own.forEach(note);
    }),
  );
  if (answered.length > 1) await agree({ callMs, now, signal }, answered, note);
  return all;
}

async function lookAtNode(
  node: Node,
  { withLoad, now, signal }: Omit<LookOptions, 'callMs'>,
  note: (check: Check) => void,
): Promise<Heads | null> {
  const { methods, properties, load, heads: bare } = lookOf(node);
  const heads = await headsOf(node, node.isServed ? null : bare, { now, signal }, note);
  if (heads === null) return null;
  for (const [what, each] of Object.entries({ ...methods, ...properties })) {
    note(await probe(node, what, each, signal));
  }
  if (withLoad) note(await loadOf(node, load, signal));
  return heads;
}

export function lookOf(node: Node): Look {
  const { source } = node;
  switch (source.family) {
    case 'bitcoin':
      return source.rpcUrl === undefined ? lookAtEsplora(node) : lookAtCore(node);
    case 'evm':
      return lookAtEvm(node);
    case 'tron':
      return lookAtTron(node);
    case 'solana':
      return lookAtSolana(node);
  }
}

/**
 * The first questions: a silent node is asked nothing else. An adapter refuses a node without its
 * contract, so where there may be none yet, the head is read by `bare`.
 */
async function headsOf(
  node: Node,
  bare: Look['heads'],
  { now, signal }: Pick<LookOptions, 'now' | 'signal'>,
  note: (check: Check) => void,
): Promise<Heads | null> {
  const { source, callMs, where } = node;
  const { adapter } = openOne(source, { chainTimeoutMs: callMs }, { now, log: silentLog });
  let heads: Heads | null = null;
  const head: Probe = {
    without: 'nothing is followed, and nothing else was asked',
    // An adapter asks twice.
    mostMs: 3 * callMs,
    ask: async (until) => {
      heads = await (bare ?? adapter.heads)(until);
      const found: Finding[] = [];
      compareClock(heads, source.family, { now, where, add: (each) => void found.push(each) });
      const [wrong] = found;
      if (wrong !== undefined)
        return { says: wrong.says, verdict: 'lacks', todo: wrong.todo, facts: wrong.facts };
      const ahead = heads.clock - Math.floor(now() / 1_000);
      const how = ahead > 0 ? 'ahead of' : 'behind';
      const says = `block ${heads.height}, its clock ${Math.abs(ahead)} s ${how} ours`;
      return { says, facts: { height: heads.height, ahead } };
    },
  };
  try {
    note(await probe(node, 'head and clock', head, signal));
  } finally {
    await adapter.close();
  }
  return heads;
}

/** As the doctor compares them. */
async function agree(
  { callMs, now, signal }: Pick<LookOptions, 'callMs' | 'now' | 'signal'>,
  nodes: readonly {
    readonly source: ChainSettings;
    readonly where: string;
    readonly heads: Heads;
  }[],
  note: (check: Check) => void,
): Promise<void> {
  const [{ source } = { source: null }] = nodes;
  if (source === null) return;
  const began = performance.now();
  const found: Finding[] = [];
  await compareNodes({ now, callMs }, source, nodes, (each) => void found.push(each), signal);
  const ms = Math.round(performance.now() - began);
  const node = `chain ${source.chain}`;
  for (const { where, says, todo, facts } of found) {
    note({ node: where, what: 'agreement', verdict: 'lacks', says, todo, ms, facts });
  }
  if (found.length > 0) return;
  const says = `${nodes.length} nodes show the same block`;
  note({ node, what: 'agreement', verdict: 'fits', says, todo: null, ms, facts: {} });
}

const hostsOf = (source: ChainSettings) =>
  [...new Set(urlsOf(source).map((url) => new URL(url).host))].join(', ');

/** Shorter pieces of a path are words such as v2 or jsonrpc, shorter names and passwords any. */
const leastPiece = 8;
const leastName = 4;

/** Takes users, passwords, long pieces of paths and of queries out of whatever a node says. */
export function hiding(urls: readonly string[]): (text: string) => string {
  const secrets = urls.flatMap((each) => {
    const { username, password, pathname, searchParams } = new URL(each);
    const pieces = [...pathname.split('/'), ...searchParams.values()];
    const names = [username, password];
    return [
      ...pieces.filter(({ length }) => length >= leastPiece),
      ...names.filter(({ length }) => length >= leastName),
    ].flatMap((piece) => [piece, decoded(piece)]);
  });
  const all = [...new Set(secrets)];
  all.sort((one, other) => other.length - one.length);
  return (text) => all.reduce((said, secret) => said.replaceAll(secret, '…'), text);
}

function decoded(piece: string): string {
  try {
    return decodeURIComponent(piece);
  } catch {
    // A key may have a % of its own.
    return piece;
  }
}
