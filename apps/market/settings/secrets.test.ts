// Secrets by files and credentials: taken once, guarded by their mode, never quoted.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { readSettings } from './config.ts';
import { secretSettings } from './secrets.ts';

let dir: string;
before(() => {
  dir = mkdtempSync(join(tmpdir(), 'parley-secrets-'));
});
after(() => rmSync(dir, { recursive: true, force: true }));

const secret = 'f00dfacef00dface';
const url = `postgres://me:${secret}@127.0.0.1/market`;

function written(name: string, text: string, mode = 0o600): string {
  const file = join(dir, name);
  writeFileSync(file, text);
  chmodSync(file, mode);
  return file;
}

function refusal(env: Record<string, string>): string {
  try {
    readSettings(env);
  } catch (error) {
    const { message } = error as Error;
    assert.ok(!message.includes(secret), message);
    return message;
  }
  return assert.fail('taken');
}

test('a secret setting is what its file holds, without the end of the line', () => {
  const file = written('url', `${url}\n`);
  assert.equal(readSettings({ DATABASE_URL_FILE: file }).databaseUrl, url);
  assert.equal(readSettings({ DATABASE_URL_FILE: '' }).databaseUrl, null);
  const chains = [{ family: 'evm', chain: 'e', chainId: 31_337, rpcUrls: ['http://127.0.0.1:1'] }];
  const settings = readSettings({ PARLEY_CHAINS_FILE: written('chains', JSON.stringify(chains)) });
  assert.deepEqual(settings.chains, chains);
});

test('each secret setting has such a twin, and a twin that cannot be read is named', () => {
  for (const name of secretSettings) {
    assert.match(
      refusal({ [`${name}_FILE`]: join(dir, 'none') }),
      new RegExp(`${name}_FILE: ENOENT`),
    );
  }
  assert.match(refusal({ PARLEY_RATE_LIMIT_FILE: '/x' }), /PARLEY_RATE_LIMIT_FILE is no setting/);
});

test('a file that others may read or write is refused with its mode, one of a group is not', () => {
  for (const mode of [0o604, 0o644, 0o602, 0o620, 0o666]) {
    const file = written('open', url, mode);
    const said = refusal({ DATABASE_URL_FILE: file });
    assert.match(
      said,
      new RegExp(`others may reach .*\\(mode ${mode.toString(8)}\\): .* chmod 600`),
    );
  }
  for (const mode of [0o400, 0o440, 0o600, 0o640]) {
    assert.equal(
      readSettings({ DATABASE_URL_FILE: written(`m${mode}`, url, mode) }).databaseUrl,
      url,
    );
  }
});

test('an empty file and one of a megabyte and a byte are refused with what they have', () => {
  const empty = written('empty', ' \n');
  assert.match(refusal({ DATABASE_URL_FILE: empty }), /DATABASE_URL_FILE: .* is empty/);
  const large = written('large', 'x'.repeat(1_048_577));
  assert.match(refusal({ VALKEY_URL_FILE: large }), /has 1048577 bytes; at most 1048576 may be/);
});

/** Settings that name a file by themselves, and what makes them read it. */
const inFiles = (file: string): Record<string, string>[] => [
  { DATABASE_URL_FILE: file },
  { PARLEY_METRICS_TOKEN_FILE: file, PARLEY_METRICS_PORT: '0' },
  { PARLEY_TELEGRAM_BOT_TOKEN_FILE: file },
  { PARLEY_SMTP_URL: `@${file}`, PARLEY_MAIL_FROM: 'a@market.example' },
];

test('every file that holds a secret is guarded alike: by its mode, its size and its kind', () => {
  const open = written('others', secret, 0o644);
  const large = written('larger', 'x'.repeat(1_048_577));
  for (const env of inFiles(open)) assert.match(refusal(env), /others may reach .*\(mode 644\)/);
  for (const env of inFiles(large)) assert.match(refusal(env), /at most 1048576 may be/);
  for (const env of inFiles(dir)) assert.match(refusal(env), /is no regular file/);
});

test('a file without an end or that would be waited for is refused at once: a FIFO, a device', () => {
  const fifo = join(dir, 'fifo');
  execFileSync('mkfifo', ['-m', '600', fifo]);
  // A setting that may stand in a file without being a secret is read alike.
  const settings = (file: string) => [...inFiles(file), { PARLEY_CHAINS: `@${file}` }];
  for (const env of settings(fifo)) assert.match(refusal(env), /is no regular file/);
  for (const env of settings('/dev/zero')) assert.match(refusal(env), /is no regular/);
});

test('a setting that is given twice is refused, whichever two they are', () => {
  const file = written('twice', url);
  const said = refusal({ DATABASE_URL: url, DATABASE_URL_FILE: file });
  assert.match(said, /DATABASE_URL is given 2 times: DATABASE_URL and DATABASE_URL_FILE/);
  const folder = mkdtempSync(join(dir, 'given-'));
  writeFileSync(join(folder, 'DATABASE_URL'), url);
  const manager = { CREDENTIALS_DIRECTORY: folder };
  assert.match(refusal({ ...manager, DATABASE_URL: url }), /and the credential DATABASE_URL/);
  assert.match(refusal({ ...manager, DATABASE_URL_FILE: file }), /is given 2 times/);
});

test('a credential with the name of a secret setting is that setting, whatever its mode says', () => {
  const folder = mkdtempSync(join(dir, 'credentials-'));
  const token = `12345:${'a'.repeat(30)}`;
  writeFileSync(join(folder, 'DATABASE_URL'), `${url}\n`, { mode: 0o444 });
  writeFileSync(join(folder, 'PARLEY_TELEGRAM_BOT_TOKEN'), token);
  writeFileSync(join(folder, 'PARLEY_METRICS_TOKEN'), 'm'.repeat(32));
  writeFileSync(join(folder, 'keeper.key'), 'a key that PARLEY_KEEPER names');
  const { databaseUrl, people, metricsToken } = readSettings({
    CREDENTIALS_DIRECTORY: folder,
    PARLEY_METRICS_PORT: '0',
  });
  assert.deepEqual([databaseUrl, people.bot?.token], [url, token]);
  assert.equal(metricsToken, 'm'.repeat(32));
  const twice = { CREDENTIALS_DIRECTORY: folder, PARLEY_TELEGRAM_BOT_TOKEN_FILE: '/x' };
  assert.match(refusal(twice), /PARLEY_TELEGRAM_BOT_TOKEN is given 2 times/);
  writeFileSync(join(folder, 'PARLEY_ENCRYPTON_KEY'), secret);
  const misspelt = refusal({ CREDENTIALS_DIRECTORY: folder });
  assert.match(misspelt, /the credential PARLEY_ENCRYPTON_KEY is no secret setting; those are/);
});
