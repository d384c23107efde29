// Checks `pausable`, `blacklist` and `mintable`: powers by the names of their functions in the
// code that runs. Each is moot where nobody is left who could use it.

import { type Finding, found, type Power, type PowerRules, passed } from '../../inspection.ts';
import type { Rpc } from '../../rpc.ts';
import { askFlag } from './ask.ts';
import { anybodyMints } from './mints.ts';
import { hiddenKeeper, type Owner } from './owner.ts';
import type { Program } from './program.ts';
import { namesIn, powerSignals, stoppingFlags } from './signals.ts';
import type { Theatre } from './stage.ts';

export type Plain = Exclude<Power, 'upgradeable'>;

const can: Readonly<Record<Plain, string>> = {
  pausable: 'can stop all transfers',
  blacklist: 'can stop the transfers of single holders',
  mintable: 'can make more of it',
};

/** Names that are quoted, and functions that are tried. */
const mostNames = 3;
const mostTried = 4;

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
  const outcome = rules[power];
  const names = namesIn(powerSignals[power], program.selectors);
  const who = names.length === 0 ? null : await user(power, subject, signal);
  if (who !== null && outcome !== 'pass') {
    const sentence = `${who} ${can[power]}: its code has ${names.slice(0, mostNames).join(', ')}`;
    return found(power, outcome, now === null ? sentence : `${sentence}; ${now} now`);
  }
  if (now !== null) return found(power, 'wait', `its transfers are stopped: ${now} now`);
  return passed(power);
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
  const keeper = await hiddenKeeper(rpc, token, used.slice(0, mostTried), signal);
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
