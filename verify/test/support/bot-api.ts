// A SIMULATOR of Telegram's Bot API, for tests of what the market sends there: no Telegram is
// behind it. It answers sendMessage with the documented shapes (core.telegram.org/bots/api
// #making-requests, #responseparameters, #sendmessage) under an HTTP status that is the error code.
// The sentences and the Retry-After header are those of Telegram's own server
// (github.com/tdlib/telegram-bot-api at 01a3679). Left out: every other method, bodies that are not
// JSON, and limits of callers, but where a test asks for one.

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';

/** Telegram's: text of sendMessage, "1-4096 characters after entities parsing". */
const mostTextChars = 4_096;

const refusals = {
  blocked: [403, 'Forbidden: bot was blocked by the user'],
  deactivated: [403, 'Forbidden: user is deactivated'],
  'chat not found': [400, 'Bad Request: chat not found'],
  /** As with a token that was revoked. */
  unauthorized: [401, 'Unauthorized'],
} as const;

type BotAnswer =
  | { readonly kind: 'ok' }
  | { readonly kind: keyof typeof refusals }
  | { readonly kind: 'too many requests'; readonly retryAfterSeconds: number }
  /** Takes the request and never answers, or closes the connection. */
  | { readonly kind: 'silence' }
  | { readonly kind: 'hang up' };

type Parameters = Readonly<Record<string, unknown>>;

export type BotApi = {
  /** Stands for https://api.telegram.org. */
  readonly url: string;
  readonly token: string;
  /** Every request, in order, whatever was answered. */
  readonly calls: readonly { readonly parameters: Parameters }[];
  /** The messages that arrived, which were answered with `ok`. */
  readonly messages: readonly { readonly chatId: number; readonly text: string }[];
  /** One answer a call, before `answerAlways` counts again. */
  answerNext(answer: BotAnswer): void;
  answerAlways(answer: BotAnswer): void;
  stop(): Promise<void>;
};

export async function startBotApi(token = '123456:TEST-stub-of-the-bot-api'): Promise<BotApi> {
  const calls: { parameters: Parameters }[] = [];
  const messages: { chatId: number; text: string }[] = [];
  const next: BotAnswer[] = [];
  let always: BotAnswer = { kind: 'ok' };
  const take = async (request: IncomingMessage, response: ServerResponse) => {
    const parameters = (await json(request)) as Parameters;
    calls.push({ parameters });
    // A wrong token takes no answer of those that a test has prepared.
    const isOurs = decodeURIComponent(request.url ?? '') === `/bot${token}/sendMessage`;
    const answer = isOurs ? (next.shift() ?? always) : ({ kind: 'unauthorized' } as const);
    switch (answer.kind) {
      case 'silence':
        return;
      case 'hang up':
        request.socket.destroy();
        return;
      case 'ok':
        sendMessage(response, parameters);
        return;
      case 'too many requests': {
        const { retryAfterSeconds: seconds } = answer;
        response.setHeader('retry-after', seconds);
        const asked = { parameters: { retry_after: seconds } };
        refuse(response, 429, `Too Many Requests: retry after ${seconds}`, asked);
        return;
      }
      default: {
        const [status, why] = refusals[answer.kind];
        refuse(response, status, why);
      }
    }
  };
  function sendMessage(response: ServerResponse, { chat_id: chat, text }: Parameters): void {
    // A person's chat is a positive number, as JSON or as text.
    const chatId = Number(chat);
    const isShort = typeof text === 'string' && text !== '' && [...text].length <= mostTextChars;
    if (chat === '') refuse(response, 400, 'Bad Request: chat_id is empty');
    else if (!(chatId > 0)) refuse(response, ...refusals['chat not found']);
    else if (!isShort) refuse(response, 400, 'Bad Request: message is too long');
    else {
      messages.push({ chatId, text });
      const sent = { message_id: messages.length, chat: { id: chatId, type: 'private' }, text };
      reply(response, 200, { ok: true, result: { ...sent, date: 0 } });
    }
  }
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
    answerNext: (answer) => void next.push(answer),
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

function refuse(response: ServerResponse, status: number, description: string, more = {}): void {
  reply(response, status, { ok: false, error_code: status, description, ...more });
}

function reply(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}
