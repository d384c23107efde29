// Checks of a token contract of an EVM-like chain: its own words, the code that runs for it, its
// owner, and one transfer in and out, which its family tries.

import { judgeFace, type Said } from './face.ts';
import { type Finding, found, type Inspection, notAToken, type PowerRules } from './inspection.ts';
import { powerFindings } from './power-findings.ts';
import { mostCodeBytes, ownerOf, programOf } from './program.ts';
import { freshAddress, type Reads, wordAt } from './reads.ts';
import { judgeRebase } from './rebase.ts';
import { hiddenOf, textOf } from './text.ts';
import { dataOf } from './words.ts';

export const transferCheck = 'transfer';

/**
 * The tried part of the supply: large enough to be no dust, and below most limits of a transfer.
 */
const triedShare = 1_000n;

/** `transfer` tries this amount. */
export async function inspectContract(
  reads: Reads,
  token: string,
  rules: PowerRules,
  transfer: (amount: bigint) => Promise<Finding>,
): Promise<Omit<Inspection, 'address'>> {
  const { code, finding, ...said } = await faceOf(reads, token);
  const { symbol, name, decimals, supply } = said;
  const program = await programOf(reads, token, code);
  const owner = await ownerOf(reads, token, program);
  const isUnread = program.isCut && finding.outcome === 'pass';
  const why = `its code has more than the ${mostCodeBytes} bytes read`;
  const findings = [isUnread ? found(finding.check, 'wait', why) : finding];
  if (supply > 0n) findings.push(await transfer(amountOf(supply)));
  findings.push(judgeRebase(program.selectors));
  findings.push(...(await powerFindings({ reads, token, program, owner, rules })));
  return { symbol, name, decimals, findings };
}

function amountOf(supply: bigint): bigint {
  const share = supply / triedShare;
  return share > 0n ? share : 1n;
}

type Face = Said & { readonly code: string; readonly finding: Finding };

async function faceOf(reads: Reads, token: string): Promise<Face> {
  const no = (why: string) => notAToken(reads.chain, reads.shown(token), why);
  const code = await reads.code(token);
  if (code === '0x') throw no('there is no contract');
  const [decimals, supply, balance, symbol, name] = await Promise.all([
    wordAt(reads, token, dataOf('decimals()')),
    wordAt(reads, token, dataOf('totalSupply()')),
    wordAt(reads, token, dataOf('balanceOf(address)', freshAddress())),
    reads.view(token, dataOf('symbol()')),
    reads.view(token, dataOf('name()')),
  ]);
  if (supply === null) throw no('it does not answer totalSupply()');
  if (balance === null) throw no('it does not answer balanceOf()');
  if (decimals === null) throw no('it does not answer decimals()');
  if (decimals > 255n) throw no('its decimals() are no number of a token');
  const texts = { symbol: textOf(symbol), name: textOf(name) };
  const said = { ...texts, decimals: Number(decimals), supply };
  return { code, ...said, finding: judgeFace(said, balance, hiddenOf(symbol)) };
}
