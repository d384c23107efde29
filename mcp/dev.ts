// `--dev`: everything that a first trade takes on the dev network of this machine. Play money only:
// its words lie in the clear.

import { join } from 'node:path';
import { Failure } from '../cli/failures.ts';
import type { Cli } from '../cli/io.ts';
import { placesOf, readUpTo, writePrivate } from '../cli/places.ts';
import { readProfile } from '../cli/profile.ts';
import { runParley } from '../cli/run.ts';

type Wanted = { readonly control: string | undefined; readonly market: string | undefined };

/** Enough for play, in whole coins. */
const devLimits = {
  bitcoin: ['0.1', '1'],
  evm: ['1', '20'],
  tron: ['10000', '100000'],
  solana: ['50', '500'],
  token: ['10000', '100000'],
} as const;

/** Makes what is missing, and resolves to the file of limits. */
export async function prepareDev(cli: Cli, { control, market }: Wanted): Promise<string> {
  const places = placesOf(cli.env, 'dev');
  const run = async (...args: string[]) => {
    const said: string[] = [];
    const io = {
      ...cli,
      out: (text: string) => cli.err(text),
      err: (text: string) => void said.push(text),
    };
    const status = await runParley([...args, '--profile', 'dev', '--yes'], io);
    if (status !== 0) throw new Failure('needs_you', 'dev', said.join('').trim());
  };
  if ((await readUpTo(places.profileFile)) === null) {
    const at = [
      ...(control === undefined ? [] : ['--control', control]),
      ...(market === undefined ? [] : ['--market', market]),
    ];
    await run('init', '--dev', ...at);
  }
  if ((await readUpTo(places.account)) === null) {
    await run('login', '--key-file', join(places.data, 'dev.words'), '--new');
    await run('faucet');
  }
  const limits = join(places.data, 'limits.json');
  if ((await readUpTo(limits)) === null) {
    const profile = readProfile((await readUpTo(places.profileFile)) ?? '', places.profileFile);
    const names = Object.entries(profile.chains).flatMap(([chain, { family, tokens }]) => [
      [chain, devLimits[family]] as const,
      ...Object.keys(tokens).map((symbol) => [`${chain}:${symbol}`, devLimits.token] as const),
    ]);
    const assets = Object.fromEntries(
      names.map(([name, [perSwap, perDay]]) => [name, { perSwap, perDay }]),
    );
    const pairs = names.flatMap(([one], at) => names.slice(at + 1).map(([other]) => [one, other]));
    await writePrivate(limits, `${JSON.stringify({ assets, pairs }, null, 2)}\n`);
  }
  return limits;
}
