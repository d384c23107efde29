// More of what goes wrong, drawn by itself so that every older seed keeps its own draws: nodes that
// are well but for the time they tell or the money they show, in seeds without any other fault too,
// and a witness against liars that fails for less than a run waits for it.

import { type Chance, chanceOf } from '../chance.ts';
import { later, nowMs } from './time.ts';
import { count, type Lie, legNames, type Person, type SimNode, tell, type World } from './world.ts';

/** Far from every seed that is run. */
const apart = 1e12;
const share = 0.15;
/** With the longest pause between two looks it stays below the ten minutes of `packages/sdk/evidence`. */
const witnessFailsMs = 180_000;

export function planMore(world: World): void {
  const chance = chanceOf(world.seed + apart);
  for (const person of world.people) {
    if (person.kind === 'rival') continue;
    if (world.calm && chance.hits(0.5)) lieFromTheStart(world, person, chance);
    if (world.calm || !chance.hits(share)) continue;
    if (person.nodes[person.gets].length === 1) tellsTimeAlone(world, person);
    failWitnesses(world, person, chance);
  }
  buildInVain(world, chanceOf(world.seed + 2 * apart));
}

/** From when a secret is told one of several nodes builds what no block takes. */
function buildInVain(world: World, chance: Chance): void {
  for (const person of world.people) {
    const nodes = person.nodes[person.gets];
    const isFor = chance.hits(share) && person.kind !== 'rival' && nodes.length > 1;
    // On EVM a node names no block and no coin.
    if (!isFor || world.chains[person.gets].family === 'evm') continue;
    world.after.told.push(() => {
      const liar = nodes.find(({ isSteady }) => !isSteady);
      if (liar !== undefined && !world.isHealed) begin(world, liar, 'vain');
    });
  }
}

function lieFromTheStart(world: World, person: Person, chance: Chance): void {
  const nodes = legNames.flatMap((leg) => person.nodes[leg]);
  const liars = nodes.filter(({ isSteady }) => !isSteady);
  if (liars.length === 0) return;
  begin(world, chance.pick(liars), chance.pick(['early', 'hides'] as const));
  count(world, 'calm but for a liar');
}

/** The only node of the chain that pays, once the secret is told: its time would end the claim. */
function tellsTimeAlone(world: World, person: Person): void {
  const [node] = person.nodes[person.gets];
  world.after.told.push(() => {
    if (node !== undefined && !world.isHealed) begin(world, node, 'early');
  });
}

function begin(world: World, node: SimNode, lie: Lie): void {
  if (node.mode.is !== 'well') return;
  node.mode = { is: 'lying', lie };
  world.news += 1;
  count(world, `node lies: ${lie}`);
  tell(world, `${node.name} lies (${lie})`);
}

/** A clock that is set makes a silence longer than it was. */
function failWitnesses(world: World, person: Person, chance: Chance): void {
  if (person.isClockSet) return;
  for (const node of legNames.flatMap((leg) => person.nodes[leg])) {
    // A slow node's failure stands until its next word.
    if (!node.isSteady || node.beside.length === 1 || node.mode.is === 'slow') continue;
    for (const moment of ['a', 'b', 'told'] as const) {
      const wait = chance.int(0, 900_000);
      const ms = chance.int(20_000, witnessFailsMs);
      world.after[moment].push(() => {
        later(wait, () => {
          node.failsUntilMs = nowMs() + ms;
          tell(world, `${node.name} fails for ${Math.round(ms / 1_000)} s`);
        });
      });
    }
  }
}
