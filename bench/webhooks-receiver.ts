// A hundred receivers of webhooks in one process, as paths of one HTTPS server: those named slow
// never answer. Counts what it answered, and when each delivery came.

import type { ServerResponse } from 'node:http';
import { type Receiver, startReceiver } from '../server/webhooks/testing/receiver.ts';
import { answerQuestions } from './children.ts';

export type ReceiverQuestion =
  | { readonly start: true }
  /** From now on; forgets what came before. */
  | { readonly slow: readonly string[] }
  | { readonly read: true };
export type Started = { readonly url: string; readonly ca: string };
export type Heard = {
  readonly answered: number;
  /** From the event's `createdAt` to its arrival. */
  readonly milliseconds: readonly number[];
};

let receiver: Receiver | undefined;
const hanging: ServerResponse[] = [];
let answered = 0;
let milliseconds: number[] = [];

async function answer(question: ReceiverQuestion): Promise<Started | Heard | null> {
  if ('start' in question) {
    receiver = await startReceiver();
    return { url: receiver.url, ca: receiver.ca };
  }
  if ('read' in question) {
    // Nobody has to wait for the ten seconds of those that hang.
    for (const each of hanging.splice(0)) each.destroy();
    return { answered, milliseconds };
  }
  const slow = new Set(question.slow);
  answered = 0;
  milliseconds = [];
  receiver?.answer(({ path, body }, response) => {
    receiver?.received.splice(0);
    if (slow.has(path)) {
      hanging.push(response);
      return;
    }
    answered += 1;
    milliseconds.push(
      Date.now() - Date.parse((JSON.parse(body) as { createdAt: string }).createdAt),
    );
    response.writeHead(200).end();
  });
  return null;
}

answerQuestions(answer);
