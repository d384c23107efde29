// The part of the market that delivers, in a process of its own.

import tls from 'node:tls';
import { connect, databaseLimits } from '../server/db/database.ts';
import { createDelivering, type Delivering } from '../server/webhooks/deliver.ts';
import { testDeps } from '../test/support/deps.ts';
import { answerQuestions } from './children.ts';

export type MarketQuestion =
  | { readonly url: string; readonly ca: string; readonly encryptionKey: string }
  | { readonly run: boolean };

let begin: (() => Delivering) | undefined;
let delivering: Delivering | undefined;

async function answer(question: MarketQuestion): Promise<null> {
  if ('url' in question) {
    const { url, ca, encryptionKey } = question;
    tls.setDefaultCACertificates([...tls.getCACertificates('default'), ca]);
    const settings = { encryptionKey, webhookNetworks: ['127.0.0.1'] };
    const deps = testDeps({ db: connect(url, databaseLimits), settings });
    begin = () => createDelivering(deps);
    return null;
  }
  if (question.run) {
    delivering = begin?.();
    delivering?.start();
  } else {
    await delivering?.stop();
  }
  return null;
}

answerQuestions(answer);
