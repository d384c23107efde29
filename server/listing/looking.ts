// The thread that looks at tokens: opens its own clients of the nodes and knows nothing else of the
// market. It is asked for one look at a time, and ended by its parent (apart.ts).

import { parentPort, workerData } from 'node:worker_threads';
import type { ChainAdapter } from '../../chains/adapter.ts';
import { LookRanOut } from '../../chains/tokens/inspection.ts';
import { ParleyError } from '../../core/errors.ts';
import { openOne } from '../ports/chains.ts';
import type { Answer, Asked, Given } from './apart.ts';

const { chains, chainTimeoutMs } = workerData as Given;
const quiet = { info: () => {}, warn: () => {} };
const parts = { now: () => Date.now(), log: quiet };
const adapters = new Map<string, ChainAdapter>();
const port = parentPort;
if (port === null) throw new Error('this is the entry of a thread');

for (const each of chains) {
  adapters.set(each.chain, openOne(each, { chainTimeoutMs }, parts).adapter);
}
// Before any look, whose time it would take otherwise.
if (chains.some(({ family }) => family === 'tron')) await import('../../chains/tron/inspect.ts');

port.on('message', (asked: Asked) => {
  void answerTo(asked).then((answer) => port.postMessage(answer));
});
port.postMessage('ready');

async function answerTo({ chain, token, rules }: Asked): Promise<Answer> {
  // Whoever asked ends the thread where it takes too long.
  const { signal } = new AbortController();
  try {
    const inspection = await adapters.get(chain)?.inspect?.(token, rules, signal);
    if (inspection === undefined) throw new Error(`${chain} has no tokens`);
    return { inspection };
  } catch (error) {
    const { message } = error as Error;
    if (error instanceof LookRanOut) return { ranOut: message };
    if (!(error instanceof ParleyError)) return { fault: error };
    const { code, facts } = error;
    return { refused: { code, message, facts } };
  }
}
