// Whether this process lives (`/livez`) and may be given requests (`/readyz`). Both need no key,
// cost no budget, and are answered while others are refused. The probes do not depend on a node of
// somebody else: taking this process away would not bring it back.

import { within } from '@parley/host/within.ts';
import type { FastifyInstance } from 'fastify';
import { databaseState } from '../db/doctor.ts';
import { isTooNew, knows, ownMigrations } from '../db/version.ts';
import type { Deps } from '../ports/deps.ts';
import { createMoments } from '../ports/moments.ts';
import { noticesOf } from '../ports/notices.ts';
import { passesOf } from '../ports/passes.ts';

/** However often probes ask, the database is asked once in it. */
export const keptMs = 1_000;
/** The database has so long to answer. */
const databaseMs = 2_000;
/** The limit of names listed for overdue services and missing migrations. */
const mostNamed = 5;

/** `says`: the fault, with its numbers. */
export type Check = { readonly name: string; readonly ok: boolean; readonly says?: string };

export type Health = {
  /** From now on the process is not ready, so that a balancer turns away before it stops. */
  drain(): void;
  /** Every check, whatever the others say. */
  checks(): Promise<readonly Check[]>;
};

type Needs = Pick<Deps, 'db' | 'log'>;

export function createHealth({ db, log }: Needs, limits = { databaseMs, keptMs }): Health {
  let isDraining = false;
  let wasReady = true;
  let asking: Promise<readonly Check[]> | null = null;
  const kept = createMoments<readonly Check[]>(limits.keptMs, 1);

  /** One question at a time, however long the database takes over it. */
  const askDatabase = () => {
    asking ??= ofDatabase(db).finally(() => {
      asking = null;
    });
    return asking;
  };
  const read = async () => {
    const found = await within(limits.databaseMs, askDatabase(), null);
    const checks = [...(found ?? silent(limits.databaseMs)), ofPasses(db)];
    const isReady = checks.every((each) => each.ok);
    if (isReady !== wasReady) {
      wasReady = isReady;
      if (isReady) log.info('this process is ready again');
      else log.warn({ checks: checks.filter((each) => !each.ok) }, 'this process is not ready');
    }
    return checks;
  };
  return {
    drain: () => {
      isDraining = true;
    },
    checks: async () => {
      const serving: Check = isDraining
        ? { name: 'serving', ok: false, says: 'the process is stopping' }
        : { name: 'serving', ok: true };
      // A stop waits for nobody.
      return isDraining ? [serving] : [serving, ...(await kept.of('', read))];
    },
  };
}

export function registerHealth(app: FastifyInstance, health: Health): void {
  const config = { isProbe: true };
  const json = 'application/json; charset=utf-8';
  app.get('/livez', { config }, (_request, reply) => reply.type(json).send('{"live":true}'));
  app.get('/readyz', { config }, async (_request, reply) => {
    const checks = await health.checks();
    const ready = checks.every((each) => each.ok);
    return reply
      .code(ready ? 200 : 503)
      .type(json)
      .send(JSON.stringify({ ready, checks }));
  });
}

async function ofDatabase(db: Deps['db']): Promise<readonly Check[]> {
  // Not through the pool: where requests wait for its connections each process would call itself
  // unready at once, and nobody would be left to serve them.
  const own = noticesOf(db).current();
  const byPool = () => databaseState(db).catch(() => null);
  const state = await (own === null ? byPool() : databaseState(own).catch(byPool));
  if (state === null) return unknown('it does not answer');
  const { migrations, compatibleFrom, isStandby } = state;
  const missing = ownMigrations.filter((each) => !migrations.includes(each));
  const database: Check = isStandby
    ? { name: 'database', ok: false, says: 'it is a standby, and takes no writes' }
    : { name: 'database', ok: true };
  // Those of a later version are welcome, unless they took away what this one needs.
  const tooNew = isTooNew(compatibleFrom);
  const says = `this version knows ${knows}, and ${compatibleFrom} is needed`;
  const known = tooNew
    ? { name: 'migrations', ok: false, says }
    : checkOf('migrations', missing, 'missing');
  return [database, known];
}

function ofPasses(db: Deps['db']): Check {
  const late = passesOf(db).late();
  const told = late.map(({ service, byMs }) => `${service} by ${Math.ceil(byMs / 1_000)} s`);
  return checkOf('passes', told, 'late');
}

function checkOf(name: string, wrong: readonly string[], word: string): Check {
  if (wrong.length === 0) return { name, ok: true };
  const more = wrong.length > mostNamed ? ` and ${wrong.length - mostNamed} more` : '';
  return { name, ok: false, says: `${word}: ${wrong.slice(0, mostNamed).join(', ')}${more}` };
}

const silent = (ms: number) => unknown(`no answer within ${ms} ms`);

const unknown = (says: string): readonly Check[] => [
  { name: 'database', ok: false, says },
  { name: 'migrations', ok: false, says: 'not known without the database' },
];
