// The market under load: the real application with keys, budgets and headers on. Its chains have no
// nodes, which reads and quotes never ask.

import type { AddressInfo } from 'node:net';
import { connect, databaseLimits } from '../server/db/database.ts';
import { buildApp } from '../server/edge/app.ts';
import { testDeps } from '../test/support/deps.ts';
import { answerQuestions } from './children.ts';

type Question = { readonly serve: string } | { readonly memory: true };

async function answer(question: Question): Promise<unknown> {
  if ('memory' in question) return { rss: process.memoryUsage.rss() };
  const db = connect(question.serve, databaseLimits);
  const encryptionKey = '11'.repeat(32);
  const app = await buildApp(testDeps({ db, settings: { encryptionKey } }));
  await app.listen({ host: '127.0.0.1', port: 0 });
  return { port: (app.server.address() as AddressInfo).port };
}

answerQuestions(answer);
