// The URLs that may be registered as a webhook. Its secret is encrypted, and sealed anew when the
// server's key is replaced.

import assert from 'node:assert/strict';
import { createHmac, randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { ParleyError } from '@parley/core/errors.ts';
import { testDeps } from '@parley/verify/test/support/deps.ts';
import { resealSecret, secretsNotOf } from '../db/webhooks.ts';
import { sealAnew } from '../ports/sealed-anew.ts';
import { readSettings } from '../settings/config.ts';
import { everyPort, usualPorts } from '../settings/ports.ts';
import { resealSecrets } from './register.ts';
import { webhookMarket } from './testing/market.ts';

const { at, rows, account, webhook, owner, agreed, delivering } = webhookMarket();
const aKey = () => randomBytes(32).toString('hex');
const noUuid = '00000000-0000-0000-0000-000000000000';
const under = (encryptionKey: string) =>
  testDeps({ db: at.deps.db, settings: { ...at.deps.settings, encryptionKey } });

test('a secret is encrypted, and signs as before once the server’s key was replaced, whoever held its row', async () => {
  const old = aKey();
  const fresh = aKey();
  at.deps = under(old);
  const { accountId, secret } = await owner();
  const [kept] = await rows<{ secret: Buffer }>('select secret from webhooks');
  assert.ok(kept && !kept.secret.includes(secret.slice(6, 20)));
  let resealing: Promise<void> | undefined;
  await at.deps.db.transaction(async (tx) => {
    await tx.rows({ name: 'test_hold', text: 'select id from webhooks for update', values: [] });
    // Waits until this one, which holds the row, lets go.
    resealing = resealSecrets(under(`${fresh},${old}`));
    await Promise.race([resealing, sleep(300)]);
  });
  await resealing;
  at.deps = under(fresh);
  await agreed(accountId);
  const { sent, pass } = delivering();
  await pass();
  const { headers, body } = sent[0] ?? { headers: {}, body: '' };
  const text = `${(headers as Record<string, string>)['x-parley-timestamp']}.${body}`;
  const mac = createHmac('sha256', secret).update(text).digest('hex');
  assert.equal((headers as Record<string, string>)['x-parley-signature'], `sha256=${mac}`);
});

test('however many secrets no key opens, those behind them are sealed anew', async () => {
  const lost = aKey();
  const old = aKey();
  const fresh = aKey();
  for (const key of [lost, lost, old, lost, old]) {
    at.deps = under(key);
    await owner();
  }
  const each = { read: secretsNotOf, store: resealSecret, before: noUuid, atOnce: 1 };
  assert.equal(await sealAnew(under(`${fresh},${old}`), each), 3, 'left as they were');
  assert.equal(await sealAnew(under(fresh), each), 3);
  assert.equal(await sealAnew(under(`${fresh},${lost}`), each), 0);
});

/** Which of these a market with such settings refuses, and how the first of them is refused. */
async function refusedOf(settings: Partial<typeof at.deps.settings>, urls: readonly string[]) {
  at.deps = testDeps({ db: at.deps.db, settings: { ...at.deps.settings, ...settings } });
  const refused: string[] = [];
  let why = '';
  for (const url of urls) {
    await webhook(await account(), url).catch((error: unknown) => {
      assert.ok(error instanceof ParleyError && error.code === 'bad_webhook_url');
      refused.push(url);
      why ||= error.message;
    });
  }
  return { refused, why };
}
const real = { network: 'mainnet', webhookNetworks: [], webhookPorts: usualPorts } as const;

test('an address that can never be public is refused when it is registered', async () => {
  const inside = (
    'localhost localhost. a.localhost LOCALHOST receiver host.docker.internal hooks.local a.test. ' +
    'x.example x.invalid x.onion router.home.arpa nas.lan db.corp a.localdomain 127.0.0.1 10.1 ' +
    '0x7f000001 2130706433 017700000001 169.254.169.254 100.64.0.1 192.0.2.7 198.51.100.1 ' +
    '203.0.113.1 198.18.0.1 224.0.0.1 240.0.0.1 255.255.255.255 0.0.0.0 [::] [::1] [fe80::1] ' +
    '[fd00:ec2::254] [ff02::1] [2001:db8::1] [3fff::1] [::ffff:8.8.8.8] [::ffff:7f00:1] ' +
    '[64:ff9b::8.8.8.8] [64:ff9b:1::1] [2002:7f00:1::] [2001::1] [2606:4700::5efe:127.0.0.1]'
  )
    .split(' ')
    .map((host) => `https://${host}/hook`);
  const { refused, why } = await refusedOf(real, inside);
  assert.deepEqual(refused, inside);
  assert.equal(why, 'url is at localhost, a name that has no public address');
  // A name that may lead anywhere is looked up when something is sent to it.
  const open = ['hooks.example.com', '127.0.0.1.nip.io', 'localhost.io', 'a.mylocal', '8.8.8.8'];
  const urls = open.map((host) => `https://${host}/hook`);
  assert.deepEqual((await refusedOf(real, urls)).refused, []);
});

test('names of networks that an operator lists, and all of a dev market’s, are registered', async () => {
  const urls = ['https://receiver/', 'https://hooks.internal/', 'https://localhost/'];
  const own = { ...real, webhookNetworks: ['10.0.0.0/8'] };
  assert.deepEqual((await refusedOf(own, urls)).refused, []);
  assert.deepEqual((await refusedOf({ ...real, network: 'dev' }, urls)).refused, []);
});

test('a webhook has a port of the list, and any in a network of the operator’s own', async () => {
  const at = (port: number) => `https://hooks.example.com:${port}/`;
  const services = [22, 25, 80, 465, 1_023, 2_375, 3_306, 5_432, 6_379, 8_332, 8_545, 27_017].map(
    at,
  );
  const { refused, why } = await refusedOf(real, [...services, at(0), 'https://8.8.8.8:22/']);
  assert.deepEqual(refused, [...services, at(0), 'https://8.8.8.8:22/']);
  assert.equal(why, 'url has port 22, to which this market sends nothing; 443 is the usual');
  const open = [443, 1_024, 3_000, 4_443, 8_443, 9_443, 65_535].map(at);
  assert.deepEqual((await refusedOf(real, open)).refused, []);
  const { webhookPorts } = readSettings({ PARLEY_WEBHOOK_PORTS: '443, 8000-8002' });
  const listed = { ...real, webhookPorts, webhookNetworks: ['10.0.0.0/8'] };
  const asked = [at(8_000), at(8_002), at(8_003), at(7_999), 'https://10.1.2.3:22/'];
  assert.deepEqual((await refusedOf(listed, asked)).refused, [at(8_003), at(7_999)]);
  assert.deepEqual(readSettings({}).webhookPorts, everyPort, 'on the dev network');
  for (const wrong of ['0', '443-', '9-8', '65536', 'https', '1-2-3']) {
    const read = () => readSettings({ PARLEY_WEBHOOK_PORTS: wrong });
    assert.throws(read, /PARLEY_WEBHOOK_PORTS holds ".+", which is no port nor range/, wrong);
  }
});
