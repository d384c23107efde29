// `ops node`: whether a node will do. Every method that our adapter calls is tried, and what a node
// must be and keep. It sends no transaction, changes nothing, and shows no secret of an address.

import { resolve } from 'node:path';
import { Misused, onOneLine, parsed, usualOptions, wholeNumber } from '@parley/host/command.ts';
import { readSettings } from '../settings/config.ts';
import { findChains } from './doctor.ts';
import { lookAtNodes } from './nodes/look.ts';
import { meantBy } from './nodes/meant.ts';
import type { Check } from './nodes/probes.ts';
import { print } from './operator.ts';

const usage = `usage: npm run ops -- node CHAIN [NODE]... [options]
  CHAIN      a chain of PARLEY_CHAINS, or FAMILY:NETWORK where it is in no settings yet:
             bitcoin:mainnet, evm:sepolia, evm:8453, tron:tron-nile, solana:solana-devnet
  NODE       address of a node; without one those that the settings have for CHAIN. Also
             @FILE that holds it, or JSON with the parts of the settings:
             '{"url":"…","solidityUrl":"…","jsonRpcUrl":"…"}', '{"esploraUrl":"…"}'
  --kind     of addresses on Bitcoin: core (default) or esplora
  --no-load  does not look for the limit of calls a second (12 s)
  --call     seconds for a call; default 10
  --time     seconds for all of it; default 300
  --json     a line of JSON for each check, and for the counts
A user and a password stand in an address of Bitcoin Core, a provider's key in its path. Both are
better in @FILE than in a command, which others on this machine see. Exit status: 0 each node will
do, 1 one will not, 2 not understood.`;

type Asked = NonNullable<ReturnType<typeof understand>>;

function understand(args: string[]) {
  const text = { type: 'string' } as const;
  const own = { kind: text, call: text, time: text, 'no-load': { type: 'boolean' } } as const;
  const options = { ...usualOptions, ...own };
  const { values, positionals } = parsed({ args, allowPositionals: true, options });
  const { help, json = false, kind = 'core', call = '10', time = '300' } = values;
  if (help === true) return null;
  const [chain, ...nodes] = positionals;
  if (chain === undefined) throw new Misused('name a chain');
  if (kind !== 'core' && kind !== 'esplora') {
    throw new Misused(`--kind is core or esplora, not "${kind}"`);
  }
  return {
    ...({ chain, nodes, kind, json } as const),
    withLoad: values['no-load'] !== true,
    callMs: 1_000 * wholeNumber('--call', call, { most: 120 }),
    timeMs: 1_000 * wholeNumber('--time', time, { most: 3_600 }),
  };
}

/** The node of the settings, or of the dev network of a market that runs; no node where none is
 * asked for. */
async function servedFor(chain: string) {
  if (chain.includes(':')) return { chains: [], offsetMs: 0 };
  const settings = readSettings(process.env);
  const found = await findChains({ ...settings, home: resolve(settings.home) });
  if ('severity' in found) throw new Misused(`${found.says}: ${found.todo}`);
  return found;
}

async function run({ chain, nodes, kind, json, withLoad, callMs, timeMs }: Asked): Promise<number> {
  const { chains, offsetMs } = await servedFor(chain);
  const meant = meantBy(chain, nodes, chains, kind);
  const signal = AbortSignal.timeout(timeMs);
  const now = () => Date.now() + offsetMs;
  const tell = (each: Check) => print(json ? JSON.stringify(each) : lineOf(each));
  const all = await lookAtNodes(meant, { callMs, withLoad, now, signal }, tell);
  const count = (of: Check['verdict']) => all.filter(({ verdict }) => verdict === of).length;
  const counts = {
    fits: count('fits'),
    weak: count('weak'),
    unseen: count('unseen'),
    lacks: count('lacks'),
  };
  const isCut = signal.aborted;
  print(
    json
      ? JSON.stringify({ nodes: meant.sources.length, ...counts, isCut })
      : lastLine(counts, isCut),
  );
  return counts.lacks > 0 || isCut ? 1 : 0;
}

function lineOf({ node, what, verdict, says, todo, ms }: Check): string {
  const line = `${verdict.padEnd(6)} ${onOneLine(node)}: ${what}: ${says} (${ms} ms)`;
  return verdict === 'fits' || todo === null ? line : `${line}\n       → ${onOneLine(todo)}`;
}

function lastLine(
  { fits, weak, unseen, lacks }: Readonly<Record<Check['verdict'], number>>,
  isCut: boolean,
): string {
  const counts = `fits ${fits}, weak ${weak}, unseen ${unseen}, lacks ${lacks}`;
  if (isCut) return `not known: the time was over; ${counts}`;
  return lacks === 0 ? `it will do: ${counts}` : `it will not do: ${counts}`;
}

export const command = { usage, understand, run };
