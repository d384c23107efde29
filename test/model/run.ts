// The model searched further than `npm test` has time for: `npm run soak -- model`. Counts, a line
// for each world, the story of every fault, and a last line with the sums. `--world NAME` searches
// one of all worlds, and `--json` adds a line of JSON.

import { Misused, parsed, runCommand } from '../../scripts/command.ts';
import { refusedRefund } from './moves.ts';
import { loss, search, unsettled } from './search.ts';
import { storyOf } from './story.ts';
import { deep, usual } from './world.ts';

const usage = 'usage: npm run soak -- model, or test/model/run.ts [--world NAME] [--json]';
/** Of the rules; any other is one of the model itself. */
const ofRules: readonly string[] = [loss, unsettled, refusedRefund];

function understand(args: string[]) {
  const flag = { type: 'boolean', default: false } as const;
  const { values } = parsed({
    args,
    options: { world: { type: 'string' }, json: flag, help: flag },
  });
  const { world, json, help } = values;
  if (help) return null;
  const all = [...usual, ...deep];
  // Of several with one name the first has the shortest terms.
  const one = all.find(({ name }) => name === world);
  if (world !== undefined && one === undefined) throw new Misused(`no world is called "${world}"`);
  return { wanted: one === undefined ? all : [one], json };
}

async function run({ wanted, json }: NonNullable<ReturnType<typeof understand>>): Promise<number> {
  const broken: { readonly where: string; readonly rules: readonly string[] }[] = [];
  let states = 0;
  let transitions = 0;
  for (const world of wanted) {
    const began = performance.now();
    const found = search(world);
    states += found.states;
    transitions += found.transitions;
    const seconds = Math.round((performance.now() - began) / 1_000);
    const counts = `${found.states} states, ${found.transitions} transitions`;
    const end = found.fault === null ? 'no fault' : 'FAULT';
    console.log(`${world.name}: ${counts}, ${end} (${seconds} s)`);
    if (found.fault === null) continue;
    console.log(storyOf(world, found));
    const { what } = found.fault;
    if (!ofRules.includes(what)) throw new Error(what);
    broken.push({ where: world.name, rules: [what] });
  }
  const sums = `${wanted.length} worlds, ${states} states, ${transitions} transitions`;
  console.log(`model: ${sums}, ${broken.length} faults`);
  if (json) console.log(JSON.stringify({ broken }));
  return broken.length === 0 ? 0 : 1;
}

await runCommand({ usage, understand, run });
