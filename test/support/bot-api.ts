// A SIMULATOR of Telegram's Bot API, for tests of what the market sends there: no Telegram is
// behind it. It answers sendMessage and getMe with the documented shapes
// (core.telegram.org/bots/api#making-requests, #responseparameters, #sendmessage): `ok` with a
// `result`, or `ok: false` with `error_code`, `description` and at times `parameters`, under an
// HTTP status that is the error code. The sentences, the Retry-After header beside `retry_after`
// and the 404 of a path that is none are those of Telegram's own server
// (github.com/tdlib/telegram-bot-api at 01a3679: Query.cpp, HttpConnection.cpp, Client.cpp).
//
// Left out: every other method, multipart bodies, parse_mode (recorded, not checked) and flood
// control by itself. Nobody is limited unless a test asks for it with `answerNext`.

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Telegram's: text of sendMessage, "1-4096 characters after entities parsing". */
export const mostTextChars = 4_096;
const mostBodyBytes = 64 * 1024;
/** A test that sends more has a loop in it. */
const mostCalls = 10_000;

export type BotAnswer =
  | { readonly kind: 'ok' }
  | { readonly kind: 'too many requests'; readonly retryAfterSeconds: number }
  /** 403: the person blocked the bot. */
  | { readonly kind: 'blocked' }
  /** 403: the account was deleted. */
  | { readonly kind: 'deactivated' }
  | { readonly kind: 'chat not found' }
  /** 401, as with a token that was revoked. */
  | { readonly kind: 'unauthorized' }
  /** JSON of the Bot API, or the HTML of a gateway before it. */
  | { readonly kind: 'failure'; readonly status: 500 | 502 | 503; readonly html?: boolean }
  /** Takes the request and never answers. */
  | { readonly kind: 'silence' }
  /** Takes the request, and closes the connection. */
  | { readonly kind: 'hang up' };

export type BotCall = {
  readonly at: number;
  readonly method: string;
  readonly token: string;
  readonly headers: IncomingMessage['headers'];
  /** Byte for byte, as text. */
  readonly body: string;
  /** Of the query and the body, JSON or a form; values as they came. */
  readonly parameters: Readonly<Record<string, unknown>>;
  /** Null where it never was answered. */
  readonly status: number | null;
};

export type BotMessage = { readonly chatId: number; readonly text: string };

export type BotApi = {
  /** What stands for https://api.telegram.org. */
  readonly url: string;
  readonly token: string;
  /** Every request, in order, whatever was answered. */
  readonly calls: readonly BotCall[];
  /** What arrived: messages that were answered with `ok`. */
  readonly messages: readonly BotMessage[];
  /** One answer a call, before `answerAlways` counts again. */
  answerNext(...answers: readonly BotAnswer[]): void;
  answerAlways(answer: BotAnswer): void;
  /** The person blocks the bot, or lets it write again. */
  block(chatId: number): void;
  unblock(chatId: number): void;
  stop(): Promise<void>;
};

type State = {
  readonly token: string;
  readonly calls: BotCall[];
  readonly messages: BotMessage[];
  readonly next: BotAnswer[];
  readonly blocked: Set<number>;
  always: BotAnswer;
};

export async function startBotApi(token = '123456:TEST-stub-of-the-bot-api'): Promise<BotApi> {
  const state: State = {
    token,
    calls: [],
    messages: [],
    next: [],
    blocked: new Set(),
    always: { kind: 'ok' },
  };
  const server = createServer((request, response) => {
    take(state, request, response).catch((error: unknown) => response.destroy(error as Error));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    token,
    calls: state.calls,
    messages: state.messages,
    answerNext: (...answers) => {
      state.next.push(...answers);
    },
    answerAlways: (answer) => {
      state.always = answer;
    },
    block: (chatId) => {
      state.blocked.add(chatId);
    },
    unblock: (chatId) => {
      state.blocked.delete(chatId);
    },
    stop: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

type Reply = {
  readonly status: number;
  /** Text is HTML. */
  readonly body: object | string;
  readonly retryAfterSeconds?: number;
  readonly message?: BotMessage;
};

async function take(
  state: State,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const body = await bodyOf(request);
  const url = new URL(request.url ?? '/', 'http://bot-api');
  const [, token = '', method = ''] = /^\/bot([^/]*)\/(\w*)$/.exec(url.pathname) ?? [];
  const parameters = parametersOf(url, request.headers['content-type'] ?? '', body);
  // A wrong token or path takes no answer of those that a test has prepared.
  const isOurs = decodeURIComponent(token) === state.token;
  const answer = isOurs ? (state.next.shift() ?? state.always) : state.always;
  const isAnswered = answer.kind !== 'silence' && answer.kind !== 'hang up';
  const reply = isAnswered || !isOurs ? replyTo(state, token, method, parameters, answer) : null;
  if (state.calls.length >= mostCalls) throw new Error(`more than ${mostCalls} calls`);
  const call = { at: Date.now(), method, token: decodeURIComponent(token), body, parameters };
  state.calls.push({ ...call, headers: request.headers, status: reply?.status ?? null });
  if (reply === null) {
    if (answer.kind === 'hang up') request.socket.destroy();
    return;
  }
  if (reply.message !== undefined) state.messages.push(reply.message);
  send(response, reply);
}

function replyTo(
  state: State,
  token: string,
  method: string,
  parameters: Readonly<Record<string, unknown>>,
  answer: BotAnswer,
): Reply {
  if (method === '') return refusal(404, 'Not Found');
  if (decodeURIComponent(token) !== state.token) return refusal(401, 'Unauthorized');
  const prepared = preparedReply(answer);
  if (prepared !== null) return prepared;
  // Methods are case-insensitive.
  if (method.toLowerCase() === 'getme') return success(bot(state));
  if (method.toLowerCase() === 'sendmessage') return sendMessage(state, parameters);
  return refusal(404, 'Not Found: method not found');
}

function preparedReply(answer: BotAnswer): Reply | null {
  switch (answer.kind) {
    case 'ok':
    case 'silence':
    case 'hang up':
      return null;
    case 'too many requests': {
      const { retryAfterSeconds } = answer;
      const why = `Too Many Requests: retry after ${retryAfterSeconds}`;
      const refused = refusal(429, why, { retry_after: retryAfterSeconds });
      return { ...refused, retryAfterSeconds };
    }
    case 'blocked':
      return refusal(403, 'Forbidden: bot was blocked by the user');
    case 'deactivated':
      return refusal(403, 'Forbidden: user is deactivated');
    case 'chat not found':
      return refusal(400, 'Bad Request: chat not found');
    case 'unauthorized':
      return refusal(401, 'Unauthorized');
    case 'failure':
      if (answer.html !== true) return refusal(answer.status, failures[answer.status]);
      return { status: answer.status, body: `<html><h1>${failures[answer.status]}</h1></html>` };
  }
}

const failures = {
  500: 'Internal Server Error',
  502: 'Bad Gateway',
  503: 'Service Unavailable',
} as const;

function sendMessage(state: State, parameters: Readonly<Record<string, unknown>>): Reply {
  const { chat_id: chat = '', text = '' } = parameters;
  if (String(chat) === '') return refusal(400, 'Bad Request: chat_id is empty');
  // A person's chat is a positive number of at most 52 bits, as JSON or as text.
  const chatId = /^\d{1,16}$/.test(String(chat)) ? Number(chat) : 0;
  if (chatId === 0) return refusal(400, 'Bad Request: chat not found');
  if (typeof text !== 'string' || text.trim() === '') {
    return refusal(400, 'Bad Request: message text is empty');
  }
  if ([...text].length > mostTextChars) return refusal(400, 'Bad Request: message is too long');
  if (state.blocked.has(chatId)) return refusal(403, 'Forbidden: bot was blocked by the user');
  const result = {
    message_id: state.messages.length + 1,
    from: bot(state),
    chat: { id: chatId, first_name: 'Somebody', type: 'private' },
    date: Math.floor(Date.now() / 1_000),
    text,
  };
  return { ...success(result), message: { chatId, text } };
}

function bot({ token }: State): object {
  const id = Number(token.split(':')[0]);
  return { id, is_bot: true, first_name: 'Parley', username: 'parley_test_bot' };
}

function success(result: object): Reply {
  return { status: 200, body: { ok: true, result } };
}

function refusal(status: number, description: string, parameters?: object): Reply {
  const more = parameters === undefined ? {} : { parameters };
  return { status, body: { ok: false, error_code: status, description, ...more } };
}

function send(response: ServerResponse, { status, body, retryAfterSeconds }: Reply): void {
  const isHtml = typeof body === 'string';
  const text = isHtml ? body : JSON.stringify(body);
  response.setHeader('content-type', isHtml ? 'text/html' : 'application/json');
  if (retryAfterSeconds !== undefined) response.setHeader('retry-after', retryAfterSeconds);
  response.writeHead(status, { 'content-length': Buffer.byteLength(text) });
  response.end(text);
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > mostBodyBytes) throw new Error(`a body of more than ${mostBodyBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function parametersOf(url: URL, type: string, body: string): Record<string, unknown> {
  const query = Object.fromEntries(url.searchParams);
  if (body === '') return query;
  if (type.startsWith('application/json')) return { ...query, ...JSON.parse(body) };
  if (type.startsWith('application/x-www-form-urlencoded')) {
    return { ...query, ...Object.fromEntries(new URLSearchParams(body)) };
  }
  throw new Error(`the stub reads JSON and forms, not "${type}"`);
}
