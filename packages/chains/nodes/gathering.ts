// Questions of one turn of the event loop leave in one batch, each of them once; a question that it
// leaves out is asked alone.

import { type Resolvers, withResolvers } from '@parley/core/engines.ts';
import type { Asked, Rpc } from './rpc.ts';
import { inNextTurn } from './turn.ts';

type Waiting = Asked & Resolvers<unknown>;

const gatherings = new WeakMap<Rpc, WeakMap<AbortSignal, Rpc>>();

/**
 * The same client for one request: calls made in one turn, with its signal, go together. A client
 * that gathers already is given back, so that the parts of a request share its turn.
 */
export function gathering(rpc: Rpc, signal: AbortSignal): Rpc {
  if (gathered.has(rpc)) return rpc;
  const own = gatherings.get(rpc) ?? new WeakMap<AbortSignal, Rpc>();
  gatherings.set(rpc, own);
  const made = own.get(signal) ?? gatheringFor(rpc, signal);
  own.set(signal, made);
  gatherings.set(made, own);
  return made;
}

const gathered = new WeakSet<Rpc>();

/** The calls of this client go to one that gathers them: they share the turn of all others. */
export function noteGathered(rpc: Rpc): void {
  gathered.add(rpc);
}

function gatheringFor(rpc: Rpc, signal: AbortSignal): Rpc {
  let waiting = new Map<string, Waiting>();
  const alone = ({ method, params, own, resolve }: Waiting) =>
    resolve(rpc.call(method, params, signal, own));
  const send = async () => {
    const asked = [...waiting.values()];
    waiting = new Map();
    const answers = asked.length > 1 ? await rpc.batch(asked, signal) : [];
    for (const [at, each] of asked.entries()) {
      const answer = answers[at] ?? null;
      if (answer === null) alone(each);
      else if ('failure' in answer) each.reject(answer.failure);
      else each.resolve(answer.result);
    }
  };
  return {
    ...rpc,
    call: (method, params, until, own = {}) => {
      if (until !== signal) return rpc.call(method, params, until, own);
      const key = JSON.stringify([method, params, own]);
      const same = waiting.get(key);
      if (same !== undefined) return same.promise;
      const each = { method, params, own, ...withResolvers<unknown>() };
      waiting.set(key, each);
      // When all that goes on without an answer has asked.
      if (waiting.size === 1) inNextTurn(() => void send());
      return each.promise;
    },
  };
}

/** Asked for already: a failure is told to who waits for it, and is no matter where nobody does. */
export function begun<T>(work: Promise<T>): Promise<T> {
  work.catch(() => {});
  return work;
}
