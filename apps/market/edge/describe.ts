// The descriptions of the source tree, as the golden files docs/openapi.json,
// docs/openapi-account.json and docs/asyncapi.json keep them: they need no database and no chain,
// because routes only declare.

import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import type { Database } from '../db/database.ts';
import { createMetrics } from '../ports/metrics.ts';
import { readSettings } from '../settings/config.ts';
import { describeAccount } from './account/openapi.ts';
import { buildApp } from './app.ts';
import { describeFeed } from './feed/asyncapi.ts';
import { describeApi } from './openapi.ts';

export type Golden = { readonly api: string; readonly account: string };

/** That of `/v1`, and that of `/account`. */
export async function goldenDescriptions(): Promise<Golden> {
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
    const { operations, accountOperations } = app.edge;
    return {
      api: written(describeApi(operations, settings)),
      account: written(describeAccount(accountOperations, settings)),
    };
  } finally {
    await app.close();
    await rm(home, { recursive: true, force: true });
  }
}

export function goldenFeed(): string {
  return written(describeFeed(readSettings({})));
}

function written(description: object): string {
  return `${JSON.stringify(description, null, 2)}\n`;
}
