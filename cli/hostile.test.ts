// A market that answers what it should not.

import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { placesOf, writePrivate } from './places.ts';
import { writeProfile } from './profile.ts';
import { runParley } from './run.ts';

let home: string;
before(async () => {
  home = await mkdtemp(join(tmpdir(), 'parley-cli-hostile-'));
});
after(() => rm(home, { recursive: true, force: true }));

/** Of BIP-39's own vectors. */
const words = `${'abandon '.repeat(11)}about`;

test('claims do not wait for a list of swaps that is none', async () => {
  let answered: unknown;
  const server = createServer((_, response) => response.end(JSON.stringify(answered)));
  await new Promise<void>((next) => server.listen(0, '127.0.0.1', next));
  const { port } = server.address() as AddressInfo;
  const market = `http://127.0.0.1:${port}`;
  const env = { HOME: home };
  const { profileFile, data, account } = placesOf(env, 'one');
  const keyFile = join(data, 'words');
  const named = { market, productName: 'Parley', shortName: 'parley', network: 'dev' } as const;
  await writePrivate(profileFile, writeProfile({ ...named, chains: {}, keyFile }));
  await writePrivate(keyFile, words);
  await writePrivate(account, JSON.stringify({ market, key: 'k' }));
  let said = '';
  const nobody = async () => assert.fail('nobody is asked');
  const io = {
    out: () => {},
    err: (text: string) => {
      said += text;
    },
    ...{ isAsked: false, columns: null, env, cwd: home, signal: new AbortController().signal },
    ...{ ask: nobody, askHidden: nobody, readDescriptor: nobody },
  };
  try {
    for (answered of [
      {},
      { swaps: [null], nextCursor: null },
      { swaps: [{ id: 'one', threadId: '../../words', status: 'agreed' }], nextCursor: null },
      { swaps: [{ id: '../words', threadId: 'one', status: 'agreed' }], nextCursor: null },
    ]) {
      said = '';
      assert.equal(await runParley(['settle'], io), 0, `${JSON.stringify(answered)}: ${said}`);
    }
  } finally {
    server.close();
  }
});
