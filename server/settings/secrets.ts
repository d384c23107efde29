// Settings that hold secrets, read from files: `NAME_FILE`, or a credential of the service manager
// with the setting's name. The environment of a process is shown to whoever may list it.

import { closeSync, existsSync, fstatSync, openSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Environment } from './environment.ts';

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

/** A hundred chains with twenty nodes each take 300 KiB. systemd takes 1 MiB of all credentials. */
const mostFileBytes = 1_048_576;
/** Others may neither read nor write it, and its group not write it. */
const forbiddenMode = 0o027;

export type Opened = {
  /** What was given, with the content of files under the names of their settings. */
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

/** Never quoted in what is wrong. */
function contentOf({ name, file, isCredential }: Source, wrong: string[]): string | undefined {
  let opened: number | undefined;
  try {
    opened = openSync(file, 'r');
    const { mode, size } = fstatSync(opened);
    // The service manager guards credentials by its folder, whatever their mode says.
    if (!isCredential && (mode & forbiddenMode) !== 0) {
      const found = (mode & 0o777).toString(8);
      wrong.push(
        `${name}: others may reach ${file} (mode ${found}): chmod 600, or 640 for a group`,
      );
      return undefined;
    }
    if (size > mostFileBytes) {
      wrong.push(`${name}: ${file} has ${size} bytes; at most ${mostFileBytes} may be`);
      return undefined;
    }
    const text = readFileSync(opened, 'utf8').trim();
    if (text !== '') return text;
    wrong.push(`${name}: ${file} is empty`);
  } catch (error) {
    wrong.push(`${name}: ${(error as Error).message}`);
  } finally {
    if (opened !== undefined) closeSync(opened);
  }
  return undefined;
}
