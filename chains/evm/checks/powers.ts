// Checks `pausable`, `blacklist` and `mintable`: powers by the names of their functions in the
// code that runs. Each is moot where nobody is left who could use it.

import type { Finding, PowerRules } from '../../inspection.ts';
import type { Rpc } from '../../rpc.ts';
import type { Owner } from '../../token-owner.ts';
import {
  judgePower,
  namesIn,
  type Plain,
  powerSignals,
  stoppingFlags,
} from '../../token-powers.ts';
import { askFlag } from './ask.ts';
import { anybodyMints } from './mints.ts';
import { hiddenKeeper } from './owner.ts';
import type { Program } from './program.ts';
import type { Theatre } from './stage.ts';

export type Subject = {
  readonly rpc: Rpc;
  readonly token: string;
  readonly program: Program;
  readonly owner: Owner;
  readonly rules: PowerRules;
  /** Where trials can be made. */
  readonly stage: Theatre | null;
};

export async function powerFinding(
  power: Plain,
  subject: Subject,
  signal: AbortSignal,
): Promise<Finding> {
  const { rpc, token, program, rules } = subject;
  const now = power === 'pausable' ? await stoppedNow(rpc, token, signal) : null;
  const names = namesIn(powerSignals[power], program.selectors);
  const who = names.length === 0 ? null : await user(power, subject, signal);
  return judgePower(power, { names, who, now }, rules[power]);
}

/** Who could use it, for the beginning of a sentence; null: nobody. */
async function user(
  power: Plain,
  { rpc, token, program, owner, stage }: Subject,
  signal: AbortSignal,
): Promise<string | null> {
  if (power === 'mintable' && stage !== null && (await anybodyMints(stage, signal))) {
    return 'anybody';
  }
  if (!owner.gone) return owner.who;
  const used = [...powerSignals[power].keys()].filter((each) => program.selectors.has(each));
  const keeper = await hiddenKeeper(rpc, token, used, signal);
  return keeper === null ? null : `${keeper}, whom its owner() does not name,`;
}

export async function stoppedNow(
  rpc: Rpc,
  token: string,
  signal: AbortSignal,
): Promise<string | null> {
  for (const name of stoppingFlags) {
    if ((await askFlag(rpc, token, name, signal)) === true) return `${name} answers true`;
  }
  return null;
}
