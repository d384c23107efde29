// One message by the Bot API: the request, and the texts that are never sent.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type BotApi, startBotApi } from '@parley/verify/test/support/bot-api.ts';
import { createBot } from './bot.ts';

let api: BotApi;
before(async () => {
  api = await startBotApi();
});
after(() => api?.stop());

const message = {
  id: 'x',
  to: '123456789',
  subject: 'Parley: hello',
  body: '<b>not</b> *marked* up\nhttps://market.example/account',
  at: new Date(),
};
const forever = new AbortController().signal;

test('a message is plain text, without a preview of what it links to', async () => {
  const bot = createBot({ token: api.token, api: api.url });
  assert.deepEqual(await bot.send(message, forever), { kind: 'sent' });
  assert.deepEqual(api.messages, [
    { chatId: 123_456_789, text: `${message.subject}\n\n${message.body}` },
  ]);
  const { parameters } = api.calls[0] ?? assert.fail();
  assert.deepEqual(Object.keys(parameters).sort(), ['chat_id', 'link_preview_options', 'text']);
});

test('one that never answers ends in its time', async () => {
  const bot = createBot({ token: api.token, api: api.url }, 60);
  api.answerNext({ kind: 'silence' });
  const late = { kind: 'again', error: 'no answer in time', isDown: true };
  assert.deepEqual(await bot.send(message, forever), late);
});

test('a message that the API cannot take is refused for good, and its chat goes on', async () => {
  const bot = createBot({ token: api.token, api: api.url });
  const outcome = await bot.send({ ...message, to: '' }, forever);
  assert.deepEqual(outcome, { kind: 'refused', error: 'HTTP 400' });
});

test('no error names the token', async () => {
  const token = '123456:SECRET-token-of-the-bot';
  const gone = await startBotApi();
  await gone.stop();
  const errors = [];
  for (const url of [gone.url, api.url, 'http://127.0.0.1:1']) {
    errors.push(JSON.stringify(await createBot({ token, api: url }).send(message, forever)));
  }
  for (const kind of ['blocked', 'unauthorized', 'hang up'] as const) {
    api.answerNext({ kind });
    const own = createBot({ token: api.token, api: api.url });
    errors.push(JSON.stringify(await own.send(message, forever)));
  }
  assert.match(errors[0] ?? '', /no connection: ECONNREFUSED/);
  for (const error of errors) assert.doesNotMatch(error, /SECRET|TEST-stub|123456/, error);
});
