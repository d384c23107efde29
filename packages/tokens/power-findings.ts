// Checks `pausable`, `blacklist`, `mintable` and `upgradeable`, by the names of functions in the
// code that runs and by who owns it.

import { type Finding, found, type Outcome, type PowerRules, passed } from './inspection.ts';
import { isDead, type Owner } from './owner.ts';
import {
  judgePower,
  namesIn,
  type Plain,
  plainPowers,
  powerSignals,
  type Signals,
  stoppedNow,
  successionFlag,
  successor,
  successorSignals,
  upgradeSignals,
  userOf as userAmong,
} from './powers.ts';
import { ownerOf, type Program, programOf } from './program.ts';
import { flagAt, type Reads } from './reads.ts';

type Subject = {
  readonly reads: Reads;
  readonly token: string;
  readonly program: Program;
  readonly owner: Owner;
  readonly rules: PowerRules;
};

export async function powerFindings(subject: Subject): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const power of plainPowers) findings.push(await powerFinding(power, subject));
  return [...findings, await upgradeableFinding(subject)];
}

async function powerFinding(power: Plain, subject: Subject): Promise<Finding> {
  const { reads, token, program, rules } = subject;
  const flag = (name: string) => flagAt(reads, token, name);
  const now = power === 'pausable' ? await stoppedNow(flag) : null;
  const names = namesIn(powerSignals[power], program.selectors);
  const who = names.length === 0 ? null : await userOf(powerSignals[power], subject);
  return judgePower(power, { names, who, now }, rules[power]);
}

function userOf(signals: Signals, { reads, token, program, owner }: Subject) {
  const keeper = async (used: readonly string[]) => (await reads.keeper?.(token, used)) ?? null;
  return userAmong(signals, program.selectors, owner, keeper);
}

const check = 'upgradeable';

async function upgradeableFinding(subject: Subject): Promise<Finding> {
  const { program, rules } = subject;
  if (rules.upgradeable === 'pass') return passed(check);
  const replaced = await replacedFinding(subject, rules.upgradeable);
  if (replaced.outcome !== 'pass' || !program.destroys) return replaced;
  const how = 'can destroy itself (SELFDESTRUCT) and may be put anew with other contents';
  return found(check, 'wait', `its code ${how}`);
}

async function replacedFinding(
  subject: Subject,
  outcome: Exclude<Outcome, 'pass'>,
): Promise<Finding> {
  const { reads, program } = subject;
  const { change, selectors, beneath } = program;
  if (change === null) return succession(subject, outcome);
  // The code itself may upgrade (UUPS): its permission for that is not checked.
  const itself = namesIn(upgradeSignals, beneath).length > 0;
  if (!itself && (await adminGone(reads, change.admin))) return passed(check);
  const names = namesIn(upgradeSignals, selectors);
  const by = names.length > 0 ? `, by ${names.join(', ')}` : '';
  return found(check, change.sure ? outcome : 'wait', `its code ${change.how}${by}`);
}

async function succession(subject: Subject, outcome: Exclude<Outcome, 'pass'>): Promise<Finding> {
  const { reads, token, program } = subject;
  if (namesIn(successorSignals, program.selectors).length === 0) return passed(check);
  const who = await userOf(successorSignals, subject);
  if (who !== null) {
    return found(check, outcome, `its code can be replaced by ${successor}: ${who} may`);
  }
  // The successor's powers, and its owner, are not checked.
  if ((await flagAt(reads, token, successionFlag)) !== true) return passed(check);
  const sentence = `it hands its calls on to a successor: ${successionFlag} answers true`;
  return found(check, 'wait', sentence);
}

/** Whether the admin of a transparent proxy is a contract whose owner gave it up, or nobody. */
async function adminGone(reads: Reads, admin: string | null): Promise<boolean> {
  if (admin === null) return false;
  if (isDead(admin)) return true;
  const code = await reads.code(admin);
  if (code === '0x') return false;
  return (await ownerOf(reads, admin, await programOf(reads, admin, code))).gone;
}
