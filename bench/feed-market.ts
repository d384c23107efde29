// The market as the feed is measured on it, in a process of its own.

import type { AddressInfo } from 'node:net';
import { connect, type Database, databaseLimits } from '../server/db/database.ts';
import { buildApp } from '../server/edge/app.ts';
import { testDeps } from '../test/support/deps.ts';
import { answerQuestions } from './children.ts';

export type FeedMarketQuestion =
  | { readonly url: string }
  /** When RFQs were committed since it was asked last, in microseconds of this machine. */
  | { readonly commits: true }
  | { readonly memory: true };

let commits: number[] = [];

async function answer(question: FeedMarketQuestion): Promise<unknown> {
  if ('url' in question) {
    const real = connect(question.url, databaseLimits);
    const transaction: Database['transaction'] = async (work) => {
      const result = await real.transaction(work);
      commits.push(Number(process.hrtime.bigint() / 1_000n));
      return result;
    };
    const db = { ...real, transaction };
    const app = await buildApp(testDeps({ db }));
    await app.listen({ host: '127.0.0.1', port: 0 });
    return { port: (app.server.address() as AddressInfo).port };
  }
  if ('commits' in question) {
    const given = commits;
    commits = [];
    return given;
  }
  globalThis.gc?.();
  return process.memoryUsage().rss;
}

answerQuestions(answer);
