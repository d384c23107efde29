// A row of the matrix on a way of its own, because nothing of the market runs yet: a process that
// brings an empty database to the newest schema is cut off at each message to PostgreSQL, and
// another does it again.

import { migrate } from '../../server/db/migrate.ts';
import { testDatabase } from '../support/database.ts';
import { type PostgresProxy, postgresProxy } from '../support/postgres-proxy.ts';
import type { Choose, Failure, Kill, Result } from './matrix.ts';

/** PostgreSQL's own empty one. */
const nothing = { url: 'postgres:///template0' };
export const migrations = { name: 'start: migrations', of: 'migrate' } as const;

type Emptied = { readonly proxy: PostgresProxy; readonly url: string; schema(): Promise<string> };

async function onEmpty<R>(work: (emptied: Emptied) => Promise<R>): Promise<R> {
  const { db, url, drop } = await testDatabase({ connections: 1, of: nothing });
  const proxy = await postgresProxy(url);
  const schema = async () => {
    const rows = await db.rows<{ line: string }>({
      name: '',
      text: `select concat_ws(' ', table_name, column_name, data_type, is_nullable, column_default)
          as line from information_schema.columns where table_schema = 'public'
        union all select indexdef from pg_indexes where schemaname = 'public'
        union all select conrelid::regclass || ' ' || pg_get_constraintdef(oid) from pg_constraint
          where connamespace = 'public'::regnamespace
        union all select name || ' ' || sha256 from migrations
        order by 1`,
      values: [],
    });
    return rows.map(({ line }) => line).join('\n');
  };
  try {
    return await work({ proxy, url, schema });
  } finally {
    await proxy.close();
    await drop();
  }
}

/** `isEnough`: one failure tells enough. */
export async function playMigrations(choose: Choose, isEnough = false): Promise<Result> {
  const { awaits, schema } = await onEmpty(async (emptied) => {
    await migrate(emptied.proxy.url);
    return { awaits: emptied.proxy.asked(), schema: await emptied.schema() };
  });
  const kills = awaits.flatMap((_, at): Kill[] => [
    { k: at + 1, when: 'before' },
    { k: at + 1, when: 'after' },
  ]);
  const chosen = choose(kills, awaits);
  const failures: Failure[] = [];
  for (const kill of chosen) {
    const why = await cutOff(kill, schema);
    const statement = awaits[kill.k - 1]?.trim().slice(0, 40).replaceAll('\n', ' ');
    const where = `${kill.when} ${statement} (${kill.k} of ${awaits.length})`;
    if (why.length > 0) failures.push({ where, why });
    if (isEnough && failures.length > 0) break;
  }
  return { row: migrations, awaits, kills: chosen.length, failures };
}

function cutOff({ k, when }: Kill, wanted: string): Promise<string[]> {
  return onEmpty(async ({ proxy, url, schema }) => {
    const reached = proxy.stopAt({ nth: k, when }).then(() => 'reached');
    const migrating = migrate(proxy.url).then(
      () => 'done',
      () => 'cut off',
    );
    const first = await Promise.race([reached, migrating]);
    proxy.cut();
    await migrating;
    const again = await migrate(url).then(
      () => [],
      (error: Error) => [`again: ${error.message}`],
    );
    if (again.length > 0) return again;
    return [
      ...(first === 'reached' ? [] : [`that await never came: ${first}`]),
      ...((await schema()) === wanted ? [] : ['another schema']),
    ];
  });
}
