// One row of the matrix: a request or a pass. A good run says how many awaits it has; then it is
// run in a copy of the same world with the process ended before and after each of them, another
// process goes on, the client does what the documentation tells it, and the end must be the same.

import { setTimeout as sleep } from 'node:timers/promises';
import type { Chance } from '../sim/chance.ts';
import { unlessDead } from '../sim/process.ts';
import type { Doom } from '../sim/wire.ts';
import { quiet } from './machine.ts';
import {
  differences,
  idsIn,
  openSecrets,
  type Reading,
  rawTables,
  type Snapshot,
  snapshotOf,
  twiceOnChain,
} from './snapshot.ts';
import type { Answer } from './trade.ts';
import { endMachine, openWorld, type Prepared, restart, seal, type World } from './world.ts';

/** What happens after the world is prepared. */
export type Play = {
  /** What the process is ended in. `tries`: how often it was begun before. */
  readonly act: (world: World, tries: number) => Promise<Answer | null>;
  /** Whether the client asks the same again after its answer, and gets it again. */
  readonly isKeyed?: boolean;
  /** What of the answer is the same however often the client began anew. */
  readonly answer?: (answer: Answer) => unknown;
  /** What comes later; nobody dies in it. */
  readonly after: (world: World, answer: Answer | null) => Promise<void>;
  /** What else must hold; what does not, in words. */
  readonly right?: (world: World, answer: Answer | null) => Promise<readonly string[]>;
  readonly reading?: Reading;
};

export type Row = {
  /** Unique. */
  readonly name: string;
  /** The route or pass that it is a row of. */
  readonly of: string;
  readonly prepare: (world: World) => Promise<Play>;
};

export type Kill = { readonly k: number; readonly when: 'before' | 'after' };
export type Failure = {
  /** `nowhere`: unharmed. */
  readonly where: string;
  readonly why: readonly string[];
};
export type Result = {
  readonly row: Pick<Row, 'name' | 'of'>;
  readonly awaits: readonly string[];
  readonly kills: number;
  readonly failures: readonly Failure[];
};

type Ended = {
  readonly snapshot: Snapshot;
  readonly answer: Answer | null;
  readonly passed: readonly string[];
  readonly fell: string | null;
  readonly problems: readonly string[];
};

/** More than anything needs: a client gives up some time. */
const mostTries = 6;

const mayPass = (answer: Answer | null): boolean =>
  answer !== null && (answer.code === 'still_running' || [503, 504].includes(answer.status));

/** The client without an answer asks again until it has one. */
async function untilAnswered(world: World, { act }: Play): Promise<Answer | null> {
  for (let tries = 1; ; tries += 1) {
    const answer = await act(world, tries);
    if (!mayPass(answer) || tries === mostTries) return answer;
    await sleep(20);
  }
}

async function run(world: World, known: ReadonlySet<string>, play: Play): Promise<Ended> {
  const { market } = world;
  const problems: string[] = [];
  const first = await unlessDead(market, () => play.act(world, 0));
  if (first !== 'dead') await quiet(market);
  const passed = [...market.passed];
  const isDead = market.wire.isDead();
  if (isDead) problems.push(...(await openSecrets(world)));
  market.wire.spare();
  market.wire.kill('at the end');
  restart(world);
  const answer = first === 'dead' || mayPass(first) ? await untilAnswered(world, play) : first;
  if (answer !== null && answer.status >= 500) problems.push(`answered ${answer.status}`);
  if (play.isKeyed) {
    const again = await play.act(world, 0);
    const isSame = JSON.stringify(again) === JSON.stringify(answer);
    if (!isSame)
      problems.push(`asked again: ${JSON.stringify(again)}, not ${JSON.stringify(answer)}`);
  }
  await play.after(world, answer);
  problems.push(...((await play.right?.(world, answer)) ?? []));
  problems.push(
    ...(await openSecrets(world)),
    ...twiceOnChain(world),
    ...world.receiver.complaints,
  );
  const snapshot = await snapshotOf(world, known, play.reading ?? {});
  return { snapshot, answer, passed, fell: market.fell(), problems };
}

/** The answer without what was drawn for it. */
function shown(play: Play, answer: Answer | null): string {
  const kept = answer === null || play.answer === undefined ? answer : play.answer(answer);
  return JSON.stringify(kept)
    .replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, '#')
    .replace(/whsec_[\w-]+/g, '(secret)');
}

type Opened = {
  readonly play: Play;
  readonly prepared: Prepared;
  readonly known: ReadonlySet<string>;
};

async function open(row: Row): Promise<Opened> {
  const world = await openWorld();
  const play = await row.prepare(world);
  await quiet(world.market);
  const known = idsIn(await rawTables(world));
  return { play, known, prepared: await seal(world) };
}

async function attempt({ play, prepared, known }: Opened, doom?: Doom): Promise<Ended> {
  const world = await prepared.copy(doom);
  try {
    return await run(world, known, play);
  } finally {
    await endMachine(world);
  }
}

/** Which of the kills are tried, at awaits of these names. */
export type Choose = (all: readonly Kill[], awaits: readonly string[]) => readonly Kill[];

export const all: Choose = (kills) => kills;

/** Where more hangs on which side of it a process ends. */
const delicate = /commit|send$|broadcast|use_nonce/i;

/** At most so many, drawn; the first of them at an await on which more hangs. */
export const some =
  (chance: Chance, most: number): Choose =>
  (kills, awaits) => {
    const isDelicate = ({ k }: Kill) => delicate.test(awaits[k - 1] ?? '');
    const first = kills.filter(isDelicate);
    const chosen = first.length > 0 && most > 0 ? [chance.pick(first)] : [];
    const left = kills.filter((each) => !chosen.includes(each));
    while (chosen.length < most && left.length > 0) {
      chosen.push(...left.splice(chance.int(0, left.length - 1), 1));
    }
    return chosen;
  };

/** `isEnough`: one failure tells enough. */
export async function play(row: Row, choose: Choose, isEnough = false): Promise<Result> {
  const opened = await open(row);
  try {
    const good = await attempt(opened);
    const awaits = good.passed;
    if (good.problems.length > 0) {
      return { row, awaits, kills: 0, failures: [{ where: 'nowhere', why: good.problems }] };
    }
    const kills = awaits.flatMap((_, at): Kill[] => [
      { k: at + 1, when: 'before' },
      { k: at + 1, when: 'after' },
    ]);
    const chosen = choose(kills, awaits);
    const failures: Failure[] = [];
    for (const kill of chosen) {
      const failure = await tryKill(opened, good, kill);
      if (failure !== null) failures.push(failure);
      if (isEnough && failures.length > 0) break;
    }
    return { row, awaits, kills: chosen.length, failures };
  } finally {
    await opened.prepared.drop();
  }
}

async function tryKill(opened: Opened, good: Ended, kill: Kill): Promise<Failure | null> {
  const { k, when } = kill;
  const where = `${when} ${good.passed[k - 1]} (${k} of ${good.passed.length})`;
  try {
    const ended = await attempt(opened, { kind: 'crash', left: k, when, at: null });
    const why = [...ended.problems, ...differences(good.snapshot, ended.snapshot)];
    if (ended.fell === null) why.push('that await never came');
    const [wanted, given] = [shown(opened.play, good.answer), shown(opened.play, ended.answer)];
    if (wanted !== given) why.push(`answered ${given}`, `  not ${wanted}`);
    return why.length === 0 ? null : { where, why };
  } catch (error) {
    return { where, why: [(error as Error).stack ?? String(error)] };
  }
}

/** Request or pass, awaits, kills, right. */
export function tableOf(results: readonly Result[]): string {
  const width = Math.max(...results.map(({ row }) => row.name.length));
  const line = (name: string, ...numbers: readonly (number | string)[]) =>
    [name.padEnd(width), ...numbers.map((each) => String(each).padStart(7))].join(' ');
  const rows = results.map(({ row, awaits, kills, failures }) =>
    line(row.name, awaits.length, kills, kills - failures.length),
  );
  const sum = (of: (result: Result) => number) =>
    results.reduce((total, each) => total + of(each), 0);
  const total = line(
    'all',
    sum(({ awaits }) => awaits.length),
    sum(({ kills }) => kills),
    sum(({ kills, failures }) => kills - failures.length),
  );
  return [line('request or pass', 'awaits', 'kills', 'right'), ...rows, total].join('\n');
}

export function storyOf({ row, failures }: Result): string {
  return failures
    .slice(0, 4)
    .map(({ where, why }) => `${row.name}: ended ${where}\n    ${why.join('\n    ')}`)
    .join('\n');
}
