// Programs of Debian that tests need beyond Node and npm, and which files need them: those that are
// named here, and all that import them.

import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findToolchain } from '@parley/contracts/solana/compile.ts';
import { cacheFolder, type DebianProgram, isKept } from '@parley/dev/devnet/debian-package.ts';
import { bitcoindPackage } from '@parley/dev/devnet/find-bitcoind.ts';
import { programOnPath } from '@parley/dev/devnet/processes.ts';
import { sourceOf } from '@parley/scripts/sources.ts';
import { chromiumPackage, findChromium } from '../support/chromium.ts';
import { pgbouncerPackage } from '../support/pgbouncer.ts';
import { prometheusPackage } from '../support/prometheus.ts';
import { findPython } from '../support/python.ts';
import { valkeyPackage } from '../support/valkey.ts';

type Named = {
  readonly what: string;
  readonly why: string;
  readonly by: readonly string[];
  isHere(): boolean | Promise<boolean>;
};
/** As root. */
export type Installed = Named & {
  readonly packages: readonly string[];
  /** A Debian may have no version that will do: the tests say that they lack it, and others run. */
  readonly isSpare?: true;
};
/** Into the user's cache, by anyone: a server that is installed would be started. */
export type Unpacked = Named & { readonly program: DebianProgram };
export type Need = Installed | Unpacked;

/** Where the user's cache cannot be written. */
export const spare = join(tmpdir(), `parley-programs-${process.getuid?.() ?? 0}`);
const isKeptHere = async (wanted: DebianProgram) => isKept(wanted, await cacheFolder(spare));
const onPath = (name: string) => () => programOnPath(name) !== null;
const market = 'verify/test/support/market.ts';

export const needs: readonly Need[] = [
  {
    what: 'curl',
    why: 'the tour asks by it',
    by: ['verify/test/tour.test.ts'],
    isHere: onPath('curl'),
    packages: ['curl'],
  },
  {
    what: 'ps',
    why: 'it shows what a market leaves behind',
    by: [market, 'verify/test/start.test.ts'],
    isHere: onPath('ps'),
    packages: ['procps'],
  },
  {
    what: 'openssl',
    why: 'it makes certificates',
    by: ['verify/test/support/certificate.ts', 'apps/market/webhooks/send.test.ts'],
    isHere: onPath('openssl'),
    packages: ['openssl'],
  },
  {
    what: 'systemd-analyze',
    why: 'it checks the units',
    by: ['verify/test/release-docs.test.ts', 'packages/host/service-manager.test.ts'],
    isHere: onPath('systemd-analyze'),
    packages: ['systemd'],
  },
  {
    what: 'Python 3.11 with venv',
    why: 'the Python package runs on it',
    by: [
      'verify/test/support/python.ts',
      'verify/test/support/notify.ts',
      'packages/web/screens/webhooks/webhooks.test.ts',
    ],
    isHere: () => findPython() !== null,
    packages: ['python3', 'python3-venv'],
    isSpare: true,
  },
  {
    what: 'Chromium',
    why: 'the app runs in it',
    by: ['verify/test/support/chromium.ts'],
    isHere: () => Boolean(process.env.PARLEY_CHROMIUM) || findChromium() !== null,
    packages: [chromiumPackage],
  },
  {
    what: 'Rust with its library’s source',
    why: 'the Solana program is built anew',
    by: ['contracts/solana/build.ts', 'verify/test/planted/run.ts'],
    isHere: () => typeof findToolchain() !== 'string',
    packages: ['rustc-web', 'rust-web-src'],
    isSpare: true,
  },
  {
    what: 'promtool',
    why: 'it tests the alerts',
    by: ['verify/test/support/prometheus.ts'],
    isHere: async () =>
      Boolean(process.env.PARLEY_PROMETHEUS) ||
      onPath('promtool')() ||
      (await isKeptHere(prometheusPackage)),
    program: prometheusPackage,
  },
  {
    what: 'Valkey',
    why: 'processes share budgets in it',
    by: ['verify/test/support/valkey.ts'],
    isHere: async () =>
      onPath('valkey-server')() || onPath('redis-server')() || (await isKeptHere(valkeyPackage)),
    program: valkeyPackage,
  },
  {
    what: 'PgBouncer',
    why: 'the database is behind it',
    by: ['verify/test/support/pgbouncer.ts'],
    isHere: async () => onPath('pgbouncer')() || (await isKeptHere(pgbouncerPackage)),
    program: pgbouncerPackage,
  },
  {
    what: 'bitcoind',
    why: 'it is the Bitcoin chain',
    by: ['dev/devnet/find-bitcoind.ts', market],
    isHere: async () =>
      Boolean(process.env.PARLEY_BITCOIND) ||
      onPath('bitcoind')() ||
      (await isKeptHere(bitcoindPackage)),
    program: bitcoindPackage,
  },
];

const imported =
  /^(?:import|export) (?!type\b)[^;]*?'((?:\.|@parley)[^']+)';|\bimport\('((?:\.|@parley)[^']+)'\)/gm;

/** The files and all that they import, at any depth; types alone are no import. */
export function reached(root: string, files: readonly string[]): ReadonlySet<string> {
  const all = new Set(files);
  for (const file of all) {
    if (!/\.[cm]?tsx?$/.test(file)) continue;
    for (const [, still, later] of readFileSync(join(root, file), 'utf8').matchAll(imported)) {
      const source = sourceOf(file, still ?? later ?? '');
      if (source !== null) all.add(source);
    }
  }
  return all;
}

export function needsOf(root: string, files: readonly string[]): Need[] {
  const all = reached(root, files);
  return needs.filter(({ by }) => by.some((file) => all.has(file)));
}
