// Messages by a Telegram bot: `sendMessage` of the Bot API, plain text. The token is in the path of
// every request, so no error of a request is told as it is.

import { type NodeReply, textOf } from '@parley/chains/nodes/exchange.ts';
import { exchangeWith } from '@parley/chains/nodes/transport-node.ts';
import type { Settings } from '../settings/config.ts';
import { botMs, longestSubject, longestText, mostAnswerBytes } from './bounds.ts';
import type { Courier, Outcome } from './courier.ts';

export type BotSettings = NonNullable<Settings['people']['bot']>;

/** `timeMs`: for tests of one that hangs. */
export function createBot({ token, api }: BotSettings, timeMs = botMs): Courier {
  const url = `${api}/bot${token}/sendMessage`;
  const headers = { 'content-type': 'application/json' };
  return {
    send: async ({ to, subject, body }, signal) => {
      const text = `${subject.slice(0, longestSubject)}\n\n${body.slice(0, longestText)}`;
      const asked = JSON.stringify({
        chat_id: to,
        text,
        link_preview_options: { is_disabled: true },
      });
      const limits = { timeMs, bytes: mostAnswerBytes };
      try {
        const asking = { url, method: 'POST', headers, body: asked } as const;
        return outcomeOf(await exchangeWith(asking, limits, signal));
      } catch (error) {
        return { kind: 'again', error: wordsOf(error), isDown: true };
      }
    },
    // The connections are those of all exchanges.
    close: () => {},
  };
}

type Answer = {
  readonly ok?: unknown;
  readonly description?: unknown;
  readonly parameters?: { readonly retry_after?: unknown };
};

/** https://core.telegram.org/bots/api#making-requests, #responseparameters */
function outcomeOf(reply: NodeReply): Outcome {
  const { status } = reply;
  const { ok, description, parameters } = answerOf(reply);
  if (status === 200 && ok === true) return { kind: 'sent' };
  const error = `HTTP ${status}`;
  // Each way of saying so: blocked, deactivated, never begun.
  if (status === 403) return { kind: 'ended', error };
  const said = String(description);
  if (status === 400 && /chat not found|user not found|peer_id_invalid/i.test(said)) {
    return { kind: 'ended', error };
  }
  if (status === 400) return { kind: 'refused', error };
  if (status === 429) {
    const after = Number(parameters?.retry_after);
    const afterSeconds = Number.isFinite(after) && after > 0 ? after : 1;
    return { kind: 'again', error, isDown: false, afterSeconds };
  }
  // The answer is 404 for a token that is none, 401 for one that was revoked.
  const isOurs = status === 401 || status === 404;
  return { kind: 'again', error: isOurs ? `${error}: the token` : error, isDown: true, isOurs };
}

function answerOf(reply: NodeReply): Answer {
  try {
    const answer: unknown = JSON.parse(textOf(reply));
    return typeof answer === 'object' && answer !== null ? answer : {};
  } catch {
    return {};
  }
}

function wordsOf(error: unknown): string {
  if ((error as { name?: unknown } | null)?.name === 'TimeoutError') return 'no answer in time';
  const { code } = (error ?? {}) as { code?: unknown };
  return typeof code === 'string' ? `no connection: ${code}` : 'no answer';
}
