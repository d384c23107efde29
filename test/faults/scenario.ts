// One stage a process of fault tests, and scenarios on it, one after the other. `npm test` runs the
// decisive ones, PARLEY_FAULTS=all (`npm run soak -- faults`) all of them, and any other pattern
// those whose names fit it.

import { after, before, test } from 'node:test';
import { endSides } from './deals.ts';
import { type Customer, newCustomer } from './people.ts';
import { type Stage, startStage } from './stage.ts';

export type Scene = { readonly stage: Stage; readonly pair: readonly [Customer, Customer] };
/** What happened meanwhile, and how the swap ended. */
export type Story = { readonly meanwhile: string; readonly end: string };

const limits = { timeout: 235_000 };

const wanted = process.env.PARLEY_FAULTS ?? '';
const isWanted = (name: string, decisive: boolean): boolean =>
  wanted === '' ? decisive : wanted === 'all' || new RegExp(wanted).test(name);

/** What each of a pair is given lasts for as many swaps, and fees. */
const swapsEach = 8;

type Opened = {
  /** A file uses it from now on: it is open until as many have closed it. */
  use(): void;
  scene(): Promise<Scene>;
  open(): Promise<Stage>;
  close(): Promise<void>;
};

/** By what the market on it is started with: files that share a process share a stage. */
const known = new Map<string, Opened>();

function openedWith(env: Readonly<Record<string, string>>): Opened {
  let users = 0;
  let pair: Scene['pair'] | null = null;
  let played = 0;
  let opening: Promise<Stage> | null = null;
  const open = () => {
    opening ??= startStage(env);
    return opening;
  };
  return {
    use: () => {
      users += 1;
    },
    scene: async () => {
      const stage = await open();
      if (pair === null || played % swapsEach === 0) {
        pair = [await newCustomer(stage, 'Ann'), await newCustomer(stage, 'Ben')];
      }
      played += 1;
      return { stage, pair };
    },
    open,
    // Whether each file is a suite of its own, or all are one, depends on how they are loaded.
    close: async () => {
      users -= 1;
      if (users > 0 || opening === null) return;
      const ended = opening;
      opening = null;
      pair = null;
      const stage = await ended.catch(() => null);
      stage?.table.print();
      await stage?.close();
    },
  };
}

export function onStage(env: Readonly<Record<string, string>> = {}) {
  const key = JSON.stringify(env);
  const opened = known.get(key) ?? openedWith(env);
  known.set(key, opened);
  opened.use();
  before(() => opened.open(), limits);
  after(() => opened.close(), limits);

  /** `where` and `fault` name it in the table; its name is the promise. */
  return (
    how: { readonly fault: string; readonly where: string; readonly decisive: boolean },
    name: string,
    work: (scene: Scene) => Promise<Story>,
  ) => {
    if (!isWanted(name, how.decisive)) return;
    test(name, limits, async () => {
      const scene = await opened.scene();
      const { stage } = scene;
      try {
        const story = await work(scene);
        stage.table.add({ fault: how.fault, where: how.where, ...story });
      } catch (error) {
        for (const { market } of stage.servers) {
          process.stderr.write(`${market.log().split('\n').slice(-15).join('\n')}\n`);
        }
        throw error;
      } finally {
        endSides();
        for (const each of [...Object.values(stage.nodes).flat(), stage.database]) each.heal();
        for (const { chain } of [stage.place.bitcoin, stage.place.evm]) {
          await stage.dev.mining(chain, true);
        }
      }
    });
  };
}
