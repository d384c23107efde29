// Check `upgradeable`: whether somebody could put other code in the token's place.

import type { Rpc } from '../../nodes/rpc.ts';
import { type Finding, found, type Outcome, passed } from '../../tokens/inspection.ts';
import { isDead } from '../../tokens/owner.ts';
import {
  namesIn,
  successionFlag,
  successor,
  successorSignals,
  upgradeSignals,
} from '../../tokens/powers.ts';
import { codeAt } from '../node.ts';
import { askFlag } from './ask.ts';
import { ownerOf } from './owner.ts';
import { type Subject, userOf } from './powers.ts';
import { programOf } from './program.ts';

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
