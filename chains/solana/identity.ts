// Whether a node is of the configured cluster, and the escrow program is the pinned one, for good.

import { deploymentFault } from '../../contracts/solana/deployment.ts';
import { ParleyError } from '../../core/errors.ts';
import type { Rpc } from '../nodes/rpc.ts';
import { eachSource } from '../nodes/sources.ts';
import { accountsAt, genesisHash } from './node.ts';
import type { Watch } from './watch.ts';

/** What is wrong with it, such as "is of the cluster X, not Y as configured"; null = nothing. */
export async function solanaFault(
  rpc: Rpc,
  wanted: { readonly genesisHash: string | null; readonly program: string },
  signal: AbortSignal,
): Promise<string | null> {
  if (wanted.genesisHash !== null) {
    const found = await genesisHash(rpc, signal);
    if (found !== wanted.genesisHash) {
      return `is of the cluster ${found}, not ${wanted.genesisHash} as configured`;
    }
  }
  const { program } = wanted;
  const fault = await deploymentFault(program, async (address) => {
    const { accounts } = await accountsAt(rpc, [address], 'finalized', signal);
    const account = accounts[0] ?? null;
    if (account === null) return null;
    const { owner, executable: isExecutable, data } = account;
    return { owner, isExecutable, data };
  });
  return fault === null ? null : `shows no pinned escrow program at ${program}: ${fault}`;
}

/** Throws `chain_unavailable` where a node is of another cluster, or shows another program. */
export async function checkNodes(watch: Watch, signal: AbortSignal): Promise<void> {
  const { chain, deployment } = watch;
  const wanted = { genesisHash: watch.genesisHash, program: deployment.program };
  const answers = await eachSource(watch, watch.rpc, (one) => solanaFault(one, wanted, signal));
  const fault = answers.map(({ answer }) => answer).find((each) => each !== null);
  if (fault === undefined) return;
  throw new ParleyError('chain_unavailable', `${chain}: a node ${fault}`, { chain });
}
