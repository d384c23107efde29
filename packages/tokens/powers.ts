// Checks `pausable`, `blacklist`, `mintable`, `upgradeable` and `rebase`, by the names of functions
// in the code that runs and by who owns it.

import { type Finding, found, type Outcome, type PowerRules, passed } from './inspection.ts';
import { isDead, type Owner } from './owner.ts';
import { ownerOf, type Program, programOf } from './program.ts';
import { flagAt, type Reads } from './reads.ts';
import {
  namesIn,
  type Plain,
  plainPowers,
  powerSignals,
  rebaseSignals,
  type Signals,
  successor,
  successorSignals,
  upgradeSignals,
} from './signals.ts';

/** True once a token has handed its calls on to its successor. */
const successionFlag = 'deprecated()';
/** True while all transfers are stopped. */
const stoppingFlags = ['paused()', 'stopped()'] as const;

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
  const now = power === 'pausable' ? await stoppedNow(reads, token) : null;
  const names = namesIn(powerSignals[power], program.selectors);
  const who = names.length === 0 ? null : await userOf(powerSignals[power], subject);
  return judgePower(power, { names, who, now }, rules[power]);
}

/** Part of a sentence; null: no sign shows that all transfers are stopped. */
async function stoppedNow(reads: Reads, token: string): Promise<string | null> {
  for (const name of stoppingFlags) {
    if (await flagAt(reads, token, name)) return `${name} answers true`;
  }
  return null;
}

/**
 * The party that could use one of these functions, for the beginning of a sentence; null: no party
 * could.
 */
async function userOf(
  signals: Signals,
  { reads, token, program, owner }: Subject,
): Promise<string | null> {
  if (!owner.gone) return owner.who;
  const used = [...signals.keys()].filter((each) => program.selectors.has(each));
  const keeper = (await reads.keeper?.(token, used)) ?? null;
  return keeper === null ? null : `${keeper}, whom its owner() does not name,`;
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

const can: Readonly<Record<Plain, string>> = {
  pausable: 'can stop all transfers',
  blacklist: 'can stop the transfers of single holders',
  mintable: 'can make more of it',
};

/** Names that a sentence quotes: a token may have all of them. */
const mostNames = 3;

type Use = {
  readonly names: readonly string[];
  /** The party that could use it, for the beginning of a sentence; null: no party could. */
  readonly who: string | null;
  /** The sign that transfers are stopped at present. */
  readonly now: string | null;
};

/** `rule`: the outcome for a token over which somebody has the power. */
export function judgePower(power: Plain, { names, who, now }: Use, rule: Outcome): Finding {
  if (names.length > 0 && who !== null && rule !== 'pass') {
    const sentence = `${who} ${can[power]}: its code has ${names.slice(0, mostNames).join(', ')}`;
    return found(power, rule, now === null ? sentence : `${sentence}; ${now} now`);
  }
  return now === null
    ? passed(power)
    : found(power, 'wait', `its transfers are stopped: ${now} now`);
}

/** Balances that may change by themselves. */
export function rebaseFinding({ selectors }: Program): Finding {
  const names = namesIn(rebaseSignals, selectors);
  if (names.length === 0) return passed('rebase');
  const sentence = `its balances may change by themselves: its code has ${names.join(', ')}`;
  return found('rebase', 'wait', sentence);
}
