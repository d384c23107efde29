// The first frame of a socket: who it is, and what it asks for.

import { overBudgetOf } from '../access.ts';
import type { Caller, Keys } from '../auth.ts';
import { Malformed, parseBody } from '../body.ts';
import { type Budgets, whenKnown } from '../budgets.ts';
import { HttpError } from '../errors.ts';
import { firstFrame } from '../schemas/feed.ts';
import { frameCheck } from '../validate.ts';
import type { Manner } from './frames.ts';
import { closeCodes } from './peer.ts';

export type Greeting = {
  readonly key: string;
  readonly caller: Caller;
  readonly manner: Manner;
  /** What it has seen; null = it begins anew. */
  readonly since: number | null;
};

/** The socket is ended with `code`, where there is one; otherwise it may try again. */
export type Rejected = {
  readonly sentence: string;
  readonly close?: number;
  /** The code of the refusal, for who asked for `resume`. */
  readonly code?: string;
};

type Needs = { readonly keys: Keys; readonly budgets: Budgets };

const check = frameCheck(firstFrame);
const example = 'the first frame must be {"apiKey": "<key>"}';

/** Throws what a look-up throws. */
export async function readGreeting(
  { keys, budgets }: Needs,
  frame: unknown,
  client: string,
): Promise<Greeting | Rejected> {
  const fault = check(frame);
  if (fault !== null) return { sentence: `${example}: ${fault}` };
  const { apiKey: key, resume = false, since = null } = frame as First;
  const coded = (code: string) => (resume ? { code } : {});
  if (since !== null && !resume) return { sentence: '"since" goes with "resume": true only' };
  const caller = await callerOf(keys, key);
  if (caller === null) {
    // As a request with such a key would.
    const spent = await whenKnown(budgets.spendClient(client), (known) => known);
    if (!spent.allowed) {
      const { sentence, code } = overBudgetOf(spent);
      return { sentence, close: closeCodes.tooMany, ...coded(code) };
    }
    return { sentence: 'the API key is invalid, revoked or expired', ...coded('key_invalid') };
  }
  if (!caller.scopes.includes('maker')) {
    const held = caller.scopes.join(', ');
    const sentence = `the feed needs a key with the scope "maker"; this key has ${held}`;
    return { sentence, close: closeCodes.noScope, ...coded('scope_missing') };
  }
  return { key, caller, manner: resume ? 'resume' : 'plain', since };
}

type First = { apiKey: string; resume?: boolean; since?: number };

/** The caller of a key, remembered or looked up. */
export function callerOf(keys: Keys, key: string): Promise<Caller | null> {
  const known = keys.known(key);
  return known === undefined ? keys.find(key) : Promise.resolve(known);
}

/** JSON of a text frame. Throws `bad_field` and `malformed_json`. */
export function parseFrame(data: Buffer, isBinary: boolean): unknown {
  if (isBinary) throw new HttpError('bad_field', 'frames are JSON in text, not binary');
  const value = parseBody(data.toString(), 'the frame');
  if (value instanceof Malformed) throw new HttpError('malformed_json', value.sentence);
  return value === undefined ? {} : value;
}
