// A wallet for the tour and for trying things by hand on a dev network: keys in a file, signatures
// on standard output. Not for real money: the keys lie in the clear.

import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { hashlockOf } from '../core/hashlock.ts';
import { Misused, understood, wholeNumber } from './command.ts';
import type { Purse, Relayed } from './purse.ts';

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

function printSecret(): void {
  const value = randomBytes(32).toString('hex');
  console.log(JSON.stringify({ secret: value, hashlock: hashlockOf(value) }));
}

type Asked = {
  readonly command: 'join' | 'show' | 'secret' | 'sign' | 'relay';
  readonly file: string;
  /** The market, the node, or what is shown. */
  readonly place: string;
  readonly index: number;
  readonly secret: string;
  readonly relayed: Relayed | null;
};

/** How many arguments each takes, at least and at most. */
const takes = { join: [2, 2], show: [2, 2], secret: [0, 0], sign: [2, 4], relay: [5, 5] } as const;
const mostIndex = 99;

function understand(args: string[]): Asked | null {
  if (args.includes('--help')) return null;
  const [command = '', file = '', place = ''] = args;
  const known = Object.keys(takes).find((each) => each === command) as Asked['command'] | undefined;
  if (known === undefined) {
    throw new Misused(command === '' ? 'which command?' : `"${command}" is no command`);
  }
  const given = args.slice(1);
  const [least, most] = takes[known];
  if (given.length < least) throw new Misused(`"${args.join(' ')}" wants ${least} arguments`);
  if (given.length > most) throw new Misused(`"${given[most]}" is more than ${known} takes`);
  const relayed = known === 'relay' ? relayedOf(given.slice(2)) : null;
  const [index = '0', secret = ''] = known === 'sign' ? given.slice(2) : [];
  return {
    command: known,
    file,
    place,
    index: wholeNumber('n', index, { least: 0, most: mostIndex }),
    secret,
    relayed,
  };
}

function relayedOf([swapId = '', leg = '', secret = '']: readonly string[]): Relayed {
  if (leg !== 'a' && leg !== 'b') throw new Misused(`a leg is a or b, not "${leg}"`);
  return [swapId, leg, secret];
}

/** Loaded by whoever signs: it takes many times as long as what only reads the file. */
const wallets = () => import('./purse.ts');

async function main({ command, file, place, index, secret, relayed }: Asked): Promise<void> {
  switch (command) {
    case 'join':
      return (await wallets()).join(file, place);
    case 'sign':
      return (await wallets()).sign(file, place, index, secret);
    case 'secret':
      return printSecret();
    case 'relay':
      if (relayed !== null) await (await wallets()).relay(file, place, relayed);
      return;
    case 'show': {
      const purse = JSON.parse(readFileSync(file, 'utf8')) as Purse;
      const value = (purse as Readonly<Record<string, string>>)[place];
      if (value === undefined) throw new Error(`there is no "${place}" in ${file}`);
      console.log(value);
    }
  }
}

main(understood({ usage, understand })).catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exit(1);
});
