// One row of the matrix: a request or a pass. A good run says how many awaits it has; then it is
// run in a copy of the same world with the process ended before and after each of them, another
// process goes on, the client does what the documentation tells it, and the end must be the same.

import { setTimeout as sleep } from 'node:timers/promises';
import type { Chance } from '../chance.ts';
import { unlessDead } from '../process.ts';
import type { Doom } from '../wire.ts';
import { endMachine, openWorld, restart, seal, type World } from './copies.ts';
import { quiet } from './machine.ts';
import {
  differences,
  idsIn,
  openSecrets,
  type Reading,
  rawTables,
  snapshotOf,
  twiceOnChain,
} from './snapshot.ts';
import type { Answer } from './trade.ts';

/** The events after the world is prepared. */
export type Play = {
  /** The work in which the process is ended. `tries`: how often it was begun before. */
  readonly act: (world: World, tries: number) => Promise<Answer | null>;
  /** Whether the client asks the same again after its answer, and gets it again. */
  readonly isKeyed?: boolean;
  /** The part of the answer that is the same however often the client began anew. */
  readonly answer?: (answer: Answer) => unknown;
  /** The later events; no process dies in them. */
  readonly after: (world: World, answer: Answer | null) => Promise<void>;
  /** Further conditions that must hold; the broken ones, in words. */
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
export type Result = {
  readonly name: string;
  readonly awaits: number;
  readonly kills: number;
  /** `where`: `nowhere` is unharmed. */
  readonly failures: readonly { readonly where: string; readonly why: readonly string[] }[];
};

/** Which kills are tried, at awaits of these names; `isEnough`: one failure tells enough. */
export type Choose = {
  readonly choose: (all: readonly Kill[], awaits: readonly string[]) => readonly Kill[];
  readonly isEnough: boolean;
};

/** Where more hangs on which side of it a process ends. */
const delicate = /commit|send$|broadcast|use_nonce/i;

/** At most so many, drawn; the first of them at an await on which more hangs. */
export const some =
  (chance: Chance, most: number): Choose['choose'] =>
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

/** Ends it at the chosen ones of its awaits; `wrongAt` says what is wrong after that. */
export async function killAt(
  name: string,
  awaits: readonly string[],
  { choose, isEnough }: Choose,
  wrongAt: (kill: Kill) => Promise<readonly string[]>,
): Promise<Result> {
  const kills = awaits.flatMap((_, at): Kill[] => [
    { k: at + 1, when: 'before' },
    { k: at + 1, when: 'after' },
  ]);
  const chosen = choose(kills, awaits);
  const failures: Result['failures'][number][] = [];
  for (const kill of chosen) {
    const why = await wrongAt(kill).catch((error: Error) => [error.stack ?? error.message]);
    const statement = awaits[kill.k - 1]?.trim().slice(0, 40).replaceAll('\n', ' ');
    const where = `${kill.when} ${statement} (${kill.k} of ${awaits.length})`;
    if (why.length > 0) failures.push({ where, why });
    if (isEnough && failures.length > 0) break;
  }
  return { name, awaits: awaits.length, kills: chosen.length, failures };
}

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

async function run(world: World, known: ReadonlySet<string>, play: Play) {
  const { market } = world;
  const problems: string[] = [];
  const first = await unlessDead(market, () => play.act(world, 0));
  if (first !== 'dead') await quiet(market);
  const passed = [...market.passed];
  if (market.wire.isDead()) problems.push(...(await openSecrets(world)));
  market.wire.spare();
  market.wire.kill('at the end');
  restart(world);
  const answer = first === 'dead' || mayPass(first) ? await untilAnswered(world, play) : first;
  if (answer !== null && answer.status >= 500) problems.push(`answered ${answer.status}`);
  if (play.isKeyed) {
    const [again, was] = [await play.act(world, 0), answer].map((each) => JSON.stringify(each));
    if (again !== was) problems.push(`asked again: ${again}, not ${was}`);
  }
  await play.after(world, answer);
  problems.push(...((await play.right?.(world, answer)) ?? []));
  problems.push(...(await openSecrets(world)), ...twiceOnChain(world));
  problems.push(...world.receiver.complaints);
  const snapshot = await snapshotOf(world, known, play.reading ?? {});
  return { snapshot, answer: shown(play, answer), passed, fell: market.fell(), problems };
}

/** The answer without what was drawn for it. */
function shown(play: Play, answer: Answer | null): string {
  const kept = answer === null || play.answer === undefined ? answer : play.answer(answer);
  return JSON.stringify(kept)
    .replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, '#')
    .replace(/whsec_[\w-]+/g, '(secret)');
}

export async function play(row: Row, choose: Choose): Promise<Result> {
  const world = await openWorld();
  const play = await row.prepare(world);
  await quiet(world.market);
  const known = idsIn(await rawTables(world));
  const { copy, drop } = await seal(world);
  const attempt = async (doom?: Doom) => {
    const own = await copy(doom);
    return run(own, known, play).finally(() => endMachine(own));
  };
  try {
    const good = await attempt();
    if (good.problems.length > 0) {
      const failures = [{ where: 'nowhere', why: good.problems }];
      return { name: row.name, awaits: good.passed.length, kills: 0, failures };
    }
    return await killAt(row.name, good.passed, choose, async ({ k, when }) => {
      const ended = await attempt({ kind: 'crash', left: k, when, at: null });
      const isSame = ended.answer === good.answer;
      return [
        ...ended.problems,
        ...differences(good.snapshot, ended.snapshot),
        ...(ended.fell === null ? ['that await never came'] : []),
        ...(isSame ? [] : [`answered ${ended.answer}`, `  not ${good.answer}`]),
      ];
    });
  } finally {
    await drop();
  }
}
