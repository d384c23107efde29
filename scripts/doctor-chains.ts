// Which chains the doctor looks at: those of the settings, else those of the dev network of a
// market that runs. That is asked what it is made of, never how its nodes are: one that hangs is
// for the doctor to name.

import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { devnetClient } from '../devnet/client.ts';
import { type Finding, unseen } from '../server/doctor/findings.ts';
import type { ChainSettings } from '../server/settings/chains.ts';
import type { Settings } from '../server/settings/config.ts';
import { devChains } from '../server/start/dev-network.ts';

export type Found<T> = { readonly value: T; readonly missing: readonly Finding[] };

export type Chains = { readonly chains: readonly ChainSettings[]; readonly offsetMs: number };

/** Its control server answers out of its memory. */
const devMs = 10_000;

export async function findChains(
  { chains, home }: Pick<Settings, 'chains' | 'home'>,
  limitMs = devMs,
): Promise<Found<Chains>> {
  if (chains !== null) return { value: { chains, offsetMs: 0 }, missing: [] };
  const missing = (says: string, todo: string): Found<Chains> => ({
    value: { chains: [], offsetMs: 0 },
    missing: [unseen('no_chains', 'the chains', `${says}, and PARLEY_CHAINS is not set`, todo, {})],
  });
  const where = `PARLEY_HOME ${resolve(home)}`;
  const dev = await controlOf(home);
  if (dev === null) {
    const todo = 'start the market, or set PARLEY_CHAINS as for it';
    return missing(`no dev network runs in ${where}`, todo);
  }
  try {
    const known = await devnetClient(dev).chains(AbortSignal.timeout(limitMs));
    const offsetMs = known.clockOffsetSeconds * 1_000;
    return { value: { chains: devChains(known), offsetMs }, missing: [] };
  } catch (error) {
    const says = `the dev network of the market in ${where} did not say its chains at ${dev}`;
    const todo = 'see whether that market still runs and answers, or start it again';
    return missing(`${says} (${whyOf(error, limitMs)})`, todo);
  }
}

/** Where the market that announced itself in this home has its dev network; null where none has. */
async function controlOf(home: string): Promise<string | null> {
  try {
    const ready = JSON.parse(await readFile(join(home, 'ready.json'), 'utf8')) as { dev?: unknown };
    return typeof ready.dev === 'string' ? ready.dev : null;
  } catch {
    return null;
  }
}

function whyOf(error: unknown, limitMs: number): string {
  if (!(error instanceof Error)) return 'no answer';
  if (error.name === 'TimeoutError') return `no answer within ${limitMs} ms`;
  const { code } = (error.cause ?? error) as { code?: unknown };
  return typeof code === 'string' ? code : error.message;
}
