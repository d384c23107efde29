// One connection to the database of a folder, for a few statements of its superuser.

import pg from 'pg';

export async function withClient<Result>(
  config: pg.ClientConfig,
  work: (client: pg.Client) => Promise<Result>,
): Promise<Result> {
  const client = new pg.Client({ connectionTimeoutMillis: 10_000, ...config });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}
