// Checks `pausable`, `blacklist` and `mintable`, by the names of functions in the code that runs.

import type { Rpc } from '../../nodes/rpc.ts';
import type { Finding, PowerRules } from '../../tokens/inspection.ts';
import type { Owner } from '../../tokens/owner.ts';
import {
  judgePower,
  namesIn,
  type Plain,
  powerSignals,
  type Signals,
  stoppedNow,
  userOf as userAmong,
} from '../../tokens/powers.ts';
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
  readonly stage: Theatre | null;
};

export async function powerFinding(
  power: Plain,
  subject: Subject,
  signal: AbortSignal,
): Promise<Finding> {
  const { rpc, token, program, rules } = subject;
  const now =
    power === 'pausable' ? await stoppedNow((name) => askFlag(rpc, token, name, signal)) : null;
  const names = namesIn(powerSignals[power], program.selectors);
  const who = names.length === 0 ? null : await user(power, subject, signal);
  return judgePower(power, { names, who, now }, rules[power]);
}

async function user(power: Plain, subject: Subject, signal: AbortSignal): Promise<string | null> {
  const { stage } = subject;
  if (power === 'mintable' && stage !== null && (await anybodyMints(stage, signal))) {
    return 'anybody';
  }
  return userOf(powerSignals[power], subject, signal);
}

export async function userOf(
  signals: Signals,
  { rpc, token, program, owner }: Subject,
  signal: AbortSignal,
): Promise<string | null> {
  return userAmong(signals, program.selectors, owner, (used) =>
    hiddenKeeper(rpc, token, used, signal),
  );
}
