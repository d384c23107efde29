// The market polls every node of every chain, as the doctor does, also one that is not needed while
// another one answers: a second source that is silent or shows other blocks is found before a
// customer waits for it. Only where metrics are served.

import type { Finding } from '../doctor/findings.ts';
import { examineNodes } from '../doctor/nodes.ts';
import { createParts } from '../doctor/parts.ts';
import type { Deps } from '../ports/deps.ts';
import { placeOf, sourcesOf } from '../ports/node-questions.ts';
import { longestNodePassMs, type Service, service } from '../ports/service.ts';
import type { ChainSettings } from '../settings/chains.ts';

/** A node is asked four to eight times each: some 12 000 calls a day. */
export const lookEveryMs = 60_000;
/** The time for one node and its questions. */
const partMs = 20_000;

/** The doctor's names by the names used here. */
const faults = { behind: 'node_behind', clock: 'node_clock', wrong: 'wrong_node' } as const;
const silences: ReadonlySet<string> = new Set(['node_silent', 'part_time', 'ended', 'wrong_node']);

type Needs = Pick<Deps, 'db' | 'now' | 'log' | 'metrics' | 'randomBytes' | 'settings'>;

export function createNodeWatch(
  deps: Needs,
  chains: readonly ChainSettings[],
  everyMs: number = lookEveryMs,
): Service {
  return service(deps, {
    name: 'look at nodes',
    everyMs,
    mostPassMs: longestNodePassMs,
    pass: async (signal) => {
      await lookAtNodes(deps, chains, signal);
      return undefined;
    },
  });
}

/** Everything that a look finds is set, and what it does not find is 0. */
async function lookAtNodes(
  { now, metrics: { nodes }, settings }: Omit<Needs, 'db' | 'log' | 'randomBytes'>,
  chains: readonly ChainSettings[],
  signal: AbortSignal,
): Promise<void> {
  const found: Finding[] = [];
  const parts = createParts((finding) => void found.push(finding), signal, partMs);
  await examineNodes({ chains, now, callMs: settings.chainTimeoutMs, parts });
  signal.throwIfAborted();
  const isFound = (where: string, what: string) =>
    found.some((each) => each.where === where && each.what === what);
  for (const each of chains) {
    const { chain } = each;
    const { length } = sourcesOf(each);
    for (let at = 0; at < length; at += 1) {
      const where = placeOf(chain, at, length);
      const node = String(at + 1);
      const isSilent = [...silences].some((what) => isFound(where, what));
      nodes.up.set({ chain, node }, isSilent ? 0 : 1);
      for (const [fault, what] of Object.entries(faults)) {
        nodes.faults.set({ chain, node, fault }, isFound(where, what) ? 1 : 0);
      }
    }
    nodes.disagree.set({ chain }, isFound(`chain ${chain}`, 'nodes_disagree') ? 1 : 0);
  }
}
