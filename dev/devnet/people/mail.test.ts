// Mails as nodemailer writes them, which is what the market sends with, and a few as others do.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTransport, type SendMailOptions } from 'nodemailer';
import { mostTextChars, readHeader, readMail } from './mail.ts';

const writer = createTransport({ streamTransport: true, buffer: true });

async function written(mail: SendMailOptions): Promise<Buffer> {
  const { message } = await writer.sendMail({ from: 'market@example.test', ...mail });
  return message as Buffer;
}

const texts = {
  plain: 'Your code is 123456.\n\nIt works for 10 minutes.',
  'of one long line': `See ${'https://market.example/a/'.repeat(40)} and ${'more words '.repeat(60)}.`,
  'with quoted-printable in it': 'a=3D is =\n= and trailing spaces   \n\tand a tab\n.\n..\n',
  'of other scripts': 'Ihr Code für „Größe“ ist 123456 — 你好, здравствуй, 🙂\n'.repeat(20),
};

for (const [what, text] of Object.entries(texts)) {
  for (const textEncoding of ['quoted-printable', 'base64'] as const) {
    test(`a text ${what} comes out as it went in, as ${textEncoding}`, async () => {
      const to = 'alice@example.test';
      const mail = readMail(await written({ to, subject: 'Code', text, textEncoding }));
      assert.equal(mail.text.trimEnd(), text.trimEnd());
      assert.deepEqual([mail.from, mail.to, mail.subject], ['market@example.test', to, 'Code']);
      assert.match(mail.messageId, /^<.+@.+>$/);
    });
  }
}

test('headers with words of RFC 2047 are read, long ones in several words too', async () => {
  const subject = 'Größe 你好 🙂 '.repeat(12).trim();
  const to = '"Ünal, Ä." <u@example.test>';
  const mail = readMail(await written({ to, subject, text: 'x' }));
  assert.equal(mail.subject, subject);
  assert.match(mail.to, /Ünal, Ä\..*<u@example\.test>/);
  assert.equal(readHeader('=?iso-8859-1?Q?Gr=F6=DFe_a?= =?utf-8?B?w6Q=?= b'), 'Größe aä b');
  assert.equal(readHeader('=?no-such-charset?Q?plain?='), 'plain');
});

test('bytes that are no mail are shown as far as they go, and a long text is cut', () => {
  assert.equal(readMail(Buffer.from('')).text, '');
  assert.equal(readMail(Buffer.from('no header, no body')).subject, '');
  assert.equal(readMail(Buffer.from('\r\njust a body')).text, 'just a body');
  assert.equal(readMail(Buffer.from('Subject: a\n\n8bit ä')).text, '8bit ä');
  const long = readMail(Buffer.from(`Subject: a\r\n\r\n${'x'.repeat(mostTextChars + 1)}`)).text;
  assert.equal(long, `${'x'.repeat(mostTextChars)}\n[cut at ${mostTextChars} characters]`);
});
