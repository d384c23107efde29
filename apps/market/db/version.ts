// Which version this is: as its manifest says, and by the migrations that it knows.

import { readdirSync, readFileSync } from 'node:fs';

const manifest = new URL('../../../package.json', import.meta.url);

export const { version } = JSON.parse(readFileSync(manifest, 'utf8')) as { version: string };

export const migrationsFolder = new URL('./migrations/', import.meta.url);

/** Names, in their order. */
export function migrationsIn(folder: URL): readonly string[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith('.sql'))
    .sort();
}

export const ownMigrations = migrationsIn(migrationsFolder);

/** `001` of `001.sql`, `002` of `002_fees.sql`. Numbers compare as texts. */
export function numberOf(migration: string): string {
  return migration.slice(0, 3);
}

/** The number of the newest one. */
export const knows = numberOf(ownMigrations.at(-1) ?? '000');

/** Whether only versions that know more may work on the database. `compatibleFrom` null: any. */
export function isTooNew(compatibleFrom: string | null, own = knows): boolean {
  return compatibleFrom !== null && compatibleFrom > own;
}

/**
 * The name of this version's sessions at the database: a migration asks for the versions of others.
 */
export const sessionName = `parley/${knows}`;
