// The market under load, in a process of its own: the real application with keys, budgets and
// headers on. Its chains have no nodes, which reads and quotes never ask.

import type { AddressInfo } from 'node:net';
import { connect, type Database, databaseLimits } from '@parley/market/db/database.ts';
import { buildApp } from '@parley/market/edge/app.ts';
import { testDeps } from '@parley/verify/test/support/deps.ts';
import { answerQuestions, microseconds, processorMs } from './children.ts';

const commits: number[] = [];
let close = async () => {};

export const answers = {
  serve: async (url: string): Promise<number> => {
    const real = connect(url, databaseLimits);
    const transaction: Database['transaction'] = async (work) => {
      const result = await real.transaction(work);
      commits.push(microseconds());
      return result;
    };
    const settings = { encryptionKey: '11'.repeat(32) };
    const app = await buildApp(testDeps({ db: { ...real, transaction }, settings }));
    close = async () => {
      await app.close();
      await real.close();
    };
    await app.listen({ host: '127.0.0.1', port: 0 });
    return (app.server.address() as AddressInfo).port;
  },
  /** When transactions were committed since it was asked last. */
  commits: () => commits.splice(0),
  processorMs,
  close: () => close(),
  /** Resident bytes; `collected`: after the garbage. */
  memory: (of: 'now' | 'collected'): number => {
    if (of === 'collected') globalThis.gc?.();
    return process.memoryUsage.rss();
  },
};

answerQuestions(answers);
