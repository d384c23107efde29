// Commits a second of one small row each, with a notice and without: PostgreSQL lets commits that
// notify go one after the other, each with a write to the disk of its own.

import pg from 'pg';

const atOnce = 16;
const takeMs = 4_000;

export type Commits = { readonly plain: number; readonly notifying: number };

export async function commitsOf(url: string): Promise<Commits> {
  const clients = Array.from({ length: atOnce }, () => new pg.Client({ connectionString: url }));
  await Promise.all(clients.map((each) => each.connect()));
  try {
    await clients[0]?.query('create table soak_commits (at timestamptz)');
    const insert = 'insert into soak_commits values (now())';
    const notify = `with row as (${insert} returning at) select pg_notify('soak', '') from row`;
    await aSecond(clients, insert);
    return { plain: await aSecond(clients, insert), notifying: await aSecond(clients, notify) };
  } finally {
    await Promise.all(clients.map((each) => each.end()));
  }
}

async function aSecond(clients: readonly pg.Client[], text: string): Promise<number> {
  const began = performance.now();
  let commits = 0;
  await Promise.all(
    clients.map(async (each) => {
      while (performance.now() < began + takeMs) {
        await each.query(text);
        commits += 1;
      }
    }),
  );
  return (commits * 1_000) / (performance.now() - began);
}
