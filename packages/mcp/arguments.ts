// The arguments of `parley-mcp`. The error names an argument that is not understood.

import { parseArgs } from 'node:util';
import { misused } from '@parley/trader/failures.ts';

export type Asked =
  | { readonly is: 'help' }
  | { readonly is: 'version' }
  | { readonly is: 'serve'; readonly serve: Serve };

export type Serve = {
  readonly profile: string | undefined;
  readonly keys: boolean;
  readonly limits: string | null;
  readonly passphraseFile: string | null;
  readonly passphraseFd: number | null;
  readonly apiKeyFile: string | null;
  readonly readOnly: boolean;
  readonly dev: boolean;
  readonly control: string | undefined;
  readonly market: string | undefined;
  /** null: stdio. */
  readonly port: number | null;
  readonly tokenFile: string | null;
  readonly hosts: readonly string[];
  readonly origins: readonly string[];
};

export const help = `usage: parley-mcp [--profile NAME] [OPTIONS]       serves stdio
       parley-mcp --http PORT [OPTIONS]            serves http://127.0.0.1:PORT/mcp
Profile, keys and pins are made with parley (docs/cli.md).

  --profile NAME          which market and chains; default the only profile
  --read-only             no tool that changes anything
  --api-key-file FILE     an API key of its own, mode 0600; default the profile's
  --keys                  opens the keystore: accepts by it, settles and refunds. Wants --limits
  --limits FILE           per swap, per day, allowed pairs; mode 0600 (docs/mcp.md)
  --passphrase-file FILE  the keystore's passphrase, mode 0600
  --passphrase-fd N       the same from this file descriptor, 3 or above
  --token-file FILE       the token that HTTP wants; default made, in the profile's data
  --allow-host NAME       what a proxy before it is called; may be repeated
  --allow-origin NAME     host of pages that may ask; may be repeated
  --dev                   play money: makes profile, keys, coins and limits of the market that
                          "npm start" runs on this machine (--market URL, --control URL)
  --help, --version
Exit status: 0 ended by its client or a signal, 2 not understood, else as parley (docs/cli.md).`;

const options = {
  profile: { type: 'string' },
  'read-only': { type: 'boolean' },
  'api-key-file': { type: 'string' },
  keys: { type: 'boolean' },
  limits: { type: 'string' },
  'passphrase-file': { type: 'string' },
  'passphrase-fd': { type: 'string' },
  http: { type: 'string' },
  'token-file': { type: 'string' },
  'allow-host': { type: 'string', multiple: true },
  'allow-origin': { type: 'string', multiple: true },
  dev: { type: 'boolean' },
  control: { type: 'string' },
  market: { type: 'string' },
  help: { type: 'boolean' },
  version: { type: 'boolean' },
} as const;

/** Throws Failure `usage`. */
export function understood(args: readonly string[]): Asked {
  const { values } = parsed(args);
  if (values.help === true) return { is: 'help' };
  if (values.version === true) return { is: 'version' };
  const { keys = false, dev = false, limits = null } = values;
  if (limits !== null && !keys && !dev) throw misused('--limits is of --keys');
  const httpOnly = ['token-file', 'allow-host', 'allow-origin'] as const;
  const stray = httpOnly.find((name) => values[name] !== undefined && values.http === undefined);
  if (stray !== undefined) throw misused(`--${stray} is of --http`);
  const ofDev = (['control', 'market'] as const).find((name) => values[name] !== undefined && !dev);
  if (ofDev !== undefined) throw misused(`--${ofDev} is of --dev`);
  const { 'passphrase-file': passphraseFile = null, 'passphrase-fd': fd } = values;
  if (passphraseFile !== null && fd !== undefined) {
    throw misused('--passphrase-file and --passphrase-fd: one of them');
  }
  return {
    is: 'serve',
    serve: {
      profile: values.profile ?? (dev ? 'dev' : undefined),
      keys: keys || dev,
      limits,
      dev,
      control: values.control,
      market: values.market,
      passphraseFile,
      passphraseFd: fd === undefined ? null : within('--passphrase-fd', fd, 3, 1_023),
      apiKeyFile: values['api-key-file'] ?? null,
      readOnly: values['read-only'] ?? false,
      port: values.http === undefined ? null : within('--http', values.http, 0, 65_535),
      tokenFile: values['token-file'] ?? null,
      hosts: values['allow-host'] ?? [],
      origins: values['allow-origin'] ?? [],
    },
  };
}

function parsed(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options, allowPositionals: false });
  } catch (error) {
    throw misused(error instanceof Error ? error.message : String(error));
  }
}

function within(name: string, text: string, least: number, most: number): number {
  const value = Number(text);
  if (/^\d+$/.test(text) && value >= least && value <= most) return value;
  throw misused(`${name} is a whole number from ${least} to ${most}, not "${text}"`);
}
