// One mail over a real SMTP server: its content, the texts that cannot get into it, and the
// treatment of a server that is not trusted, refuses, or hangs.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { mailLimits } from './bounds.ts';
import type { Courier, Outcome } from './courier.ts';
import { createMail, isMailbox } from './mail.ts';
import { type MailServer, startMailServer } from './testing/mail-server.ts';

let server: MailServer;
let courier: Courier;
const from = 'Parley <no-reply@market.example>';
const message = {
  id: '0193b5a0-0000-7000-8000-000000000000',
  to: 'somebody@mail.example',
  subject: 'Parley: hello',
  body: 'A line.\nAnother one.',
  at: new Date('2031-01-02T03:04:05Z'),
};
const forever = new AbortController().signal;

before(async () => {
  server = await startMailServer();
  courier = createMail({ url: server.url, from });
});
after(async () => {
  courier?.close();
  await server?.stop();
});

const last = () => server.arrived.at(-1);

test('a mail has one recipient, says that a program sent it, and keeps its id', async () => {
  assert.deepEqual(await courier.send(message, forever), { kind: 'sent' });
  const { from: sender, to, headers, text } = last() ?? assert.fail();
  assert.deepEqual([sender, to], ['no-reply@market.example', [message.to]]);
  assert.deepEqual(Object.fromEntries(headers), {
    from,
    to: message.to,
    subject: message.subject,
    'message-id': `<${message.id}@market.example>`,
    date: 'Thu, 02 Jan 2031 03:04:05 +0000',
    'auto-submitted': 'auto-generated',
    'mime-version': '1.0',
    'content-type': 'text/plain; charset=utf-8',
    'content-transfer-encoding': '7bit',
  });
  assert.equal(text, message.body);
});

test('no text makes a header or a recipient', async () => {
  const hostile = 'x\r\nBcc: thief@evil.example\r\n\r\nbody\n.\r\nMAIL FROM:<a@b.c>\r\n';
  await courier.send({ ...message, subject: hostile, body: hostile }, forever);
  const { to, headers, raw } = last() ?? assert.fail();
  assert.deepEqual(to, [message.to]);
  assert.equal(headers.has('bcc'), false);
  assert.match(headers.get('subject') ?? '', /^x/);
  const head = raw.slice(0, raw.indexOf('\r\n\r\n'));
  assert.doesNotMatch(head, /^Bcc/im);
});

test('an address that could be more than one is refused before anybody is asked', async () => {
  const opened = server.arrived.length;
  for (const to of [
    'a@b.example, c@d.example',
    'a@b.example\r\nRCPT TO:<c@d.example>',
    'Name <a@b.example>',
    '"a b"@c.example',
    'a@b@c.example',
    'a;b@c.example',
    'group:a@b.example;',
    'a@b.example\u0000',
    'a\u202e@b.example',
    '@b.example',
    'a@',
    '',
    `${'a'.repeat(243)}@mail.example`,
  ]) {
    const error = 'no address that mail goes to';
    assert.deepEqual(await courier.send({ ...message, to }, forever), { kind: 'refused', error });
  }
  assert.equal(server.arrived.length, opened);
  assert.ok(isMailbox('a.b+c@mail.example'));
  assert.ok(isMailbox(`${'a'.repeat(241)}@mail.example`), '254 characters');
  assert.ok(isMailbox('jürgen@müller.example'));
});

test("the server's answer is reported as numbers: it names the address", async () => {
  const told: [string, Outcome['kind'], string][] = [
    ['550 5.1.1 <somebody@mail.example> is unknown', 'refused', 'EENVELOPE 550 5.1.1'],
    ['552 5.2.2 mailbox full', 'refused', 'EENVELOPE 552 5.2.2'],
    ['550 no', 'refused', 'EENVELOPE 550'],
    ['554 5.7.1 relay access denied', 'again', 'EENVELOPE 554 5.7.1'],
    ['451 4.7.1 somebody@mail.example: later', 'again', 'EENVELOPE 451 4.7.1'],
  ];
  for (const [answer, kind, error] of told) {
    server.refuse({ at: 'RCPT', answer });
    const outcome = await courier.send(message, forever);
    assert.deepEqual([outcome.kind, 'error' in outcome && outcome.error], [kind, error], answer);
  }
  server.refuse(null);
});

/** Not a name of loopback, and leads there. */
const elsewhere = (more: string) => `smtp://${more}0.0.0.0:`;

test('a password is sent over nothing that is not encrypted', async (t) => {
  const heard: string[] = [];
  const plain = await startMailServer(0, {
    disabledCommands: ['STARTTLS'],
    allowInsecureAuth: true,
    onAuth: (auth, _, done) => {
      heard.push(auth.password ?? '');
      done(null, { user: 1 });
    },
  });
  t.after(() => plain.stop());
  const sends = async (start: string) => {
    const sending = createMail({ url: `${start}${plain.port}`, from });
    const outcome = await sending.send(message, forever);
    sending.close();
    return outcome;
  };
  const refused = await sends(elsewhere('user:p%40ss@'));
  assert.deepEqual([refused.kind, heard], ['again', []]);
  assert.ok(refused.kind === 'again' && refused.isDown && refused.isOurs);
  assert.equal((await sends('smtp://user:p%40ss@127.0.0.1:')).kind, 'sent');
  assert.deepEqual(heard, ['p@ss']);
});

test('where encryption is offered it is used, with a certificate that is trusted', async (t) => {
  const offering = await startMailServer(0, { disabledCommands: ['AUTH'] });
  t.after(() => offering.stop());
  const sending = createMail({ url: `${elsewhere('')}${offering.port}`, from });
  const outcome = await sending.send(message, forever);
  sending.close();
  const wanted = { kind: 'again', error: 'CERT_HAS_EXPIRED', isDown: true, isOurs: true };
  assert.deepEqual(outcome, wanted);
  assert.equal(offering.arrived.length, 0);
});

test('a wrong password is the operator’s to mend', async (t) => {
  const strict = await startMailServer(0, {
    disabledCommands: ['STARTTLS'],
    allowInsecureAuth: true,
    onAuth: (_, __, done) => done(new Error('no')),
  });
  t.after(() => strict.stop());
  const sending = createMail({ url: `smtp://user:wrong@127.0.0.1:${strict.port}`, from });
  const outcome = await sending.send(message, forever);
  sending.close();
  const wanted = { kind: 'again', error: 'EAUTH 535', isDown: true, isOurs: true };
  assert.deepEqual(outcome, wanted);
});

test('a server that says nothing, or stops half-way, ends in its time', async (t) => {
  const silent = await startMailServer(0, { onConnect: () => {} });
  t.after(() => silent.stop());
  const quick = { ...mailLimits, greetingMs: 60 };
  const sending = createMail({ url: silent.url, from }, quick);
  const outcome = await sending.send(message, forever);
  sending.close();
  const wanted = { kind: 'again', error: 'ETIMEDOUT', isDown: true, isOurs: false };
  assert.deepEqual(outcome, wanted);
  const stuck = await startMailServer(0, { onMailFrom: () => {} });
  t.after(() => stuck.stop());
  const waiting = createMail({ url: stuck.url, from }, { ...mailLimits, mailMs: 100 });
  const late = { kind: 'again', error: 'no answer in time', isDown: true };
  const ended = await waiting.send(message, forever);
  waiting.close();
  assert.deepEqual(ended, late);
});
