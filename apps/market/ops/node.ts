// `ops node`: whether a node will do. Every method that our adapter calls is tried, and what a node
// must be and keep. It sends no transaction, changes nothing, and shows no secret of an address.

import { resolve } from 'node:path';
import { Misused, onOneLine } from '@parley/host/command.ts';
import { readSettings } from '../settings/config.ts';
import { findChains } from './doctor.ts';
import { lookAtNodes } from './nodes/look.ts';
import { meantBy } from './nodes/meant.ts';
import type { Check } from './nodes/probes.ts';
import { print } from './operator.ts';

/** Seconds for a call, and for all of it. */
type Asked = {
  readonly kind: 'core' | 'esplora';
  readonly load: boolean;
  readonly call: number;
  readonly time: number;
};

/** The node of the settings, or of the dev network of a market that runs; no node where none is
 * asked for. */
async function servedFor(chain: string) {
  if (chain.includes(':')) return { chains: [], offsetMs: 0 };
  const settings = readSettings(process.env);
  const found = await findChains({ ...settings, home: resolve(settings.home) });
  if ('severity' in found) throw new Misused(`${found.says}: ${found.todo}`);
  return found;
}

export async function node(
  json: boolean,
  chain: string,
  nodes: readonly string[],
  { kind, load: withLoad, call, time }: Asked,
): Promise<number> {
  const { chains, offsetMs } = await servedFor(chain);
  const meant = meantBy(chain, nodes, chains, kind);
  const signal = AbortSignal.timeout(1_000 * time);
  const now = () => Date.now() + offsetMs;
  const tell = (each: Check) => print(json ? JSON.stringify(each) : lineOf(each));
  const all = await lookAtNodes(meant, { callMs: 1_000 * call, withLoad, now, signal }, tell);
  const count = (of: Check['verdict']) => all.filter(({ verdict }) => verdict === of).length;
  const counts = {
    fits: count('fits'),
    weak: count('weak'),
    unseen: count('unseen'),
    lacks: count('lacks'),
  };
  const isCut = signal.aborted;
  print(
    json
      ? JSON.stringify({ nodes: meant.sources.length, ...counts, isCut })
      : lastLine(counts, isCut),
  );
  return counts.lacks > 0 || isCut ? 1 : 0;
}

function lineOf({ node, what, verdict, says, todo, ms }: Check): string {
  const line = `${verdict.padEnd(6)} ${onOneLine(node)}: ${what}: ${says} (${ms} ms)`;
  return verdict === 'fits' || todo === null ? line : `${line}\n       → ${onOneLine(todo)}`;
}

function lastLine(
  { fits, weak, unseen, lacks }: Readonly<Record<Check['verdict'], number>>,
  isCut: boolean,
): string {
  const counts = `fits ${fits}, weak ${weak}, unseen ${unseen}, lacks ${lacks}`;
  if (isCut) return `not known: the time was over; ${counts}`;
  return lacks === 0 ? `it will do: ${counts}` : `it will not do: ${counts}`;
}
