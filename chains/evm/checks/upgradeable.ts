// Check `upgradeable`: whether somebody could put other code in the token's place.

import { type Finding, found, type PowerRules, passed } from '../../inspection.ts';
import type { Rpc } from '../../rpc.ts';
import { isDead } from '../../token-owner.ts';
import { namesIn, upgradeSignals } from '../../token-powers.ts';
import { codeAt } from '../node.ts';
import { ownerOf } from './owner.ts';
import { type Program, programOf } from './program.ts';

const check = 'upgradeable';

export async function upgradeableFinding(
  rpc: Rpc,
  program: Program,
  { upgradeable: outcome }: PowerRules,
  signal: AbortSignal,
): Promise<Finding> {
  if (outcome === 'pass') return passed(check);
  const replaced = await replacedFinding(rpc, program, outcome, signal);
  if (replaced !== null) return replaced;
  if (!program.destroys) return passed(check);
  const how = 'can destroy itself (SELFDESTRUCT) and may be put anew with other contents';
  return found(check, 'wait', `its code ${how}`);
}

async function replacedFinding(
  rpc: Rpc,
  { change, selectors, beneath }: Program,
  outcome: 'wait' | 'reject',
  signal: AbortSignal,
): Promise<Finding | null> {
  if (change === null) return null;
  // The code itself may upgrade (UUPS): who may ask it to is not looked into.
  const itself = namesIn(upgradeSignals, beneath).length > 0;
  if (!itself && (await adminGone(rpc, change.admin, signal))) return null;
  const names = namesIn(upgradeSignals, selectors);
  const by = names.length > 0 ? `, by ${names.join(', ')}` : '';
  return found(check, change.sure ? outcome : 'wait', `its code ${change.how}${by}`);
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
