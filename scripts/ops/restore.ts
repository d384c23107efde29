// `ops restore`: a backup made by `ops backup` becomes the database of a new home. The next
// start there takes the time since for missing, and reads it back from the chains. docs/restore.md.

import { readFile, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { checkBackup, type Manifest } from '../../host/postgres/backup.ts';
import { mustBeKnown, mustHaveNone, restoreInto } from '../../host/postgres/restore.ts';
import { connect, databaseLimits } from '../../server/db/database.ts';
import { revokeAllKeys } from '../../server/db/keys.ts';
import { migrate } from '../../server/db/migrate.ts';
import { keyVersionsOf } from '../../server/ports/keyring.ts';
import { readSettings } from '../../server/settings/config.ts';
import { openHome } from '../../server/start/start-errors.ts';
import { Misused, parsed, usualOptions } from '../command.ts';
import { longStatementMs, note, quiet } from './operator.ts';

const usage = `usage: npm run ops -- restore FOLDER --home NEW [--key FILE | --without-key]
                          [--keep-keys] [--json]
       npm run ops -- restore FOLDER --check [--json]
  FOLDER         what npm run ops -- backup made
  --home         the PARLEY_HOME to make: it must have no database
  --key          the server's own key of then, unless PARLEY_ENCRYPTION_KEY is set
  --without-key  it is lost: webhook secrets and stored replies cannot be opened any more
  --keep-keys    API keys stay good; else all are revoked, because some that were revoked since the
                 backup would be good again
  --check        only looks whether the backup is whole
Exit status: 0 done, 1 refused, 2 not understood.`;

function understand(args: string[]) {
  const flag = { type: 'boolean' } as const;
  const options = {
    home: { type: 'string' },
    key: { type: 'string' },
    'without-key': flag,
    'keep-keys': flag,
    check: flag,
    ...usualOptions,
  } as const;
  const { values, positionals } = parsed({ args, options, allowPositionals: true });
  if (values.help === true) return null;
  const [folder, ...rest] = positionals;
  if (folder === undefined) throw new Misused('which folder?');
  if (rest.length > 0) throw new Misused(`one folder, please, and not also "${rest.join(' ')}"`);
  if ((values.home === undefined) === (values.check !== true)) {
    throw new Misused('either --home or --check');
  }
  return {
    folder: resolve(folder),
    home: values.home === undefined ? null : resolve(values.home),
    key: values.key === undefined ? null : resolve(values.key),
    withoutKey: values['without-key'] === true,
    keepKeys: values['keep-keys'] === true,
    json: values.json === true,
  };
}

type Asked = NonNullable<ReturnType<typeof understand>>;

async function keyOf(asked: Asked, { keyVersion }: Manifest): Promise<string | null> {
  const { encryptionKey = null } = readSettings(process.env);
  const text = asked.key === null ? encryptionKey : (await readFile(asked.key, 'utf8')).trim();
  if (text === null) {
    if (asked.withoutKey) return null;
    throw new Error(
      "the server's own key is not in the backup: give --key FILE or PARLEY_ENCRYPTION_KEY, or " +
        '--without-key where it is lost',
    );
  }
  if (keyVersion !== null && !asked.withoutKey && !keyVersionsOf(text).includes(keyVersion)) {
    throw new Error('that is not the key of the market that was backed up');
  }
  return asked.key;
}

/** Never over another key. True: it was put there now, and goes again with a failure. */
async function placeKey(from: string, target: string): Promise<boolean> {
  const key = await readFile(from);
  const there = await readFile(target).catch(() => null);
  if (there?.equals(key)) return false;
  await writeFile(target, key, { flag: 'wx', mode: 0o600 });
  return true;
}

async function run(asked: Asked): Promise<number> {
  const { folder, home, json, keepKeys } = asked;
  const manifest = await checkBackup(folder);
  await mustBeKnown(manifest);
  if (home === null) {
    console.log(json ? JSON.stringify({ folder, whole: true }) : `${folder} is whole`);
    return 0;
  }
  const key = await keyOf(asked, manifest);
  await mustHaveNone(home);
  await openHome(home);
  const target = join(home, 'server.key');
  let revoked = 0;
  const isPlaced = key !== null && (await placeKey(key, target));
  try {
    await restoreInto(home, { folder, manifest }, quiet, async ({ url }) => {
      await migrate(url);
      const db = connect(url, { ...databaseLimits, statementMs: longStatementMs });
      try {
        await db.transaction(async (tx) => {
          const now = new Date();
          if (!keepKeys) revoked = await revokeAllKeys(tx, now);
          const given = { folder, home, keepKeys, withoutKey: asked.withoutKey };
          const facts = { madeAt: manifest.madeAt, revoked };
          await note(tx, { command: 'restore', arguments: given }, { changed: true, facts });
        });
      } finally {
        await db.close();
      }
    });
  } catch (error) {
    if (isPlaced) await rm(target, { force: true });
    throw error;
  }
  if (json) console.log(JSON.stringify({ home, madeAt: manifest.madeAt, revoked }));
  else console.log(advice(home, manifest, revoked, keepKeys));
  return 0;
}

function advice(home: string, { madeAt }: Manifest, revoked: number, keepKeys: boolean): string {
  const keys = keepKeys
    ? 'API keys are as they were then: those revoked since are good again.'
    : `${revoked} API keys are revoked: customers mint new ones.`;
  return [
    `Restored as of ${madeAt}. ${keys}`,
    `Start it with PARLEY_HOME=${home}. Nothing is agreed until the chains were read back;`,
    'everything else goes on at once. What each party should do: docs/restore.md.',
  ].join('\n');
}

export const command = { usage, understand, run };
