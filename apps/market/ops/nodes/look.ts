// A look at the nodes of a chain: each by itself, side by side, and then whether they agree.

import { inTime } from '../../doctor/parts.ts';
import {
  type Answered,
  lacksContract,
  placeOf,
  questionsTo,
  urlsOf,
  wrongClock,
  wrongNode,
  wrongTogether,
} from '../../ports/node-questions.ts';
import type { ChainSettings } from '../../settings/chains.ts';
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
  const answered: Answered[] = [];
  await Promise.all(
    sources.map(async (source, at) => {
      const place = placeOf(source.chain, at, sources.length);
      const where = `${place} (${hostsOf(source)})`;
      const seconds = () => Math.floor(now() / 1_000);
      const node: Node = { source, where, isServed, callMs, now: seconds, hide };
      const own: Check[] = [];
      const noteOwn = (check: Check) => void (isAlone ? note(check) : own.push(check));
      const its = await lookAtNode(node, { withLoad, signal }, noteOwn);
      if (its !== null) answered.push(its);
      own.forEach(note);
    }),
  );
  const [source] = sources;
  if (source !== undefined && answered.length > 1) {
    await agree({ callMs, signal }, source, answered, note);
  }
  return all;
}

async function lookAtNode(
  node: Node,
  { withLoad, signal }: Pick<LookOptions, 'withLoad' | 'signal'>,
  note: (check: Check) => void,
): Promise<Answered | null> {
  const { methods, properties, load } = lookOf(node);
  const answered = await askFirst(node, signal, note);
  if (answered === null) return null;
  for (const [what, each] of Object.entries({ ...methods, ...properties })) {
    note(await probe(node, what, each, signal));
  }
  if (withLoad) note(await loadOf(node, load, signal));
  return answered;
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

/** The questions of the start and the doctor: after one that a node fails nothing else is asked. */
async function askFirst(
  node: Node,
  signal: AbortSignal,
  note: (check: Check) => void,
): Promise<Answered | null> {
  const { source, callMs, where, now, isServed } = node;
  const questions = questionsTo(source, callMs, now);
  // Each takes several calls.
  const mostMs = 3 * callMs;
  const identity: Probe = {
    without: 'the market does not start, and nothing else was asked',
    mostMs,
    ask: async (until) => {
      const fault = await questions.fault(until);
      if (fault === null) return 'as the settings name them';
      const says = `it ${fault}`;
      if (isServed || !lacksContract(fault)) {
        return { says, verdict: 'lacks', todo: wrongNode(where, fault).todo };
      }
      const todo = 'deploy it before the market starts (docs/deploy.md)';
      return { says, verdict: 'weak', todo };
    },
  };
  const known = await probe(node, 'chain and contract', identity, signal);
  note(known);
  if (known.verdict === 'lacks' || known.verdict === 'unseen') return null;
  let answered: Answered | null = null;
  const head: Probe = {
    without: 'nothing is followed, and nothing else was asked',
    mostMs,
    ask: async (until) => {
      const heads = await questions.head(until);
      answered = { where, heads, questions };
      const wrong = wrongClock(heads, source.family, { now, where });
      if (wrong !== null) {
        const { says, todo, facts } = wrong;
        return { says, verdict: 'lacks', todo, facts };
      }
      const ahead = heads.clock - now();
      const how = ahead > 0 ? 'ahead of' : 'behind';
      const says = `block ${heads.height}, its clock ${Math.abs(ahead)} s ${how} ours`;
      return { says, facts: { height: heads.height, ahead } };
    },
  };
  note(await probe(node, 'head and clock', head, signal));
  return answered;
}

/** As the doctor compares them. */
async function agree(
  { callMs, signal }: Pick<LookOptions, 'callMs' | 'signal'>,
  source: ChainSettings,
  nodes: readonly Answered[],
  note: (check: Check) => void,
): Promise<void> {
  const began = performance.now();
  const bounded = <T>(ask: (until: AbortSignal) => Promise<T>) =>
    inTime(callMs, signal, ask).catch(() => null);
  const found = await wrongTogether(source, nodes, bounded);
  const ms = Math.round(performance.now() - began);
  for (const { where, says, todo, facts } of found) {
    note({ node: where, what: 'agreement', verdict: 'lacks', says, todo, ms, facts });
  }
  if (found.length > 0) return;
  const node = `chain ${source.chain}`;
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
