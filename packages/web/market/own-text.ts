// Texts that the market writes and a wallet signs: each names the site that it is for. Another
// market's text, signed here, would sign in there. Pure.

import { VerificationError } from '@parley/sdk/errors.ts';

const first = / wants you to sign in with your (?:Ethereum|TRON|Bitcoin|Solana) account:$/;

/** As EIP-4361 begins. Throws VerificationError where it is for another site, or no such text. */
export function mustBeFor(host: string, message: string): void {
  const [line = ''] = message.split('\n', 1);
  if (first.test(line) && line.replace(first, '') === host) return;
  const wanted = `one that begins with "${host} wants you to sign in"`;
  throw new VerificationError('the text to sign', wanted, JSON.stringify(line.slice(0, 100)));
}
