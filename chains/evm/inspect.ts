// Inspects a token that might be listed: each check of checks/ gives a finding. Nothing is sent.

import type { Rpc } from '../nodes/rpc.ts';
import { judgeFace, type Said } from '../tokens/face.ts';
import {
  type Finding,
  found,
  type Inspection,
  notAToken,
  type PowerRules,
} from '../tokens/inspection.ts';
import { namesIn, plainPowers, switchSignals } from '../tokens/powers.ts';
import { hiddenOf, textOf } from '../tokens/text.ts';
import { parseEvmAddress } from './address.ts';
import { ask, askWord, callData } from './checks/ask.ts';
import { powerFinding, type Subject, upgradeableFinding } from './checks/powers.ts';
import { ownerOf, programOf } from './checks/program.ts';
import { openStage } from './checks/stage.ts';
import { freshAddress } from './checks/steps.ts';
import { largestTried, rebaseFinding, transferFindings } from './checks/transfer.ts';
import { codeAt } from './node.ts';
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

/** EIP-7702: an account that somebody holds the key of, with a contract's code lent to it. */
const delegation = /^0xef0100[0-9a-f]{40}$/i;

export type Face = Said & { readonly code: string; readonly finding: Finding };

export async function faceOf(rpc: Rpc, token: string, signal: AbortSignal): Promise<Face> {
  const { chain } = rpc;
  const code = await codeAt(rpc, token, 'latest', signal);
  if (code === '0x') throw notAToken(chain, token, 'there is no contract');
  if (delegation.test(code)) throw notAToken(chain, token, "it is somebody's account (EIP-7702)");
  const read = (data: string) => askWord(rpc, token, data, signal);
  const [decimals, supply, balance, symbol, name] = await Promise.all([
    read(callData('decimals()')),
    read(callData('totalSupply()')),
    read(callData('balanceOf(address)', freshAddress())),
    ask(rpc, token, callData('symbol()'), signal),
    ask(rpc, token, callData('name()'), signal),
  ]);
  if (supply === null) throw notAToken(chain, token, 'it does not answer totalSupply()');
  if (balance === null) throw notAToken(chain, token, 'it does not answer balanceOf()');
  if (decimals === null) throw notAToken(chain, token, 'it does not answer decimals()');
  if (decimals > 255n) throw notAToken(chain, token, 'its decimals() are no number of ERC-20');
  const texts = { symbol: textOf(symbol), name: textOf(name) };
  const said = { ...texts, decimals: Number(decimals), supply };
  return { code, ...said, finding: judgeFace(said, balance, hiddenOf(symbol)) };
}
