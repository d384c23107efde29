// The Python package as an outsider has it: its wheel, built from python/ and installed into an
// environment of its own, which finds what the lock names. Asks the registry of this machine's pip.

import { execFile, execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { cacheFolder } from '@parley/dev/devnet/debian-package.ts';
import { generate } from '@parley/scripts/generate.ts';

const run = promisify(execFile);
const source = join(import.meta.dirname, '../../../python');
/** `PARLEY_PYTHON` names others, as PATH names folders. */
const usual = ['python3', 'python3.13', 'python3.12', 'python3.11'];
const installMs = 180_000;
const probe =
  'import sys, venv, ensurepip; print(sys.version.split()[0]); sys.exit(sys.version_info < (3, 11))';

function candidates(): readonly string[] {
  const named = (process.env.PARLEY_PYTHON ?? '').split(delimiter).filter(Boolean);
  return named.length > 0 ? named : usual;
}

/** Null where it is missing, older than 3.11, or makes no environments. */
function versionOf(path: string): string | null {
  try {
    const stdio = ['ignore', 'pipe', 'ignore'] as const;
    return execFileSync(path, ['-c', probe], { stdio: [...stdio], encoding: 'utf8' }).trim();
  } catch {
    return null;
  }
}

/** Each version once. */
export function findPythons(): { readonly path: string; readonly version: string }[] {
  const found = new Map<string, string>();
  for (const path of candidates()) {
    const version = versionOf(path);
    if (version !== null && !found.has(version)) found.set(version, path);
  }
  return [...found].map(([version, path]) => ({ path, version }));
}

/** Null: there is none. */
export function findPython(): string | null {
  return candidates().find((path) => versionOf(path) !== null) ?? null;
}

type Install = (args: readonly string[]) => Promise<unknown>;
type PythonPlace = {
  /** The Python of the environment. */
  readonly python: string;
  /** Where no source of the package is: only the wheel is found. Has its tests. */
  readonly folder: string;
  readonly wheel: string;
};

/** Makes it in `dir`, which is empty. */
export async function installWheel(found: string, dir: string): Promise<PythonPlace> {
  const environment = join(dir, 'environment');
  const python = join(environment, 'bin/python');
  await run(found, ['-m', 'venv', '--without-pip', environment]);
  const install = await installer(found, python);
  const locked = await installLocked(found, install);
  const [release = ''] = await readdir(join(environment, 'lib'));
  const packages = join(environment, 'lib', release, 'site-packages');
  await writeFile(join(packages, 'locked.pth'), `${locked}\n`);
  const tree = join(dir, 'tree');
  await generate();
  await cp(source, tree, {
    recursive: true,
    dereference: true,
    filter: (path) => !/__pycache__|\.(?:mypy|pytest)_cache|\.venv/.test(path),
  });
  const options = { cwd: tree, env: await pythonEnv() };
  await run(python, ['-m', 'hatchling', 'build', '-t', 'wheel'], options);
  const [name = ''] = await readdir(join(tree, 'dist'));
  const wheel = join(tree, 'dist', name);
  await install([...wheels, '--no-index', wheel]);
  const folder = join(dir, 'empty');
  await mkdir(folder);
  await cp(join(tree, 'tests'), join(folder, 'tests'), { recursive: true });
  await cp(join(tree, 'pyproject.toml'), join(folder, 'pyproject.toml'));
  return { python, folder, wheel };
}

/**
 * The package as it lies here, or with a bug planted in PARLEY_TEST_PYTHON, with what its lock
 * names: a Python and its PYTHONPATH.
 */
export async function pythonTree(): Promise<{ readonly python: string; readonly path: string }> {
  const python = findPython();
  if (python === null) throw new Error('no Python from 3.11 on that makes environments');
  const making = await mkdtemp(join(tmpdir(), 'parley-python-'));
  try {
    // A Debian without pip installs into environments alone.
    const inside = join(making, 'bin/python');
    await run(python, ['-m', 'venv', '--without-pip', making]);
    const locked = await installLocked(python, await installer(python, inside));
    await generate();
    const own = process.env.PARLEY_TEST_PYTHON ?? join(source, 'src');
    return { python, path: [own, locked].join(delimiter) };
  } finally {
    await rm(making, { recursive: true, force: true });
  }
}

/** A folder of the user's cache, which outlives a clone. */
export async function pythonCache(): Promise<string> {
  const shared = await cacheFolder(join(tmpdir(), `parley-programs-${process.getuid?.() ?? 0}`));
  const folder = join(shared, 'python');
  await mkdir(folder, { recursive: true });
  return folder;
}

/** The modules that Python compiles, and all that Hypothesis reads of them, are kept there too. */
export async function pythonEnv(): Promise<NodeJS.ProcessEnv> {
  const kept = join(await pythonCache(), 'hypothesis');
  // Containers often have Python write none.
  return { ...process.env, PYTHONDONTWRITEBYTECODE: '', HYPOTHESIS_STORAGE_DIRECTORY: kept };
}

const wheels = ['--only-binary', ':all:', '--no-deps', '--no-compile', '--quiet'];

/** The packages of the lock: pip takes ten seconds for them, so each lock and Python keeps its own. */
async function installLocked(found: string, install: Install): Promise<string> {
  const lock = join(source, 'requirements-dev.txt');
  const about = `${versionOf(found)}\n${await readFile(lock, 'utf8')}`;
  const digest = createHash('sha256').update(about).digest('hex').slice(0, 16);
  const cache = await pythonCache();
  const folder = join(cache, `locked-${digest}`);
  if (existsSync(folder)) return folder;
  const making = await mkdtemp(join(cache, 'making-'));
  await install([...wheels, '--require-hashes', '-r', lock, '--target', making]);
  // Another process may have been first.
  await rename(making, folder).catch(async (error: Error) => {
    await rm(making, { recursive: true });
    if (!existsSync(folder)) throw error;
  });
  return folder;
}

/**
 * The wheel as pip resolves it, unlocked, beside these packages and what runs its tests: an
 * environment of its own in `dir`. Resolves to its Python; rejects where versions do not agree.
 */
export async function installBeside(
  found: string,
  dir: string,
  { wheel, packages }: { readonly wheel: string; readonly packages: readonly string[] },
): Promise<string> {
  const python = join(dir, 'bin/python');
  await run(found, ['-m', 'venv', '--without-pip', dir]);
  const install = await installer(found, python);
  const wanted = [wheel, ...packages, 'pytest', 'hypothesis', 'websocket-client'];
  await install(['--only-binary', ':all:', '--no-compile', '--quiet', ...wanted]);
  return python;
}

/** The least of each dependency that the package says it works with. */
export async function leastVersions(): Promise<string[]> {
  const text = await readFile(join(source, 'pyproject.toml'), 'utf8');
  const [, list = ''] = /^dependencies = \[\n(.*?)^\]/ms.exec(text) ?? [];
  return [...list.matchAll(/"([\w-]+)>=([\d.]+),/g)].map(([, name, least]) => `${name}==${least}`);
}

/** This machine's pip, which saves seconds; else one of the environment's own. */
async function installer(found: string, python: string): Promise<Install> {
  const options = { timeout: installMs };
  const own = ['-m', 'pip', '--python', python, 'install'];
  try {
    await run(found, [...own, '--help']);
    return (args: readonly string[]) => run(found, [...own, ...args], options);
  } catch {
    await run(python, ['-m', 'ensurepip']);
    return (args: readonly string[]) => run(python, ['-m', 'pip', 'install', ...args], options);
  }
}
