// A SIMULATOR of Telegram's Bot API, for tests of what the market sends there: no Telegram is
// behind it. It answers sendMessage with the documented shapes
// (core.telegram.org/bots/api#making-requests, #responseparameters, #sendmessage): `ok` with a
// `result`, or `ok: false` with `error_code`, `description` and at times `parameters`, under an
// HTTP status that is the error code. The sentences, the Retry-After header beside `retry_after`
// and the 404 of a path that is none are those of Telegram's own server
// (github.com/tdlib/telegram-bot-api at 01a3679: Query.cpp, HttpConnection.cpp, Client.cpp).
//
// Left out: every other method, bodies that are not JSON, parse_mode and flood control by itself.
// The simulator limits callers only where a test asks for it with `answerNext`.

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';

/** Telegram's: text of sendMessage, "1-4096 characters after entities parsing". */
const mostTextChars = 4_096;

export type BotAnswer =
  | { readonly kind: 'ok' }
  | { readonly kind: 'too many requests'; readonly retryAfterSeconds: number }
  | { readonly kind: Refusal }
  /** JSON of the Bot API, or the HTML of a gateway before it. */
  | { readonly kind: 'failure'; readonly status: keyof typeof failures; readonly html?: boolean }
  /** Takes the request and never answers. */
  | { readonly kind: 'silence' }
  /** Takes the request, and closes the connection. */
  | { readonly kind: 'hang up' };

const refusals = {
  blocked: [403, 'Forbidden: bot was blocked by the user'],
  deactivated: [403, 'Forbidden: user is deactivated'],
  'chat not found': [400, 'Bad Request: chat not found'],
  /** As with a token that was revoked. */
  unauthorized: [401, 'Unauthorized'],
} as const;
type Refusal = keyof typeof refusals;
const failures = { 500: 'Internal Server Error', 502: 'Bad Gateway' } as const;

type Parameters = Readonly<Record<string, unknown>>;
export type BotCall = { readonly parameters: Parameters };
export type BotMessage = { readonly chatId: number; readonly text: string };

export type BotApi = {
  /** Stands for https://api.telegram.org. */
  readonly url: string;
  readonly token: string;
  /** Every request, in order, whatever was answered. */
  readonly calls: readonly BotCall[];
  /** The messages that arrived, which were answered with `ok`. */
  readonly messages: readonly BotMessage[];
  /** One answer a call, before `answerAlways` counts again. */
  answerNext(...answers: readonly BotAnswer[]): void;
  answerAlways(answer: BotAnswer): void;
  stop(): Promise<void>;
};

/** Text is HTML. */
type Reply = readonly [status: number, body: object | string, retryAfterSeconds?: number];

export async function startBotApi(token = '123456:TEST-stub-of-the-bot-api'): Promise<BotApi> {
  const calls: BotCall[] = [];
  const messages: BotMessage[] = [];
  const next: BotAnswer[] = [];
  let always: BotAnswer = { kind: 'ok' };
  const take = async (request: IncomingMessage, response: ServerResponse) => {
    const parameters = (await json(request)) as Parameters;
    calls.push({ parameters });
    // A wrong token or path takes no answer of those that a test has prepared.
    const isOurs = decodeURIComponent(request.url ?? '').startsWith(`/bot${token}/`);
    const answer = isOurs ? (next.shift() ?? always) : always;
    if (isOurs && answer.kind === 'silence') return;
    if (isOurs && answer.kind === 'hang up') {
      request.socket.destroy();
      return;
    }
    send(response, isOurs ? replyTo(request.url ?? '', answer, parameters, messages) : unknown);
  };
  const server = createServer((request, response) => {
    take(request, response).catch((error: unknown) => response.destroy(error as Error));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    token,
    calls,
    messages,
    answerNext: (...answers) => void next.push(...answers),
    answerAlways: (answer) => {
      always = answer;
    },
    stop: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

const refusal = (status: number, description: string, parameters?: object): Reply => [
  status,
  { ok: false, error_code: status, description, ...(parameters && { parameters }) },
];
const unknown = refusal(...refusals.unauthorized);

function replyTo(
  path: string,
  answer: BotAnswer,
  parameters: Parameters,
  messages: BotMessage[],
): Reply {
  if (answer.kind === 'too many requests') {
    const { retryAfterSeconds: seconds } = answer;
    const why = `Too Many Requests: retry after ${seconds}`;
    const [status, body] = refusal(429, why, { retry_after: seconds });
    return [status, body, seconds];
  }
  if (answer.kind === 'failure') {
    const { status, html = false } = answer;
    const why = failures[status];
    return html ? [status, `<html><h1>${why}</h1></html>`] : refusal(status, why);
  }
  if (answer.kind in refusals) {
    const [status, why] = refusals[answer.kind as Refusal];
    return refusal(status, why);
  }
  // Methods are case-insensitive.
  if (!/\/sendmessage$/i.test(path)) return refusal(404, 'Not Found: method not found');
  return sendMessage(parameters, messages);
}

function sendMessage({ chat_id: chat = '', text = '' }: Parameters, messages: BotMessage[]): Reply {
  if (String(chat) === '') return refusal(400, 'Bad Request: chat_id is empty');
  // A person's chat is a positive number of at most 52 bits, as JSON or as text.
  const chatId = /^\d{1,16}$/.test(String(chat)) ? Number(chat) : 0;
  if (chatId === 0) return refusal(...refusals['chat not found']);
  if (typeof text !== 'string' || text.trim() === '') {
    return refusal(400, 'Bad Request: message text is empty');
  }
  if ([...text].length > mostTextChars) return refusal(400, 'Bad Request: message is too long');
  messages.push({ chatId, text });
  const from = { id: 1, is_bot: true, first_name: 'Parley', username: 'parley_test_bot' };
  const to = { id: chatId, first_name: 'Somebody', type: 'private' };
  const date = Math.floor(Date.now() / 1_000);
  return [200, { ok: true, result: { message_id: messages.length, from, chat: to, date, text } }];
}

function send(response: ServerResponse, [status, body, retryAfterSeconds]: Reply): void {
  const isHtml = typeof body === 'string';
  response.setHeader('content-type', isHtml ? 'text/html' : 'application/json');
  if (retryAfterSeconds !== undefined) response.setHeader('retry-after', retryAfterSeconds);
  response.writeHead(status).end(isHtml ? body : JSON.stringify(body));
}
