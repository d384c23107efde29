// The first frame of a socket: who it is, and what it asks for.

import { isTicket, useTicket } from '../../people/feed-tickets.ts';
import type { Deps } from '../../ports/deps.ts';
import { overBudgetOf } from '../access.ts';
import type { Caller, Credential, Keys } from '../auth.ts';
import { Malformed, parseBody } from '../body.ts';
import { type Budgets, whenKnown } from '../budgets.ts';
import { HttpError } from '../errors.ts';
import { firstFrame } from '../schemas/feed.ts';
import { frameCheck } from '../validate.ts';
import type { Manner } from './frames.ts';
import { closeCodes } from './peer.ts';

export type Greeting = {
  readonly shown: Credential;
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

type Needs = {
  readonly keys: Keys;
  readonly budgets: Budgets;
  readonly deps: Pick<Deps, 'db' | 'now' | 'settings'>;
};

const check = frameCheck(firstFrame);
const example = 'the first frame must be {"apiKey": "<key>"}';

/** Throws what a look-up throws. */
export async function readGreeting(
  { keys, budgets, deps }: Needs,
  frame: unknown,
  client: string,
): Promise<Greeting | Rejected> {
  // Before all else that may be wrong with the frame: a ticket that was shown is used up.
  const shown = await credentialIn(deps, frame);
  const fault = check(frame);
  if (fault !== null) return { sentence: `${example}: ${fault}` };
  const { resume = false, since = null } = frame as First;
  const coded = (code: string) => (resume ? { code } : {});
  if (since !== null && !resume) return { sentence: '"since" goes with "resume": true only' };
  const caller = shown === null ? null : await callerOf(keys, shown);
  if (shown === null || caller === null) {
    // As a request with such a key would.
    const spent = await whenKnown(budgets.spendClient(client), (known) => known);
    if (!spent.allowed) {
      const { sentence, code } = overBudgetOf(spent);
      return { sentence, close: closeCodes.tooMany, ...coded(code) };
    }
    return { sentence: notTaken(shown), ...coded('key_invalid') };
  }
  if (!caller.scopes.includes('maker')) {
    const held = caller.scopes.join(', ');
    const sentence = `the feed needs a key with the scope "maker"; this key has ${held}`;
    return { sentence, close: closeCodes.noScope, ...coded('scope_missing') };
  }
  return { shown, caller, manner: resume ? 'resume' : 'plain', since };
}

type First = { apiKey: string; resume?: boolean; since?: number };

/** The key of the frame, or the session that its ticket stood for; null = one that is not good. */
async function credentialIn(deps: Needs['deps'], frame: unknown): Promise<Credential | null> {
  const { apiKey } = (frame ?? {}) as { apiKey?: unknown };
  if (typeof apiKey !== 'string') return null;
  if (!isTicket(deps.settings, apiKey)) return apiKey;
  const digest = await useTicket(deps, apiKey);
  return digest && { kind: 'session-hash', digest: digest.toString('base64') };
}

function notTaken(shown: Credential | null): string {
  if (typeof shown === 'string') return 'the API key is invalid, revoked or expired';
  if (shown !== null) return 'the session has ended';
  return 'the ticket is unknown, was used, or is older than 30 s: ask for a new one';
}

/** The caller behind it, remembered or looked up. */
export function callerOf(keys: Keys, shown: Credential): Promise<Caller | null> {
  const known = keys.known(shown);
  return known === undefined ? keys.find(shown) : Promise.resolve(known);
}

/** JSON of a text frame. Throws `bad_field` and `malformed_json`. */
export function parseFrame(data: Buffer, isBinary: boolean): unknown {
  if (isBinary) throw new HttpError('bad_field', 'frames are JSON in text, not binary');
  const value = parseBody(data.toString(), 'the frame');
  if (value instanceof Malformed) throw new HttpError('malformed_json', value.sentence);
  return value === undefined ? {} : value;
}
