// One stage a process of fault tests, and scenarios on it, one after the other. `npm test` runs the
// decisive ones, PARLEY_FAULTS=all (`npm run soak -- faults`) all of them, and any other pattern
// those whose names fit it.

import { after, before, test } from 'node:test';
import { newCustomer } from '../support/customers.ts';
import { endSides, type Pair } from '../support/deals.ts';
import { type Env, type Stage, startStage } from '../support/stage.ts';

export type Scene = { readonly stage: Stage; readonly pair: Pair };
/** In `npm test`, or in the soak alone. */
export type When = 'decisive' | 'soak';

const limits = { timeout: 235_000 };

const wanted = process.env.PARLEY_FAULTS ?? '';
const isWanted = (name: string, when: When): boolean =>
  wanted === '' ? when === 'decisive' : wanted === 'all' || new RegExp(wanted).test(name);

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

function openedWith(env: Env): Opened {
  let users = 0;
  let pair: Pair | null = null;
  let played = 0;
  let opening: Promise<Stage> | null = null;
  const open = () => {
    opening ??= startStage({ env }).then(async (stage) => {
      await stage.startServer();
      return stage;
    });
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
      await (await ended.catch(() => null))?.close();
    },
  };
}

export function onStage(env: Env = {}) {
  const key = JSON.stringify(env);
  const opened = known.get(key) ?? openedWith(env);
  known.set(key, opened);
  opened.use();
  before(() => opened.open(), limits);
  after(() => opened.close(), limits);

  /** Its name is the promise. */
  return (when: When, name: string, work: (scene: Scene) => Promise<void>) => {
    if (!isWanted(name, when)) return;
    test(name, limits, async () => {
      const scene = await opened.scene();
      const { stage } = scene;
      try {
        await work(scene);
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
