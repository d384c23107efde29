// A wallet for the tour and for trying things by hand on a dev network: keys in a file, signatures
// on standard output. Not for real money: the keys lie in the clear.

import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { hashlockOf } from '@parley/core/hashlock.ts';
import { Misused, understood, wholeNumber } from '@parley/host/command.ts';

const usage = `usage: npm run -s wallet -- <command>
  join <file> <market url>   makes wallets of EVM, Bitcoin, TRON and Solana, mints a key with the
                             first, links and authorises the others; writes all to <file>
  show <file> <name>         prints one of: apiKey evmAddress btcAddress btcPubkey tronAddress
                             solanaAddress
  secret                     prints a new secret and its hashlock, as JSON
  sign <file> <node url> [n] [secret]
                             signs the answer of a fund, claim or refund builder on standard
                             input (its n-th transaction, from 0; a Bitcoin claim needs the
                             secret) and prints the body for POST /v1/tx/broadcast
  relay <file> <market url> <swap id> <leg> <secret>
                             asks the market to send your claim with its gas key (not on
                             Bitcoin): from then on it knows the secret`;

const takes = { join: [2, 2], show: [2, 2], secret: [0, 0], sign: [2, 4], relay: [5, 5] } as const;
const mostIndex = 99;

/** The work to be done; a signing command loads modules that take many times as long as reading the
 * file. */
function understand(args: string[]): (() => Promise<void>) | null {
  if (args.includes('--help')) return null;
  const [command = '', ...given] = args;
  const known = (Object.keys(takes) as (keyof typeof takes)[]).find((each) => each === command);
  if (known === undefined) {
    throw new Misused(command === '' ? 'which command?' : `"${command}" is no command`);
  }
  const [least, most] = takes[known];
  if (given.length < least) throw new Misused(`"${args.join(' ')}" wants ${least} arguments`);
  if (given.length > most) throw new Misused(`"${given[most]}" is more than ${known} takes`);
  const [file = '', place = '', ...rest] = given;
  const wallets = () => import('./wallet-keys.ts');
  switch (known) {
    case 'join':
      return async () => (await wallets()).join(file, place);
    case 'sign': {
      const index = wholeNumber('n', rest[0] ?? '0', { least: 0, most: mostIndex });
      return async () => (await wallets()).sign(file, place, index, rest[1] ?? '');
    }
    case 'relay': {
      const [swapId = '', leg = '', secret = ''] = rest;
      if (leg !== 'a' && leg !== 'b') throw new Misused(`a leg is a or b, not "${leg}"`);
      return async () => (await wallets()).relay(file, place, [swapId, leg, secret]);
    }
    case 'secret':
      return async () => {
        const secret = randomBytes(32).toString('hex');
        console.log(JSON.stringify({ secret, hashlock: hashlockOf(secret) }));
      };
    case 'show':
      return async () => {
        const value = (JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>)[place];
        if (typeof value !== 'string') throw new Error(`there is no "${place}" in ${file}`);
        console.log(value);
      };
  }
}

understood({ usage, understand })().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exit(1);
});
