// The descriptions of the source tree, as the golden files docs/openapi.json and docs/asyncapi.json
// keep them: they need no database and no chain, because routes only declare.

import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { readSettings } from '../config.ts';
import type { Database } from '../db/database.ts';
import { createMetrics } from '../metrics.ts';
import { buildApp } from './app.ts';
import { describeFeed } from './feed/asyncapi.ts';
import { describeApi } from './openapi.ts';

export async function goldenDescription(): Promise<string> {
  const home = await mkdtemp(join(tmpdir(), 'parley-describe-'));
  const untouched = () => Promise.reject(new Error('describing asks no database'));
  const refused = { rows: untouched, transaction: untouched, pipelined: untouched };
  const db: Database = { ...refused, session: untouched, listen: untouched, close: async () => {} };
  const settings = readSettings({ PARLEY_HOME: home });
  const app = await buildApp({
    settings,
    db,
    now: () => 0,
    randomBytes: (count) => randomBytes(count),
    adapters: new Map(),
    metrics: createMetrics(settings.shortName),
    log: pino({ level: 'silent' }),
  });
  try {
    return `${JSON.stringify(describeApi(app.edge.operations, settings), null, 2)}\n`;
  } finally {
    await app.close();
    await rm(home, { recursive: true, force: true });
  }
}

export function goldenFeed(): string {
  return `${JSON.stringify(describeFeed(readSettings({})), null, 2)}\n`;
}
