// Settings that hold secrets, read from files: `NAME_FILE`, or a credential of the service manager
// with the setting's name. The environment of a process is shown to whoever may list it.

import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Environment } from './environment.ts';
import { readSecretFile } from './secret-file.ts';

/** Each may be given by `<name>_FILE`, or as a credential called `<name>`. */
export const secretSettings: readonly string[] = [
  'DATABASE_URL',
  'DATABASE_READ_URL',
  'VALKEY_URL',
  'PARLEY_ENCRYPTION_KEY',
  'PARLEY_CHAINS',
  'PARLEY_MARKET_DATA',
  'PARLEY_SMTP_URL',
];
/** Given by a file alone: as a credential each is the file that `<name>_FILE` names. */
const fileSettings: readonly string[] = ['PARLEY_TELEGRAM_BOT_TOKEN', 'PARLEY_METRICS_TOKEN'];

export type Opened = {
  /** The given variables, with the content of files under the names of their settings. */
  readonly environment: Environment;
  readonly wrong: readonly string[];
};

type Source = { readonly name: string; readonly file: string; readonly isCredential: boolean };

export function openSecrets(given: Environment): Opened {
  const wrong: string[] = [];
  const environment: Record<string, string | undefined> = { ...given };
  const folder = given.CREDENTIALS_DIRECTORY || null;
  for (const setting of secretSettings) {
    const named = `${setting}_FILE`;
    delete environment[named];
    const sources = [...fileOf(given, named), ...credentialOf(folder, setting)];
    const all = [...(given[setting] ? [setting] : []), ...sources.map(({ name }) => name)];
    const [source] = sources;
    if (all.length > 1) {
      wrong.push(`${setting} is given ${all.length} times: ${all.join(' and ')}. Keep one of them`);
    } else if (source !== undefined) environment[setting] = contentOf(source, wrong);
  }
  for (const setting of fileSettings) {
    const [token] = credentialOf(folder, setting);
    if (token === undefined) continue;
    const named = `${setting}_FILE`;
    if (given[named]) wrong.push(`${setting} is given 2 times: ${named} and ${token.name}`);
    environment[named] = token.file;
  }
  return { environment, wrong: [...wrong, ...strangers(folder)] };
}

function fileOf(given: Environment, name: string): Source[] {
  const file = given[name];
  return file ? [{ name, file, isCredential: false }] : [];
}

function credentialOf(folder: string | null, setting: string): Source[] {
  if (folder === null) return [];
  const file = join(folder, setting);
  if (!existsSync(file)) return [];
  return [{ name: `the credential ${setting}`, file, isCredential: true }];
}

/** A misspelt credential would be ignored in silence. Files of other names are nobody's setting. */
function strangers(folder: string | null): string[] {
  if (folder === null || !existsSync(folder)) return [];
  const known = [...secretSettings, ...fileSettings];
  const others = readdirSync(folder).filter((name) => /^PARLEY_[A-Z_]+$/.test(name));
  return others
    .filter((name) => !known.includes(name))
    .map((name) => `the credential ${name} is no secret setting; those are ${known.join(', ')}`);
}

function contentOf({ name, file, isCredential }: Source, wrong: string[]): string | undefined {
  const read = readSecretFile(file, isCredential ? 'anybody' : 'group');
  if ('text' in read) return read.text;
  wrong.push(`${name}: ${read.wrong}`);
  return undefined;
}
