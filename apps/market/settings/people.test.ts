// The values that an operator may write for people, and the sentences about faults.

import assert from 'node:assert/strict';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { readSettings } from './config.ts';

const dir = mkdtempSync(join(tmpdir(), 'parley-people-'));
const secretFile = join(dir, 'secret');
writeFileSync(secretFile, 'the-secret\n', { mode: 0o600 });

function people(env: Readonly<Record<string, string>>) {
  return readSettings(env).people;
}

/** The faults, a sentence each. */
function wrong(env: Readonly<Record<string, string>>): string[] {
  try {
    readSettings(env);
  } catch (error) {
    return (error as Error).message.split('\n- ').slice(1);
  }
  return [];
}

const acme = {
  id: 'acme',
  label: 'Acme',
  issuer: 'https://acme.example',
  clientId: 'parley',
  clientSecretFile: secretFile,
};
const providers = (...list: unknown[]) => ({ PARLEY_IDENTITY_PROVIDERS: JSON.stringify(list) });

test('no login is offered that is not configured', () => {
  assert.deepEqual(people({}), {
    publicUrl: null,
    mail: null,
    providers: [],
    bot: null,
    corsOrigins: [],
    payoutHoldSeconds: 259_200,
  });
  const empty = ['PUBLIC_URL', 'SMTP_URL', 'TELEGRAM_BOT_TOKEN_FILE', 'CORS_ORIGINS'];
  const env = Object.fromEntries(empty.map((name) => [`PARLEY_${name}`, '']));
  assert.deepEqual(people(env), people({}));
});

test('the public address is an origin: https, or http on loopback', () => {
  const url = (given: string) => people({ PARLEY_PUBLIC_URL: given }).publicUrl;
  assert.equal(url('https://market.example'), 'https://market.example');
  assert.equal(url('https://Market.example/'), 'https://market.example');
  assert.equal(url('https://market.example:8443'), 'https://market.example:8443');
  assert.equal(url('http://localhost:8080'), 'http://localhost:8080');
  for (const given of [
    'http://market.example',
    'https://market.example/app',
    'https://market.example?x',
    'https://user:password@market.example',
    'market.example',
    'ftp://market.example',
    'javascript:alert(1)',
  ]) {
    assert.match(wrong({ PARLEY_PUBLIC_URL: given }).join(), /must be an origin/, given);
  }
});

test('mail is an address of a server, or of a file with it, and who it is from', () => {
  const from = 'Parley <no-reply@market.example>';
  const mail = (url: string) => ({ PARLEY_SMTP_URL: url, PARLEY_MAIL_FROM: from });
  const url = 'smtps://user:pass%20word@mail.example:465';
  assert.deepEqual(people(mail(url)).mail, { url, from });
  writeFileSync(join(dir, 'smtp'), `${url}\n`, { mode: 0o600 });
  assert.deepEqual(people(mail(`@${join(dir, 'smtp')}`)).mail, { url, from });
  for (const given of ['mail.example', 'http://mail.example', 'smtp://', 'smtp://a b']) {
    const said = wrong(mail(given)).join();
    assert.match(said, /PARLEY_SMTP_URL must be/, given);
  }
  // A character of the password would end it, and the rest be read as a path.
  for (const password of ['25#hunter2', '25?hunter2', 'hunter2%', 'hunter2%ff']) {
    const said = wrong(mail(`smtp://user:${password}@mail.example`)).join();
    assert.match(said, /PARLEY_SMTP_URL must be .+ # @ : are written %25 %2F/, password);
    assert.doesNotMatch(said, /hunter2/, password);
  }
  for (const given of ['mail.example/path', '[mail']) {
    const said = wrong(mail(`smtp://user:hunter2@${given}`)).join();
    assert.match(said, /PARLEY_SMTP_URL/);
    assert.doesNotMatch(said, /hunter2/, 'a password is not quoted');
  }
  assert.match(wrong(mail(`@${join(dir, 'none')}`)).join(), /PARLEY_SMTP_URL: ENOENT/);
  for (const given of ['', 'nobody', 'a@b\r\nBcc: c@d', 'Parley no-reply@market.example']) {
    const env = { PARLEY_SMTP_URL: url, PARLEY_MAIL_FROM: given };
    assert.match(wrong(env).join(), /PARLEY_MAIL_FROM must be/, given);
  }
});

test('a bot is a file with its token, and where its API is', () => {
  const file = join(dir, 'bot');
  writeFileSync(file, `123456:${'x'.repeat(35)}\n`, { mode: 0o600 });
  const env = { PARLEY_TELEGRAM_BOT_TOKEN_FILE: file };
  const token = `123456:${'x'.repeat(35)}`;
  assert.deepEqual(people(env).bot, { token, api: 'https://api.telegram.org' });
  const own = { ...env, PARLEY_TELEGRAM_API: 'http://127.0.0.1:8081' };
  assert.equal(people(own).bot?.api, 'http://127.0.0.1:8081');
  const plain = { ...env, PARLEY_TELEGRAM_API: 'http://bots.example' };
  assert.match(wrong(plain).join(), /PARLEY_TELEGRAM_API must be an origin/);
  assert.match(wrong({ PARLEY_TELEGRAM_BOT_TOKEN_FILE: secretFile }).join(), /holds no bot token/);
  assert.doesNotMatch(wrong({ PARLEY_TELEGRAM_BOT_TOKEN_FILE: secretFile }).join(), /the-secret/);
});

test('origins of CORS are a list of origins', () => {
  const cors = (given: string) => people({ PARLEY_CORS_ORIGINS: given }).corsOrigins;
  assert.deepEqual(cors('https://a.example, https://b.example:8443,'), [
    'https://a.example',
    'https://b.example:8443',
  ]);
  for (const given of ['*', 'null', 'https://a.example/path', 'http://a.example']) {
    assert.match(wrong({ PARLEY_CORS_ORIGINS: given }).join(), /which is no origin/, given);
  }
  const many = Array.from({ length: 21 }, (_, at) => `https://bot${at}.example`);
  assert.equal(cors(many.slice(1).join()).length, 20);
  assert.match(wrong({ PARLEY_CORS_ORIGINS: many.join() }).join(), /21 origins; at most 20/);
});

test('an identity provider is an issuer, a client, its secret in a file, and what it is called', () => {
  const [provider] = people(providers(acme)).providers;
  const { clientSecretFile: _, ...rest } = acme;
  const scopes = ['openid', 'email', 'profile'];
  const secret = { clientSecret: 'the-secret' };
  assert.deepEqual(provider, { ...rest, ...secret, scopes, messages: false, nonce: true });
  const telegram = { ...acme, scopes: ['openid', 'profile', 'telegram:bot_access'] };
  const [bot] = people(providers({ ...telegram, messages: true, nonce: false })).providers;
  assert.deepEqual([bot?.messages, bot?.nonce], [true, false]);
});

const refusals: readonly [change: object, said: RegExp][] = [
  [{ id: 'Acme' }, /field "id" must match/],
  [{ id: '../x' }, /field "id" must match/],
  [{ label: 'a\nb' }, /field "label" must match/],
  [{ issuer: 'http://acme.example' }, /field "issuer" must be https/],
  [{ issuer: 'acme.example' }, /field "issuer" must be https/],
  [{ clientSecretFile: undefined }, /field "clientSecretFile" is missing/],
  [{ clientSecretFile: join(dir, 'none') }, /clientSecretFile: ENOENT/],
  [{ clientSecret: 'in the open' }, /field "clientSecret" is not known/],
  [{ scopes: ['email'] }, /field "scopes" must hold openid/],
  [{ scopes: ['openid', 'a b'] }, /field "scopes.1" must match/],
  [{ messages: true }, /"messages" needs the scopes profile and telegram:bot_access/],
  [{ id: 'acme' }, /another entry has this id or issuer/],
  [{ issuer: acme.issuer }, /another entry has this id or issuer/],
];

test('each fault of a provider is told with its entry', () => {
  for (const [change, said] of refusals) {
    const [first = ''] = wrong(
      providers(acme, { ...acme, id: 'two', issuer: 'https://b.example', ...change }),
    );
    assert.match(first, /^PARLEY_IDENTITY_PROVIDERS, /, JSON.stringify(change));
    assert.match(first, said, JSON.stringify(change));
  }
  for (const given of ['{}', 'null', JSON.stringify(Array(21).fill(acme))]) {
    assert.match(wrong({ PARLEY_IDENTITY_PROVIDERS: given }).join(), /array of at most 20/);
  }
});
