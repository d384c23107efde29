// That the stub answers as Telegram's documentation says: a stub that is wrong proves nothing.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { mostTextChars, startBotApi } from './bot-api.ts';

async function opened(t: TestContext) {
  const bot = await startBotApi();
  t.after(() => bot.stop());
  const call = async (parameters: object, path = `bot${bot.token}/sendMessage`) => {
    const response = await fetch(`${bot.url}/${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(parameters),
      signal: AbortSignal.timeout(200),
    });
    const text = await response.text();
    const isJson = response.headers.get('content-type') === 'application/json';
    const retryAfter = response.headers.get('retry-after');
    return { status: response.status, answer: isJson ? JSON.parse(text) : text, retryAfter };
  };
  return { bot, call };
}

test('a message is recorded as it came and answered with the message that was sent', async (t) => {
  const { bot, call } = await opened(t);
  const sent = { chat_id: 987654321, text: 'Grüße 🙂', disable_notification: true };
  const { status, answer } = await call(sent);
  assert.deepEqual([status, answer.ok, answer.result.message_id], [200, true, 1]);
  assert.deepEqual(answer.result.chat, { id: 987654321, first_name: 'Somebody', type: 'private' });
  assert.equal(answer.result.text, sent.text);
  assert.deepEqual(bot.messages, [{ chatId: 987654321, text: sent.text }]);
  const [recorded] = bot.calls;
  assert.deepEqual([recorded?.method, recorded?.body], ['sendMessage', JSON.stringify(sent)]);
  assert.deepEqual(recorded?.parameters, sent);
  const body = new URLSearchParams({ chat_id: '1', text: 'as a form' });
  await fetch(`${bot.url}/bot${bot.token}/sendMessage`, { method: 'POST', body });
  await fetch(`${bot.url}/bot${bot.token}/sendmessage?chat_id=2&text=as+a+query`);
  assert.deepEqual(bot.messages.slice(1), [
    { chatId: 1, text: 'as a form' },
    { chatId: 2, text: 'as a query' },
  ]);
  assert.equal((await call({}, `bot${bot.token}/getMe`)).answer.result.is_bot, true);
});

test('refusals have the code, the sentence and the parameters that are documented', async (t) => {
  const { bot, call } = await opened(t);
  const message = { chat_id: 1, text: 'x' };
  const refusal = async (parameters: object, path?: string) => {
    const { status, answer } = await call(parameters, path);
    assert.deepEqual([answer.ok, answer.error_code], [false, status]);
    return `${status} ${answer.description}`;
  };
  bot.answerNext({ kind: 'too many requests', retryAfterSeconds: 7 });
  const { status, answer, retryAfter } = await call(message);
  assert.deepEqual([status, retryAfter], [429, '7']);
  assert.deepEqual(answer, {
    ok: false,
    error_code: 429,
    description: 'Too Many Requests: retry after 7',
    parameters: { retry_after: 7 },
  });
  bot.answerNext({ kind: 'chat not found' }, { kind: 'deactivated' }, { kind: 'unauthorized' });
  assert.equal(await refusal(message), '400 Bad Request: chat not found');
  assert.equal(await refusal(message), '403 Forbidden: user is deactivated');
  assert.equal(await refusal(message), '401 Unauthorized');
  bot.block(1);
  assert.equal(await refusal(message), '403 Forbidden: bot was blocked by the user');
  bot.unblock(1);
  assert.equal((await call(message)).status, 200);
  assert.equal(await refusal({ text: 'x' }), '400 Bad Request: chat_id is empty');
  assert.equal(await refusal({ chat_id: 'x', text: 'x' }), '400 Bad Request: chat not found');
  assert.equal(await refusal({ chat_id: 1 }), '400 Bad Request: message text is empty');
  const long = { chat_id: 1, text: '🙂'.repeat(mostTextChars + 1) };
  assert.equal(await refusal(long), '400 Bad Request: message is too long');
  assert.equal(await refusal(message, 'bot1:other/sendMessage'), '401 Unauthorized');
  assert.equal(await refusal(message, 'other'), '404 Not Found');
  assert.equal(await refusal(message, `bot${bot.token}/sendX`), '404 Not Found: method not found');
  assert.equal(bot.messages.length, 1);
});

test('failures, silence and a closed connection are recorded, and nothing arrives', async (t) => {
  const { bot, call } = await opened(t);
  const message = { chat_id: 1, text: 'x' };
  bot.answerAlways({ kind: 'failure', status: 502, html: true });
  assert.deepEqual(await call(message), {
    status: 502,
    answer: '<html><h1>Bad Gateway</h1></html>',
    retryAfter: null,
  });
  bot.answerAlways({ kind: 'failure', status: 500 });
  assert.equal((await call(message)).answer.description, 'Internal Server Error');
  bot.answerAlways({ kind: 'silence' });
  await assert.rejects(call(message), { name: 'TimeoutError' });
  bot.answerAlways({ kind: 'hang up' });
  await assert.rejects(call(message), /fetch failed/);
  assert.deepEqual(
    bot.calls.map(({ status }) => status),
    [502, 500, null, null],
  );
  assert.deepEqual(bot.messages, []);
});
