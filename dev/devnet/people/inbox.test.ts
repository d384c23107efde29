// The inbox as nodemailer, a browser and a stranger on the network meet it.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { createTransport, type SendMailOptions } from 'nodemailer';
import { ask, recorder } from '../testing/start.ts';
import { mostMailBytes, mostMails, mostRecipients, startInbox } from './inbox.ts';

async function opened(t: TestContext, keeps = mostMails) {
  const { log, lines } = recorder();
  const inbox = await startInbox({ log, keeps });
  t.after(() => inbox.stop());
  // Pooled: the server keeps each new connection waiting for 100 ms, as it does with spammers.
  const port = Number(new URL(inbox.smtpUrl).port);
  const sender = createTransport({ host: '127.0.0.1', port, pool: true });
  t.after(() => sender.close());
  const send = (mail: SendMailOptions) =>
    sender.sendMail({ from: 'market@example.test', text: 'hello', ...mail });
  return { inbox, port, send, lines };
}

const statusOf = async (url: string, headers: Record<string, string>, method = 'GET') =>
  (await ask(url, { headers, method })).status;

const codeOf = (failed: unknown) => (failed as { responseCode?: number }).responseCode;

test('a mail to anybody is listed for its recipient, newest first, and delivered to nobody', async (t) => {
  const { inbox, send, lines } = await opened(t);
  await send({ to: 'alice@example.test', subject: 'one', text: 'code 111111' });
  await send({ to: 'Alice@Example.test', bcc: 'carol@example.test', subject: 'Größe' });
  await send({ to: 'bob@example.test', subject: 'three' });
  const read = async (query: string) => {
    const answer = await fetch(`${inbox.url}mails.json${query}`);
    const { mails } = (await answer.json()) as { mails: { subject: string }[] };
    return mails.map(({ subject }) => subject);
  };
  assert.deepEqual(await read(''), ['three', 'Größe', 'one']);
  assert.deepEqual(await read('?to=ALICE@example.test'), ['Größe', 'one']);
  assert.deepEqual(await read('?to=carol@example.test'), ['Größe']);
  assert.deepEqual(await read('?to=nobody@example.test'), []);
  assert.equal(inbox.mails('alice@example.test')[1]?.text.trim(), 'code 111111');
  assert.deepEqual(lines, []);
});

test('the page escapes what mails say, and waits for a first one', async (t) => {
  const { inbox, send } = await opened(t);
  const evil = '<script>alert(1)</script>"\'&';
  await send({ to: 'a@example.test', subject: evil, text: evil });
  const response = await fetch(`${inbox.url}?to=a@example.test`);
  const page = await response.text();
  assert.equal(
    page.match(/&#60;script&#62;alert\(1\)&#60;\/script&#62;&#34;&#39;&#38;/g)?.length,
    2,
  );
  assert.doesNotMatch(page, /<script/);
  const emptied = await (await fetch(`${inbox.url}?to=%22%3E%3Cscript%3E`)).text();
  assert.doesNotMatch(emptied, /<script/);
  assert.match(emptied, /http-equiv="refresh"/);
  assert.doesNotMatch(page, /http-equiv="refresh"/);
});

test('a foreign name and a foreign page are refused; a link from another page opens the page', async (t) => {
  const { inbox } = await opened(t);
  const mails = `${inbox.url}mails.json`;
  const foreign = { host: 'rebound.example' };
  assert.equal(await statusOf(inbox.url, foreign), 403);
  assert.equal(await statusOf(mails, foreign), 403);
  assert.equal(await statusOf(mails, { origin: 'http://127.0.0.1:8080' }), 403);
  assert.equal(await statusOf(mails, { 'sec-fetch-site': 'same-site' }), 403);
  assert.equal(await statusOf(inbox.url, { 'sec-fetch-site': 'same-site' }), 200);
  assert.equal(await statusOf(`${inbox.url}other`, {}), 404);
});

test('limits: bytes, recipients, and how many mails are kept', async (t) => {
  const { inbox, send } = await opened(t, 3);
  const many = Array.from({ length: mostRecipients + 1 }, (_, index) => `a${index}@example.test`);
  const { accepted, rejected } = await send({ to: many });
  assert.deepEqual([accepted.length, rejected], [mostRecipients, [many.at(-1)]]);
  const ofBytes = (bytes: number) => {
    const raw = Buffer.alloc(bytes, `${'x'.repeat(62)}\r\n`);
    raw.write('Subject: large\r\n\r\n');
    return send({ raw, envelope: { from: 'a@example.test', to: 'a@example.test' } });
  };
  await ofBytes(mostMailBytes);
  await assert.rejects(ofBytes(mostMailBytes + 64), (error) => codeOf(error) === 552);
  const kept = () => inbox.mails().map(({ id, subject }) => `${id} ${subject}`);
  assert.equal(kept()[0], '2 large');
  for (const subject of ['2', '3', '4']) await send({ to: 'b@example.test', subject });
  assert.deepEqual(kept(), ['5 4', '4 3', '3 2']);
});
