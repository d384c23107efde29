// Checks `pausable`, `blacklist` and `mintable`, by the names of functions in the code that runs.

import type { Hex } from 'viem';
import type { Rpc } from '../../nodes/rpc.ts';
import {
  type Finding,
  found,
  type Outcome,
  type PowerRules,
  passed,
} from '../../tokens/inspection.ts';
import { isDead, type Owner } from '../../tokens/owner.ts';
import {
  judgePower,
  namesIn,
  type Plain,
  powerSignals,
  type Signals,
  stoppedNow,
  successionFlag,
  successor,
  successorSignals,
  upgradeSignals,
  userOf as userAmong,
} from '../../tokens/powers.ts';
import { codeAt } from '../node.ts';
import { askFlag, callData } from './ask.ts';
import { hiddenKeeper, ownerOf, type Program, programOf } from './program.ts';
import type { Theatre } from './stage.ts';
import { freshAddress } from './steps.ts';
import { directed } from './trial.ts';

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

const amount = 1_000n;

export async function anybodyMints(stage: Theatre, signal: AbortSignal): Promise<boolean> {
  const { token, actors } = stage;
  const anybody = actors.spender;
  const word = amount.toString(16);
  for (const data of [
    callData('mint(address,uint256)', anybody, word),
    callData('mint(uint256)', word),
  ]) {
    // Out of nothing: a payer that neither has nor loses any makes the step differ.
    const moves = { payer: freshAddress(), payee: anybody };
    const step = { what: 'a mint', actor: anybody, to: token, data: data as Hex, moves };
    const course = { amount, steps: [step], lent: {} };
    const verdict = await directed(stage, course, 0, signal);
    if (verdict.kind === 'differs' && verdict.gained === amount) return true;
  }
  return false;
}

const check = 'upgradeable';

export async function upgradeableFinding(subject: Subject, signal: AbortSignal): Promise<Finding> {
  const { program, rules } = subject;
  if (rules.upgradeable === 'pass') return passed(check);
  const replaced = await replacedFinding(subject, rules.upgradeable, signal);
  if (replaced.outcome !== 'pass' || !program.destroys) return replaced;
  const how = 'can destroy itself (SELFDESTRUCT) and may be put anew with other contents';
  return found(check, 'wait', `its code ${how}`);
}

async function replacedFinding(
  subject: Subject,
  outcome: Exclude<Outcome, 'pass'>,
  signal: AbortSignal,
): Promise<Finding> {
  const { rpc, program } = subject;
  const { change, selectors, beneath } = program;
  if (change === null) return succession(subject, outcome, signal);
  // The code itself may upgrade (UUPS): who may ask it to is not looked into.
  const itself = namesIn(upgradeSignals, beneath).length > 0;
  if (!itself && (await adminGone(rpc, change.admin, signal))) return passed(check);
  const names = namesIn(upgradeSignals, selectors);
  const by = names.length > 0 ? `, by ${names.join(', ')}` : '';
  return found(check, change.sure ? outcome : 'wait', `its code ${change.how}${by}`);
}

async function succession(
  subject: Subject,
  outcome: Exclude<Outcome, 'pass'>,
  signal: AbortSignal,
): Promise<Finding> {
  const { rpc, token, program } = subject;
  if (namesIn(successorSignals, program.selectors).length === 0) return passed(check);
  const who = await userOf(successorSignals, subject, signal);
  if (who !== null) {
    return found(check, outcome, `its code can be replaced by ${successor}: ${who} may`);
  }
  // What the successor may do, and who rules it, is not looked into.
  if ((await askFlag(rpc, token, successionFlag, signal)) !== true) return passed(check);
  const sentence = `it hands its calls on to a successor: ${successionFlag} answers true`;
  return found(check, 'wait', sentence);
}

/** Whether the admin of a transparent proxy is a contract whose owner gave it up, or nobody. */
async function adminGone(rpc: Rpc, admin: string | null, signal: AbortSignal): Promise<boolean> {
  if (admin === null) return false;
  if (isDead(admin)) return true;
  const code = await codeAt(rpc, admin, 'latest', signal);
  if (code === '0x') return false;
  const program = await programOf(rpc, admin, code, signal);
  return (await ownerOf(rpc, admin, program, signal)).gone;
}
