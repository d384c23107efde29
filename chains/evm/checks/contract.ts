// Check `contract`: that there is a token at all, by what every ERC-20 answers.

import type { Rpc } from '../../nodes/rpc.ts';
import { judgeFace, type Said } from '../../tokens/face.ts';
import type { Finding } from '../../tokens/inspection.ts';
import { notAToken } from '../../tokens/inspection.ts';
import { hiddenOf, textOf } from '../../tokens/text.ts';
import { codeAt } from '../node.ts';
import { freshAddress } from './actors.ts';
import { ask, askWord, callData } from './ask.ts';

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
