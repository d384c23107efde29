// `--dev`: everything that a first trade takes on the dev network of this machine. Play money only:
// its words lie in the clear.

import { join } from 'node:path';
import { minted, takeKeyFile } from '@parley/trader/account.ts';
import type { Cli } from '@parley/trader/io.ts';
import type { Keys } from '@parley/trader/keys/words.ts';
import { placesOf, readUpTo, writePrivate } from '@parley/trader/places.ts';
import { readProfile, writeProfile } from '@parley/trader/profile.ts';
import { inSession, keysIn, type Session, unlockedBy } from '@parley/trader/session.ts';
import { type DevNamed, devProfile, giftsOf } from '@parley/trader/setup.ts';

/** Enough for play, in whole coins. */
const devLimits = {
  bitcoin: ['0.1', '1'],
  evm: ['1', '20'],
  tron: ['10000', '100000'],
  solana: ['50', '500'],
  token: ['10000', '100000'],
} as const;

/** Those of the profile, or new words in the clear. */
async function keysOf(cli: Cli, session: Session): Promise<Keys> {
  const { places, profile } = session;
  const named = profile.keyFile ?? places.keystore;
  if ((await readUpTo(named)) !== null) return keysIn(cli, session);
  const file = join(places.data, 'dev.words');
  return takeKeyFile(cli, session, file, (await readUpTo(file)) === null);
}

/** Makes what is missing, and resolves to the file of limits. */
export async function prepareDev(cli: Cli, named: DevNamed): Promise<string> {
  const places = placesOf(cli.env, 'dev');
  if ((await readUpTo(places.profileFile)) === null) {
    const { profile } = await devProfile(cli, named);
    await writePrivate(places.profileFile, writeProfile(profile), { isNew: true });
  }
  if ((await readUpTo(places.account)) === null) {
    await inSession({ ...cli, profile: 'dev' }, async (session) => {
      await minted(session, await unlockedBy(session, await keysOf(cli, session)));
      await giftsOf(session);
    });
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
