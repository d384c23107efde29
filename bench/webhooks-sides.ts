// The part of the market that delivers webhooks, and a hundred receivers of them as paths of one
// HTTPS server, each in a process of its own.

import type { ServerResponse } from 'node:http';
import tls from 'node:tls';
import { connect, databaseLimits } from '@parley/market/db/database.ts';
import { createDelivering, type Delivering } from '@parley/market/webhooks/deliver.ts';
import { type Receiver, startReceiver } from '@parley/market/webhooks/testing/receiver.ts';
import { testDeps } from '@parley/verify/test/support/deps.ts';
import { answerQuestions } from './children.ts';

/**
 * The delay of each answered event, from its `createdAt` to its arrival; and when they arrived, in
 * milliseconds since the epoch.
 */
export type Heard = {
  readonly answered: number;
  readonly milliseconds: readonly number[];
  readonly arrivals: readonly number[];
};

let begin: (() => Delivering) | undefined;
let delivering: Delivering | undefined;
let receiver: Receiver | undefined;
const hanging: ServerResponse[] = [];
let milliseconds: number[] = [];
let arrivals: number[] = [];

let close = async () => {};

export const answers = {
  close: () => close(),
  connect: (url: string, ca: string, encryptionKey: string) => {
    tls.setDefaultCACertificates([...tls.getCACertificates('default'), ca]);
    const settings = { encryptionKey, webhookNetworks: ['127.0.0.1'] };
    const deps = testDeps({ db: connect(url, databaseLimits), settings });
    begin = () => createDelivering(deps);
    close = () => deps.db.close();
  },
  deliver: async (isOn: boolean) => {
    if (!isOn) return delivering?.stop();
    delivering = begin?.();
    delivering?.start();
  },
  receive: async () => {
    receiver = await startReceiver();
    close = receiver.close;
    return { url: receiver.url, ca: receiver.ca };
  },
  /** From now on these never answer; forgets what came before. */
  slow: (paths: readonly string[]) => receive(new Set(paths)),
  heard: (): Heard => {
    // The bench need not wait for the ten seconds of those that hang.
    for (const each of hanging.splice(0)) each.destroy();
    return { answered: milliseconds.length, milliseconds, arrivals };
  },
};

function receive(slow: ReadonlySet<string>): void {
  milliseconds = [];
  arrivals = [];
  receiver?.answer(({ path, body }, response) => {
    receiver?.received.splice(0);
    if (slow.has(path)) {
      hanging.push(response);
      return;
    }
    const { createdAt } = JSON.parse(body) as { createdAt: string };
    arrivals.push(Date.now());
    milliseconds.push(Date.now() - Date.parse(createdAt));
    response.writeHead(200).end();
  });
}

answerQuestions(answers);
