// Checks of a token contract of an EVM-like chain: its own words, the code that runs for it, its
// owner, and one transfer in and out, which its family tries.

import {
  type Finding,
  found,
  type Inspection,
  notAToken,
  type PowerRules,
  passed,
} from './inspection.ts';
import { powerFindings, rebaseFinding } from './powers.ts';
import { mostCodeBytes, ownerOf, programOf } from './program.ts';
import { freshAddress, type Reads, wordAt } from './reads.ts';
import { hiddenOf, hiddenSentence, textOf } from './text.ts';
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
  findings.push(rebaseFinding(program));
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

/** More decimals than this leave a number of 256 bits no room for whole units. */
export const mostDecimals = 36;

/** A token's own words; texts are '' where they cannot be read. */
type Said = {
  readonly symbol: string;
  readonly name: string;
  readonly decimals: number;
  readonly supply: bigint;
};

/** `balance`: that of an address never used; `hidden`: its symbol's first invisible character. */
export function judgeFace(
  { symbol, name, decimals, supply }: Said,
  balance: bigint,
  hidden: string | null,
): Finding {
  if (hidden !== null) return found('contract', 'reject', hiddenSentence(hidden));
  if (decimals > mostDecimals) {
    return found('contract', 'reject', `it has ${decimals} decimals; the most is ${mostDecimals}`);
  }
  if (balance !== 0n) {
    const sentence = `it shows a balance of ${balance} for an address that nobody ever used`;
    return found('contract', 'reject', sentence);
  }
  if (supply === 0n)
    return found('contract', 'wait', 'its total supply is 0: there is none of it yet');
  if (symbol === '') return found('contract', 'wait', 'its symbol() gives no readable text');
  if (name === '') return found('contract', 'wait', 'its name() gives no readable text');
  return passed('contract');
}
