// `npm run soak -- planted`: plants one bug of the registry after the other and has its finders
// look for it. A bug that one of them does not find is printed, and the exit status is 1.
//
//   npm run -s node -- verify/test/planted/run.ts                    all of them
//   npm run -s node -- verify/test/planted/run.ts 'gates|live'       those whose names fit
//   npm run -s node -- verify/test/planted/run.ts --by sim           what the simulation is to find
//   npm run -s node -- verify/test/planted/run.ts NAME --search 200  which of so many seeds finds it

import { Misused, parsed, runCommand, wholeNumber } from '@parley/host/command.ts';
import { startCluster } from '../support/cluster.ts';
import { allBugs, type Bug, kinds, type Looked } from './bugs.ts';
import { lookFor } from './finders.ts';

const usage = `usage: npm run soak -- planted [--bug PATTERN] [--by KIND] [--search N]
  --bug     of the names of the bugs, default all
  --by      finders of this kind only: ${kinds.join(', ')}
  --search  the first of so many seeds that finds it, whatever the registry says
Exit status: 0 every finder found its bug, 1 one did not, 2 not understood.`;

/** The limit of seeds that are searched. */
const mostSeeds = 10_000;

function understand(args: string[]) {
  const text = { type: 'string', default: '' } as const;
  const flag = { type: 'boolean', default: false } as const;
  const { values, positionals } = parsed({
    args,
    allowPositionals: true,
    options: { bug: text, by: text, search: { type: 'string' }, help: flag },
  });
  if (values.help) return null;
  const { by, search } = values;
  const [name = values.bug, more] = positionals;
  if (more !== undefined) throw new Misused(`one pattern, and not "${more}" too`);
  if (by !== '' && !kinds.some((each) => each === by)) {
    throw new Misused(`nothing called "${by}" looks for bugs; there are ${kinds.join(', ')}`);
  }
  const like = new RegExp(name);
  const wanted = allBugs()
    .filter((bug) => like.test(bug.name))
    .flatMap((bug) => bug.by.map((finder) => [bug, finder] as const))
    .filter(([, { kind }]) => by === '' || kind === by);
  if (wanted.length === 0) throw new Misused(`no bug is called like "${name}"`);
  const seeds = search === undefined ? 0 : wholeNumber('--search', search, { most: mostSeeds });
  return { wanted, search: seeds };
}

/** The first seed that finds it. */
async function searched(bug: Bug, seeds: number, env: NodeJS.ProcessEnv): Promise<Looked> {
  const kind = bug.by.some((each) => each.kind === 'driver') ? 'driver' : 'sim';
  for (let seed = 1; seed <= seeds; seed += 1) {
    const looked = await lookFor(bug, { kind, what: `${seed}` }, env);
    if (typeof looked === 'object' && 'rule' in looked) return looked;
  }
  return 'well';
}

async function run({
  wanted,
  search,
}: NonNullable<ReturnType<typeof understand>>): Promise<number> {
  const cluster = await startCluster();
  const env = { PARLEY_TEST_DATABASE_URL: cluster.adminUrl };
  let survived = 0;
  try {
    for (const [bug, by] of wanted) {
      const looked = await (search > 0 ? searched(bug, search, env) : lookFor(bug, by, env));
      const isFound = typeof looked === 'object' && 'rule' in looked;
      if (!isFound) survived += 1;
      const said = looked === 'well' ? '' : Object.values(looked).join();
      const who = search > 0 ? '' : `${by.kind} ${by.what}`.trim();
      console.log(`${isFound ? 'found   ' : 'SURVIVED'}  ${bug.name}: ${who}; ${said}`);
    }
  } finally {
    await cluster.stop();
  }
  console.log(`planted: ${wanted.length - survived} found, ${survived} survived`);
  return survived === 0 ? 0 : 1;
}

await runCommand({ usage, understand, run });
