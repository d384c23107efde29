// Checks of a policy, of contracts and of a clock that sources of all families share.

import type { ChainAdapter } from '@parley/chains/adapter.ts';
import { contractsFault, type Deployment } from '@parley/chains/escrows/plan.ts';
import { brokenPolicy } from '@parley/core/deadlines.ts';
import type { ChainPolicy } from '@parley/core/policy.ts';
import type { ChainSource } from '../chains.ts';

/**
 * Which depth is enough is the customer's to say. Throws where no table has one, or it is unsound.
 */
export function policyOf(
  chain: string,
  given: ChainPolicy | undefined,
  known: { readonly policy: ChainPolicy } | undefined,
  { id, tables, dev }: { id: string; tables: Readonly<Record<string, unknown>>; dev: string },
): ChainPolicy {
  const policy = given ?? known?.policy;
  if (policy === undefined) {
    throw new Error(
      `chain ${chain} (${id}) needs a policy: this package has those of ` +
        `${Object.keys(tables).join(', ')}. Give \`policy\`: ${dev}, and for any other network ` +
        'numbers of your own (docs/timelocks.md)',
    );
  }
  const [sentence] = brokenPolicy(policy);
  if (sentence !== undefined) throw new Error(`policy of chain "${chain}" refused: ${sentence}`);
  return policy;
}

/** The adapter over all nodes of a chain, and one by each node alone. */
export function eachNode<Node>(
  all: readonly Node[],
  by: (nodes: readonly Node[]) => ChainAdapter,
): Pick<ChainSource, 'adapter' | 'nodes'> {
  const adapter = by(all);
  return all.length < 2 ? { adapter } : { adapter, nodes: all.map((each) => by([each])) };
}

/** Throws where a contract is named twice, or too many are. */
export function mustBeFew(chain: string, deployment: Deployment): void {
  const fault = contractsFault(deployment);
  if (fault !== null) throw new Error(`contracts of chain "${chain}" refused: ${fault}`);
}

export const machineClock = () => Math.floor(Date.now() / 1000);
