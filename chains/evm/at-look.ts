// A chain as one block left it, by its hash (EIP-1898): a node of another fork answers nothing.

import type { Heads } from '../interface/reading.ts';
import type { Answered, Asked, Rpc } from '../nodes/rpc.ts';
import { atBlock } from './node.ts';

const looks = new WeakMap<Heads, Rpc>();

/** `rpc` in whose calls the best block is that of the look. Of one look it is always the same. */
export function atLook(rpc: Rpc, heads: Heads): Rpc {
  const known = looks.get(heads);
  if (known !== undefined) return known;
  const { hash } = heads;
  // Its size is bounded by the 50 escrows of a read and a request's gates.
  const told = new Map<string, Answered>();
  const keyOf = ({ method, params }: Asked) => JSON.stringify([method, params]);
  const keep = (asked: Asked, answer: Answered) => {
    const key = keyOf(asked);
    if (key.includes(hash)) told.set(key, answer);
  };
  const pinned: Rpc = {
    ...rpc,
    call: async (method, params, signal, own = {}) => {
      const asked = named({ method, params, own }, hash);
      const known = told.get(keyOf(asked));
      if (known !== undefined && 'failure' in known) throw known.failure;
      if (known !== undefined) return known.result;
      const result = await rpc.call(asked.method, asked.params, signal, own);
      keep(asked, { result });
      return result;
    },
    batch: async (all, signal) => {
      const asked = all.map((each) => named(each, hash));
      const fresh = new Map(asked.map((each) => [keyOf(each), each]));
      for (const key of told.keys()) fresh.delete(key);
      const left = [...fresh.values()];
      const answers = left.length > 1 ? await rpc.batch(left, signal) : [];
      const given = new Map([...fresh.keys()].map((key, at) => [key, answers[at] ?? null]));
      for (const each of left) {
        const answer = given.get(keyOf(each));
        if (answer) keep(each, answer);
      }
      return asked.map((each) => told.get(keyOf(each)) ?? given.get(keyOf(each)) ?? null);
    },
  };
  looks.set(heads, pinned);
  return pinned;
}

/** A block that is asked for by a tag is whichever it is by then. */
function named({ method, params, own }: Asked, hash: string): Asked {
  if (method === 'eth_getBlockByNumber') return { method, params, own };
  const by = params.map((each) => (each === 'latest' ? atBlock({ hash }) : each));
  return { method, params: by, own };
}
