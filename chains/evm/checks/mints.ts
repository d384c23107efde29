// Whether just anybody can make more of a token: tried, as an address that nobody ever used.

import type { Hex } from 'viem';
import { freshAddress } from './actors.ts';
import { callData } from './ask.ts';
import type { Theatre } from './stage.ts';
import { directed } from './trial.ts';

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
