// A connection of its own that is told what others notify. PostgreSQL keeps what was notified for
// nobody: whoever loses this connection has missed what came meanwhile.

import pg from 'pg';
import type { Statement, Tx } from './database.ts';

export type Ears = {
  heard(channel: string, payload: string): void;
  /** Once, when the connection is gone without `end`. */
  lost(): void;
};

export type Listener = Tx & { end(): void };

/** Statements of it have a time limit. It does not keep the process from ending. */
export async function openListener(config: pg.ClientConfig, ears: Ears): Promise<Listener> {
  const client = new pg.Client({ ...config, keepAlive: true });
  let over = false;
  const end = () => {
    if (over) return;
    over = true;
    client.end().catch(() => {});
  };
  const lose = () => {
    if (over) return;
    end();
    ears.lost();
  };
  client.on('notification', ({ channel, payload = '' }) => ears.heard(channel, payload));
  try {
    await client.connect();
  } catch (error) {
    end();
    throw error;
  }
  client.on('error', lose);
  client.on('end', lose);
  (client as pg.Client & { unref(): void }).unref();
  return {
    rows: async <Row>({ name, text, values }: Statement) => {
      const result = await client.query({ name, text, values: values as unknown[] });
      return result.rows as Row[];
    },
    end,
  };
}

/** An answer proves that the connection is alive. */
export async function proveListener(listener: Listener): Promise<void> {
  await listener.rows({ name: 'prove_listener', text: 'select 1', values: [] });
}
