// Every node of every chain, each asked by itself the questions of ports/node-questions.ts.

import type { Heads } from '@parley/chains/interface/reading.ts';
import { inParallel } from '@parley/host/in-parallel.ts';
import {
  type Answered,
  placeOf,
  questionsTo,
  sourcesOf,
  type Wrong,
  wrongClock,
  wrongNode,
  wrongTogether,
} from '../ports/node-questions.ts';
import type { ChainSettings } from '../settings/chains.ts';
import { type Add, danger, differs, unseen } from './findings.ts';
import { lacksOf } from './needs.ts';
import { inTime, type Parts } from './parts.ts';
import { silenceOf } from './reads.ts';

/** Chains asked at once, so that one that hangs costs the others nothing. */
const parallel = 8;

type NodesDeps = {
  readonly chains: readonly ChainSettings[];
  /** The market's clock, milliseconds. */
  readonly now: () => number;
  /** The limit of one call. */
  readonly callMs: number;
  readonly parts: Parts;
  /** Whether each method and the history is tried too (needs.ts). */
  readonly isWhole?: boolean;
  /** Whether the chain is in the settings; one that is not has no contract there yet. */
  readonly isServed?: boolean;
};

/** How many there are. */
export async function examineNodes(deps: NodesDeps): Promise<number> {
  const counts = await inParallel(deps.chains, parallel, (chain) => examineChain(deps, chain));
  return counts.reduce((sum, each) => sum + each, 0);
}

async function examineChain(deps: NodesDeps, chain: ChainSettings): Promise<number> {
  const { now, callMs, parts } = deps;
  const sources = sourcesOf(chain);
  const seconds = () => Math.floor(now() / 1_000);
  const answered: Answered[] = [];
  await Promise.all(
    sources.map((source, at) => {
      const where = placeOf(chain.chain, at, sources.length);
      return parts.run(where, async (add, ending) => {
        const questions = questionsTo(source, callMs, seconds);
        const asked = <T>(ask: (signal: AbortSignal) => Promise<T>) => inTime(callMs, ending, ask);
        try {
          const fault = deps.isServed === false ? null : await asked(questions.fault);
          if (fault !== null) return tell(wrongNode(where, `it ${fault}`), add);
          const heads: Heads = await asked(questions.head);
          const wrong = wrongClock(heads, source.family, { now: seconds, where });
          if (wrong !== null) tell(wrong, add);
          answered.push({ where, heads, questions });
        } catch (error) {
          ending.throwIfAborted();
          const { why, todo } = silenceOf(error, callMs);
          add(unseen('node_silent', where, `it does not answer: ${why}`, todo, { why }));
        }
      });
    }),
  );
  if (deps.isWhole === true) await examineNeeds(deps, sources);
  await parts.run(`chain ${chain.chain}, its nodes together`, async (add, ending) => {
    const bounded = <T>(ask: (signal: AbortSignal) => Promise<T>) =>
      inTime(callMs, ending, ask).catch(() => null);
    for (const each of await wrongTogether(chain, answered, bounded)) tell(each, add);
  });
  return sources.length;
}

/** A part for each node: it is asked two dozen times. */
async function examineNeeds(deps: NodesDeps, sources: readonly ChainSettings[]): Promise<void> {
  const seconds = () => Math.floor(deps.now() / 1_000);
  await Promise.all(
    sources.map((source, at) => {
      const where = placeOf(source.chain, at, sources.length);
      return deps.parts.run(where, async (add, ending) => {
        try {
          for (const each of await lacksOf(source, deps.callMs, seconds, ending)) {
            add(differs('node_lacks', where, `it ${each}`, lacksTodo));
          }
        } catch (error) {
          ending.throwIfAborted();
          const { why, todo } = silenceOf(error, deps.callMs);
          add(unseen('node_silent', where, `it does not answer all: ${why}`, todo, { why }));
        }
      });
    }),
  );
}

const lacksTodo = 'set it up otherwise, or take another node (docs/nodes.md)';

function tell({ what, where, says, todo, facts }: Wrong, add: Add): void {
  const isDanger = what === 'wrong_node' || what === 'nodes_disagree';
  add((isDanger ? danger : differs)(what, where, says, todo, facts));
}
