// The inbox and the identity provider as parts of the dev network.
import assert from 'node:assert/strict';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { createTransport } from 'nodemailer';
import { lab } from '../testing/start.ts';

const noChains = { bitcoin: false, tron: false, solana: false, evmChains: [] } as const;

test('a dev network has people where it is asked to, and they end with it', async (t) => {
  const { start } = await lab((task) => t.after(task));
  const devnet = await start({ ...noChains, people: true });
  const { smtpUrl = '', inbox = '', provider } = devnet.people ?? {};
  const mail = { from: 'market@example.test', to: 'alice@example.test', text: 'x' };
  await createTransport(smtpUrl).sendMail({ ...mail, subject: 'through the dev network' });
  assert.match(await (await fetch(inbox)).text(), /through the dev network/);
  const settings = await fetch(`${provider?.issuer}/.well-known/openid-configuration`);
  assert.equal(((await settings.json()) as { issuer: string }).issuer, provider?.issuer);
  assert.ok((provider?.clientSecret ?? '').length >= 32);
  await devnet.stop();
  for (const url of [inbox, provider?.issuer ?? '']) await assert.rejects(fetch(url), url);
  await assert.rejects(createTransport(smtpUrl).sendMail(mail), /ECONNREFUSED/);
  assert.equal((await start(noChains)).people, null);
});

test('ports and secret stay from run to run; a port that is taken gives way', async (t) => {
  const { dir, start } = await lab((task) => t.after(task));
  const first = await start({ ...noChains, people: true });
  await first.stop();
  const file = join(dir, 'people.json');
  assert.equal((await stat(file)).mode & 0o777, 0o600);
  const second = await start({ ...noChains, people: true });
  assert.deepEqual(second.people, first.people);
  await second.stop();
  const { port: taken } = new URL(first.people?.inbox ?? '');
  const squatter = createServer();
  t.after(() => squatter.close());
  await new Promise<void>((done) => squatter.listen(Number(taken), '127.0.0.1', done));
  const third = await start({ ...noChains, people: true });
  assert.notEqual(third.people?.inbox, first.people?.inbox);
  assert.deepEqual(third.people?.provider, first.people?.provider);
  await third.stop();
  await writeFile(file, (await readFile(file, 'utf8')).slice(0, 20));
  const fourth = await start({ ...noChains, people: true });
  assert.notEqual(fourth.people?.provider.clientSecret, first.people?.provider.clientSecret);
});
