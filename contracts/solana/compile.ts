// Compiles the program. The core library is compiled for BPF, the program to one object, and link.ts
// makes the program of it: no cargo, no LLVM tools, no network. Any rustc of the list below that has
// its library's source beside it will do; all give the same bytes.

import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { link } from './link.ts';

const here = import.meta.dirname;
export const PROGRAM_FILE = join(here, 'parley_escrow.so');
export const DIGEST_FILE = `${PROGRAM_FILE}.sha256`;
const SOURCES = join(here, 'src');
/** The user's cache outlives a clone; a clone has its own where that one cannot be written. */
const CACHES: readonly string[] = [
  join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'parley'),
  join(here, '..', '..', 'node_modules', '.cache', 'parley'),
];

/** Releases of Rust seen to give these bytes: rustup's 1.95.0 (LLVM 22.1.2), Debian's 1.96.0. */
const RUST_RELEASES: readonly string[] = ['1.95.0', '1.96.0'];
const TARGET = 'bpfel-unknown-none';
const RUN_MS = 5 * 60_000;

const FLAGS: readonly string[] = [
  '-Zunstable-options',
  '-Copt-level=3',
  '-Cpanic=abort',
  '-Coverflow-checks=off',
  '-Cdebug-assertions=off',
  '-Ccodegen-units=1',
  // No 32-bit arithmetic: sBPF extends its results otherwise than eBPF does.
  '-Ctarget-cpu=v2',
  // A frame has 4096 bytes here, 512 in Linux.
  '-Cllvm-args=-bpf-stack-size=4096',
];

export type Toolchain = {
  readonly rustc: string;
  readonly release: string;
  readonly library: string;
};

function run(rustc: string, args: readonly string[]): string {
  // The bootstrap switch admits -Z flags on a stable release.
  const env = { ...process.env, RUSTC_BOOTSTRAP: '1' };
  const result = spawnSync(rustc, args, { env, encoding: 'utf8', timeout: RUN_MS, cwd: here });
  if (result.status === 0) return result.stdout;
  throw new Error(`rustc failed: ${result.error?.message ?? result.stderr}`);
}

/** The first rustc on PATH that will do, or why the first of them will not. */
export function findToolchain(): Toolchain | string {
  const found = (process.env.PATH ?? '')
    .split(delimiter)
    .map((folder) => join(folder, 'rustc'))
    .filter((file) => existsSync(file))
    .map(toolchainOf);
  return found.find((each) => typeof each !== 'string') ?? found[0] ?? 'no rustc on PATH';
}

function toolchainOf(rustc: string): Toolchain | string {
  let version: string;
  let library: string;
  try {
    version = run(rustc, ['-vV']);
    library = join(run(rustc, ['--print', 'sysroot']).trim(), 'lib/rustlib/src/rust/library');
  } catch (error) {
    return `${rustc} does not run (${(error as Error).message.split('\n')[0]})`;
  }
  const release = /^release: (.*)$/m.exec(version)?.[1] ?? 'unknown';
  if (!RUST_RELEASES.includes(release)) {
    return `rustc is ${release}, not one of ${RUST_RELEASES.join(', ')}`;
  }
  if (!existsSync(join(library, 'core/src/lib.rs'))) {
    return 'the source of the Rust library is missing (rustup component rust-src, or rust-web-src)';
  }
  return { rustc, release, library };
}

/** The target of rustc itself, but giving a machine-code object instead of LLVM bitcode. */
function targetSpec(rustc: string): string {
  const spec = JSON.parse(
    run(rustc, ['--print', 'target-spec-json', '--target', TARGET, '-Zunstable-options']),
  );
  delete spec['obj-is-bitcode'];
  return JSON.stringify(spec);
}

/** The compiled library, which all programs share. */
export type Prepared = {
  readonly rustc: string;
  readonly flags: readonly string[];
};

const target = 'sbpf.json';
const flagsIn = (folder: string): readonly string[] => [
  ...FLAGS,
  '--target',
  join(folder, target),
  '--sysroot',
  folder,
  '-L',
  folder,
];

function cacheFolder(): string {
  for (const folder of CACHES) {
    try {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      accessSync(folder, constants.W_OK);
      return folder;
    } catch {}
  }
  throw new Error(`none of ${CACHES.join(', ')} can be written`);
}

/** Ten seconds of the processor and more, kept for each compiler. */
export function prepare({ rustc, release, library }: Toolchain): Prepared {
  const spec = targetSpec(rustc);
  const about = [rustc, release, spec, ...FLAGS].join('\n');
  const digest = createHash('sha256').update(about).digest('hex').slice(0, 16);
  const cache = cacheFolder();
  const folder = join(cache, `sbpf-${digest}`);
  if (!existsSync(folder)) {
    const making = mkdtempSync(join(cache, 'sbpf-making-'));
    writeFileSync(join(making, target), spec);
    compileLibrary(rustc, library, making);
    try {
      renameSync(making, folder);
    } catch (error) {
      rmSync(making, { recursive: true });
      // Somebody else was first.
      if (!existsSync(folder)) throw error;
    }
  }
  return { rustc, flags: flagsIn(folder) };
}

function compileLibrary(rustc: string, library: string, folder: string): void {
  const crate = (name: string, edition: string, file: string) =>
    run(rustc, [
      '--crate-name',
      name,
      '--crate-type',
      'rlib',
      '--edition',
      edition,
      file,
      ...flagsIn(folder),
      '--cap-lints',
      'allow',
      '-Zforce-unstable-if-unmarked',
      '-Zalways-encode-mir',
      `--emit=metadata=${join(folder, `lib${name}.rmeta`)}`,
    ]);
  crate('core', '2024', join(library, 'core/src/lib.rs'));
  // Every crate names it; this program uses none of it.
  const empty = join(folder, 'empty.rs');
  const features = '#![feature(compiler_builtins, no_core)]';
  writeFileSync(empty, `${features}\n#![compiler_builtins]\n#![no_core]\n`);
  crate('compiler_builtins', '2021', empty);
}

export function compile(
  { rustc, flags }: Prepared,
  sources: string,
  warnings: 'deny' | 'allow' = 'deny',
): Buffer {
  const folder = mkdtempSync(join(tmpdir(), 'parley-sbpf-'));
  const object = join(folder, 'program.o');
  try {
    run(rustc, [
      '--crate-name',
      'parley_escrow',
      '--crate-type',
      'lib',
      '--edition',
      '2021',
      join(sources, 'lib.rs'),
      ...flags,
      '--remap-path-prefix',
      `${sources}=src`,
      warnings === 'deny' ? '-Dwarnings' : '-Awarnings',
      `--emit=obj=${object}`,
    ]);
    return link(readFileSync(object));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

export const digestOf = (program: Uint8Array): string =>
  createHash('sha256').update(program).digest('hex');

/** By which a deployment of it is known. */
export const codeOf = (program: Uint8Array) => ({
  sha256: digestOf(program),
  bytes: program.length,
});

/** The line that sha256sum writes, and checks. */
export const digestLine = (program: Uint8Array): string =>
  `${digestOf(program)}  parley_escrow.so\n`;

export const build = (toolchain: Toolchain): Buffer => compile(prepare(toolchain), SOURCES);
