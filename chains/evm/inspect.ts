// Inspects a token that might be listed: each check of checks/ gives a finding. Nothing is sent.

import type { Finding, Inspection, PowerRules } from '../tokens/inspection.ts';
import { found } from '../tokens/inspection.ts';
import { namesIn, plainPowers, switchSignals } from '../tokens/powers.ts';
import { parseEvmAddress } from './address.ts';
import { faceOf } from './checks/contract.ts';
import { ownerOf } from './checks/owner.ts';
import { powerFinding, type Subject } from './checks/powers.ts';
import { programOf } from './checks/program.ts';
import { rebaseFinding } from './checks/rebase.ts';
import { openStage } from './checks/stage.ts';
import { largestTried, transferFindings } from './checks/transfer.ts';
import { upgradeableFinding } from './checks/upgradeable.ts';
import type { Watch } from './watch.ts';

export async function inspect(
  { rpc, deployment }: Watch,
  token: string,
  rules: PowerRules,
  signal: AbortSignal,
): Promise<Inspection> {
  const address = parseEvmAddress(token);
  const { code, symbol, name, decimals, supply, finding } = await faceOf(rpc, address, signal);
  const program = await programOf(rpc, address, code, signal);
  const owner = await ownerOf(rpc, address, program, signal);
  const opened = await openStage(rpc, address, deployment, largestTried(supply), signal);
  const stage = 'why' in opened ? null : opened;
  const findings: Finding[] = [finding];
  if ('why' in opened) findings.push(found('transfer', 'wait', opened.why));
  else if (supply > 0n) {
    const switches = owner.gone ? [] : namesIn(switchSignals, program.selectors);
    findings.push(...(await transferFindings(opened, supply, switches, signal)));
    findings.push(await rebaseFinding(opened, program, signal));
  }
  const subject: Subject = { rpc, token: address, program, owner, rules, stage };
  for (const power of plainPowers) findings.push(await powerFinding(power, subject, signal));
  findings.push(await upgradeableFinding(subject, signal));
  return { address, symbol, name, decimals, findings };
}
