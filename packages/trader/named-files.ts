// A folder of JSON files, each named by an id: of a swap, a trade, a withdrawal. On a disk that
// ignores case two ids are still two files, and files as older versions named them are read.

import { readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { nullIfMissing } from '@parley/host/missing-file.ts';
import { makePrivateFolder, syncFolder } from '@parley/host/private-file.ts';
import { fileNameOf, idIn } from '@parley/sdk/stores/entries.ts';
import { readUpTo, writePrivate } from './places.ts';

const end = '.json';

export type NamedFiles = ReturnType<typeof namedFiles>;
type Place = { readonly folder: string; readonly fileOf: (id: string) => string };

/** The caller has checked the shape of each id. */
export function namedFiles(folder: string) {
  const fileOf = (id: string) => join(folder, `${fileNameOf(id)}${end}`);
  const namesIn = async (): Promise<readonly string[]> =>
    (await readdir(folder).catch(nullIfMissing)) ?? [];
  /** As an older version has named it. */
  const olderOf = async (id: string): Promise<string | null> => {
    const name = `${id}${end}`;
    if (fileNameOf(id) === id || !(await namesIn()).includes(name)) return null;
    return join(folder, name);
  };
  const removeOlder = async (id: string) => {
    const older = await olderOf(id);
    if (older !== null) await rm(older, { force: true });
  };
  return {
    folder,
    fileOf,
    /** The file that has it, by whatever name: a person is told of it. */
    placeOf: async (id: string): Promise<string> => {
      const names = await namesIn().catch((): string[] => []);
      const isOlder = !names.includes(`${fileNameOf(id)}${end}`) && names.includes(`${id}${end}`);
      return isOlder ? join(folder, `${id}${end}`) : fileOf(id);
    },
    /** A folder that is not there has none. */
    ids: async (): Promise<string[]> => {
      const names = (await namesIn()).filter((name) => name.endsWith(end) && !name.startsWith('.'));
      return [...new Set(names.map((name) => idIn(name.slice(0, -end.length))))];
    },
    /** null: there is none. Throws where it is larger than `most` bytes, or cannot be read. */
    read: async (id: string, most?: number): Promise<string | null> => {
      const text = await readUpTo(fileOf(id), most);
      const older = text === null ? await olderOf(id) : null;
      return older === null ? text : readUpTo(older, most);
    },
    /** As `writePrivate`. */
    write: async (id: string, text: string, how: { readonly isNew?: boolean } = {}) => {
      await writePrivate(fileOf(id), text, how);
      await removeOlder(id);
    },
    remove: async (id: string): Promise<void> => {
      await rm(fileOf(id), { force: true });
      await removeOlder(id);
    },
    /** On disk there when it resolves, and not here any more. */
    moveTo: async (id: string, to: Place): Promise<void> => {
      await makePrivateFolder(to.folder);
      const older = await olderOf(id);
      await rename(fileOf(id), to.fileOf(id)).catch((error: NodeJS.ErrnoException) => {
        nullIfMissing(error);
        return older === null ? null : rename(older, to.fileOf(id));
      });
      await removeOlder(id);
      await syncFolder(to.folder);
      await syncFolder(folder);
    },
  };
}
