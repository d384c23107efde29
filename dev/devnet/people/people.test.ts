// The inbox and the identity provider as parts of the dev network.
import assert from 'node:assert/strict';
import { stat } from 'node:fs/promises';
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

test('ports and secret stay from run to run', async (t) => {
  const { dir, start } = await lab((task) => t.after(task));
  const first = await start({ ...noChains, people: true });
  await first.stop();
  const file = join(dir, 'people.json');
  assert.equal((await stat(file)).mode & 0o777, 0o600);
  const second = await start({ ...noChains, people: true });
  assert.deepEqual(second.people, first.people);
  await second.stop();
});
