// A trial escrow, funded and claimed in one simulated transaction that nobody signs.

import { base64 } from '@scure/base';
import layout from '../../contracts/solana/layout.json' with { type: 'json' };
import { hashlockOf } from '../../core/hashlock.ts';
import type { EscrowTerms } from '../../core/terms.ts';
import { solanaAddressOf } from './address.ts';
import { mostTransactionBytes } from './message.ts';
import { rentFor, simulate, type Trial } from './node.ts';
import { type Circumstances, trialTransaction } from './plan.ts';
import type { TokenProgram } from './programs.ts';
import type { Watch } from './watch.ts';

const trialSecret = '00'.repeat(31).concat('01');
const trialTimelockSeconds = 7_200;
const { stateBytes, vaultBytes } = layout.constants;
/** Fees and a little: what a funder must have over amount and rents. */
export const feeLamports = 100_000n;

/** What a simulated transaction needs: the node puts a blockhash of its own in. */
export function simulated(tokenProgram: TokenProgram | null): Circumstances {
  return { tokenProgram, blockhash: solanaAddressOf(new Uint8Array(32)), unitPrice: 0n };
}

/** What a funder of tokens must have: for the escrow, its vault, a token account, and itself. */
export async function trialLamports({ rpc }: Pick<Watch, 'rpc'>, signal: AbortSignal) {
  const sizes = [stateBytes, vaultBytes, vaultBytes, 0];
  const rents = await Promise.all(sizes.map((bytes) => rentFor(rpc, bytes, signal)));
  return rents.reduce((sum, each) => sum + each, feeLamports);
}

/** Why terms like these, with another hashlock and timelock, would fail at `clock`; null: not. */
export async function tryFundAndClaim(
  watch: Pick<Watch, 'rpc' | 'deployment'>,
  terms: Omit<EscrowTerms, 'hashlock' | 'timelock'>,
  { program, clock }: { readonly program: TokenProgram | null; readonly clock: number },
  signal: AbortSignal,
): Promise<Trial | null> {
  const trialTerms: EscrowTerms = {
    ...terms,
    hashlock: hashlockOf(trialSecret),
    timelock: clock + trialTimelockSeconds,
  };
  const circumstances = simulated(program);
  const text = trialTransaction(trialTerms, watch.deployment, trialSecret, circumstances);
  if (base64.decode(text).length > mostTransactionBytes) return null;
  return simulate(watch.rpc, text, signal);
}

/** The program's error by its name, else what the node says. */
export function reasonOf(watch: Pick<Watch, 'deployment'>, { error, logs }: Trial): string {
  const start = `Program ${watch.deployment.program} failed: custom program error: 0x`;
  const own = logs.find((line) => line.startsWith(start));
  const code = own === undefined ? null : Number.parseInt(own.slice(start.length), 16);
  const name = Object.entries(layout.errors).find(([, each]) => each === code)?.[0];
  const words = JSON.stringify(error);
  const last = logs.findLast((line) => /failed|Error/.test(line));
  if (name !== undefined) return `the escrow program says ${name}`;
  return last === undefined ? words : `${words}, ${last.slice(0, 200)}`;
}
