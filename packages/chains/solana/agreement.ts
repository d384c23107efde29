// The facts that must agree before anybody funds or reveals a secret. The nodes of the cluster are
// compared by a finalized block and a funding, and the chain's clock with the wall's.

import { deploymentFault } from '@parley/contracts/solana/deployed.ts';
import { ParleyError } from '@parley/core/errors.ts';
import type { WatchedEscrow } from '../interface/reading.ts';
import * as kit from '../kit/agreement.ts';
import { gathering } from '../nodes/gathering.ts';
import type { Rpc } from '../nodes/rpc.ts';
import { disagree, eachSource } from '../nodes/sources.ts';
import { accountsAt, blockhashAt, chainClock, genesisHash, slotAt } from './node.ts';
import { stateOf } from './read.ts';
import type { Watch } from './watch.ts';

/** A slot may have no block: so many are tried. */
const slotsTried = 8;

const compared: kit.Compared<Watch, Rpc> = {
  nodesOf: ({ rpc }) => rpc,
  headOf: (one, signal) => slotAt(one, 'finalized', signal),
  heights: (lowest) => {
    const count = Math.min(slotsTried, lowest + 1);
    return Array.from({ length: count }, (_, below) => lowest - below);
  },
  hashAt: blockhashAt,
  mustMeet: true,
  unit: 'slot',
  fundingBy: async (watch, rpc, escrow, signal) => {
    const { state } = await stateOf({ ...watch, rpc }, escrow, 'finalized', signal);
    return state === null ? 'no funding' : state.status;
  },
};

/** The chain's clock must be near the wall's: all timelocks are in the chain's time. */
async function mustAgreeOnTime(watch: Watch, signal: AbortSignal): Promise<void> {
  const clock = await chainClock(gathering(watch.rpc, signal), signal);
  const ahead = clock - watch.now();
  const most = watch.mostDriftSeconds;
  if (Math.abs(ahead) <= most) return;
  const which = ahead > 0 ? 'ahead of' : 'behind';
  throw disagree(
    watch.chain,
    `the chain's clock is ${Math.abs(ahead)} s ${which} wall time, and ${most} s are allowed`,
    { clock, ahead, most },
  );
}

/** Clock, block and this escrow's funding. Throws `sources_disagree`. */
export async function mustAgree(
  watch: Watch,
  escrow: WatchedEscrow,
  signal: AbortSignal,
): Promise<void> {
  await mustAgreeOnTime(watch, signal);
  await kit.mustAgree(watch, compared, escrow, signal);
}

/** The fault, such as "is of the cluster X, not Y as configured"; null = nothing. */
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
