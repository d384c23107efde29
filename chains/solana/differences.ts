// Where an unsigned transaction is not the one that was wanted, in words that begin with the place:
// payer, program, account or data of an instruction. Pure.

import type { ReadMessage } from './message.ts';

/** One sentence a difference; at least one, since the caller knows that their bytes differ. */
export function differences(shown: ReadMessage, wanted: ReadMessage): string[] {
  const found: string[] = [];
  const must = (place: string, got: unknown, expected: unknown) => {
    if (got !== expected) {
      found.push(`transaction.${place} is ${String(got)}, not ${String(expected)}`);
    }
  };
  must('signers', shown.signers, wanted.signers);
  must('payer', shown.keys[0], wanted.keys[0]);
  must('lookups.length', shown.lookups.length, wanted.lookups.length);
  must('instructions.length', shown.instructions.length, wanted.instructions.length);
  for (const [at, expected] of wanted.instructions.entries()) {
    const said = shown.instructions[at];
    if (said === undefined) break;
    const place = `instructions[${at}]`;
    must(`${place}.program`, said.program, expected.program);
    must(`${place}.accounts.length`, said.accounts.length, expected.accounts.length);
    for (const [index, account] of expected.accounts.entries()) {
      const got = shown.keys[said.accounts[index] ?? -1];
      must(`${place}.accounts[${index}]`, got, wanted.keys[account]);
    }
    const byte = firstOther(said.data, expected.data);
    if (byte !== null) found.push(`transaction.${place}.data differs from byte ${byte} on`);
  }
  if (shown.signatures.some((each) => each.some((byte) => byte !== 0))) {
    found.push('transaction.signatures is filled');
  }
  if (found.length > 0) return found;
  return ['transaction differs in its version, its accounts’ order or what they may do'];
}

function firstOther(got: Uint8Array, wanted: Uint8Array): number | null {
  const length = Math.max(got.length, wanted.length);
  for (let at = 0; at < length; at += 1) if (got[at] !== wanted[at]) return at;
  return null;
}
