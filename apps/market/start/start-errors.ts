// A market that did not start says why to the operator: which setting, and what to do. A
// password that a setting holds is never in them.

import { constants } from 'node:fs';
import { access, mkdir } from 'node:fs/promises';
import { createServer } from 'node:net';
import pg from 'pg';
import { PoolerError } from '../db/session.ts';
import type { Settings } from '../settings/config.ts';
import { databaseForm, databaseUrlFault, percentEncoding } from '../settings/database-url.ts';

export const poolerTodo =
  'name PostgreSQL itself, or a pooler in session mode (PgBouncer: pool_mode = session) ' +
  '(docs/database.md)';

class StartError extends Error {
  constructor(message: string, cause: unknown) {
    super(message, { cause });
    this.name = 'StartError';
  }
}

function codeOf(error: unknown): string {
  const { code } = (error ?? {}) as { code?: unknown };
  return typeof code === 'string' ? code : '';
}

/** Makes the folder where state lives; throws StartError when nothing can be written there. */
export async function openHome(home: string): Promise<void> {
  try {
    await mkdir(home, { recursive: true, mode: 0o700 });
    await access(home, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    const why = homeFaults[codeOf(error)] ?? (error as Error).message;
    throw new StartError(
      `PARLEY_HOME ${home} cannot be used: ${why}. Set PARLEY_HOME to a folder that this user ` +
        'may write to',
      error,
    );
  }
}

const homeFaults: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EROFS: 'it is on a read-only file system',
  ENOSPC: 'the disk is full',
  ENOTDIR: 'it is a file, or lies under one',
  EEXIST: 'it is a file',
  ENOENT: 'its parent cannot hold folders',
};

/** Why the dev network cannot be started; other errors come back as they are. */
export function devNetworkFault(error: unknown): unknown {
  const [, name] =
    /^Cannot find (?:package|module) '([^']+)'/.exec(String((error as Error).message)) ?? [];
  if (codeOf(error) !== 'ERR_MODULE_NOT_FOUND' || name === undefined) return error;
  if (name.endsWith('/devnet/devnet.ts')) {
    const todo = 'set PARLEY_NETWORK and PARLEY_CHAINS (docs/settings.md)';
    return new StartError(`a release has no dev network: ${todo}`, error);
  }
  return new StartError(
    `the dev network needs ${name}, which npm ci --omit=dev leaves out: run npm ci, or set ` +
      'PARLEY_CHAINS to chains of your own',
    error,
  );
}

export type Place = {
  readonly setting: string;
  readonly port: number;
  readonly host: string;
  /** The setting of the host, null where it is fixed. */
  readonly hostSetting: string | null;
};

export function loopbackPlace(setting: string, port: number): Place {
  return { setting, port, host: '127.0.0.1', hostSetting: null };
}

export function metricsPlace(settings: Pick<Settings, 'metricsHost' | 'metricsPort'>): Place {
  const { metricsHost: host, metricsPort } = settings;
  const port = metricsPort ?? 0;
  return { setting: 'PARLEY_METRICS_PORT', port, host, hostSetting: 'PARLEY_METRICS_HOST' };
}

/** Throws StartError while nothing is started yet, rather than when everything is. */
export async function mustBeFree(place: Place): Promise<void> {
  const probe = createServer();
  await naming(
    (error) => listenFault(place, error),
    new Promise<void>((resolve, reject) => {
      probe.once('error', reject);
      probe.listen(place.port, place.host, resolve);
    }),
  );
  await new Promise<void>((resolve) => {
    probe.close(() => resolve());
  });
}

/** The result of `work`; an exception goes through `fault` first. */
export async function naming<Result>(
  fault: (error: unknown) => unknown,
  work: Promise<Result>,
): Promise<Result> {
  try {
    return await work;
  } catch (error) {
    throw fault(error);
  }
}

/** The reason why the server could not listen there; another error comes back as it is. */
export function listenFault({ setting, port, host, hostSetting }: Place, error: unknown): unknown {
  const onHost = (why: string) =>
    new StartError(
      hostSetting === null
        ? `${host} ${why}`
        : `${hostSetting} ${host} ${why}; set ${hostSetting} to 127.0.0.1 for this machine alone, ` +
            'or to 0.0.0.0 for all of its addresses',
      error,
    );
  switch (codeOf(error)) {
    case 'EADDRINUSE':
      return new StartError(
        `${setting} ${port} is in use on ${host} by another program; end that, or set ` +
          `${setting}=${port === 65_535 ? port - 1 : port + 1} (0 takes any free port)`,
        error,
      );
    case 'EACCES':
    case 'EPERM':
      return new StartError(
        `${setting} ${port} may not be used by this user; set ${setting} to 1024 or more`,
        error,
      );
    case 'EADDRNOTAVAIL':
      return onHost('is no address of this machine');
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
    case 'EINVAL':
      return onHost('is not a name or address that this machine knows');
    default:
      return error;
  }
}

/** How a setting says that its database is behind a pooler which hands sessions round. */
export function poolerFault(setting: string, error: PoolerError): Error {
  return new StartError(`${setting}: ${error.message}; ${poolerTodo}`, error);
}

/** Why the database of DATABASE_URL could not be opened; other errors come back as they are. */
export function databaseFault(databaseUrl: string, error: unknown): unknown {
  if (error instanceof StartError) return error;
  if (error instanceof PoolerError) return poolerFault('DATABASE_URL', error);
  const said = (error as Error).message;
  const of = (fault: string) => new StartError(`DATABASE_URL: ${fault}`, error);
  const malformed = databaseUrlFault(databaseUrl);
  // Its driver may have read a piece of the password as something else, and shown that.
  if (malformed !== null) return of(malformed);
  const target = targetOf(databaseUrl);
  const code = codeOf(error);
  const tls = tlsFault(target.server, code, said);
  if (tls !== null) return of(tls);
  const [word = ''] = /timeout|password(?= must be a string)/i.exec(said) ?? [];
  const faults = databaseFaults(target);
  const fault = faults[code] ?? faults[word.toLowerCase()];
  return fault === undefined ? error : of(fault);
}

function databaseFaults({ server, user, name }: Target): Readonly<Record<string, string>> {
  const away = 'is it running, and let through?';
  const unknown = `the host of ${server} is not known; correct it`;
  const unreachable = `PostgreSQL at ${server} cannot be reached; ${away}`;
  const silent = `no PostgreSQL listens at ${server}; start it, or correct host and port`;
  const refused =
    `PostgreSQL at ${server} refuses user ${user}: correct user and password` +
    ` (${percentEncoding})`;
  return {
    ECONNREFUSED: silent,
    // The folder of a socket.
    ENOENT: silent,
    EACCES: `the socket at ${server} may not be used by this user`,
    ENOTFOUND: unknown,
    EAI_AGAIN: unknown,
    ETIMEDOUT: unreachable,
    EHOSTUNREACH: unreachable,
    ENETUNREACH: unreachable,
    ECONNRESET: unreachable,
    '28P01': refused,
    '28000': refused,
    '3D000': `PostgreSQL at ${server} has no database ${name}; make it: createdb ${name}`,
    '42501': `user ${user} may not make tables in database ${name}: make it the owner`,
    '53300': `PostgreSQL at ${server} has no connection left; raise max_connections`,
    '57P03': `PostgreSQL at ${server} is still starting; try again in a moment`,
    ERR_INVALID_URL: `it is not an address of the form ${databaseForm}; ${percentEncoding}`,
    timeout: `PostgreSQL at ${server} did not answer in time; ${away}`,
    password: `PostgreSQL at ${server} wants a password for user ${user}`,
  };
}

/** It lacks what an encrypted connection needs, or has to be encrypted. */
function tlsFault(server: string, code: string, said: string): string | null {
  if (/server does not support SSL/i.test(said)) {
    return (
      `PostgreSQL at ${server} has no TLS, which sslmode asks for: switch ssl on there, or write` +
      ' sslmode=disable where nobody else is on the way'
    );
  }
  if (code === '28000' && /no encryption|SSL off/.test(said)) {
    return `PostgreSQL at ${server} wants TLS: add ?sslmode=verify-full to the URL`;
  }
  if (/^(CERT_|SELF_SIGNED|DEPTH_ZERO|UNABLE_TO|ERR_TLS|HOSTNAME_MISMATCH)/.test(code)) {
    return (
      `the certificate of PostgreSQL at ${server} is not accepted (${code}): name its authority` +
      ' by &sslrootcert=FILE, and the host as the certificate does; sslmode=no-verify asks for none'
    );
  }
  if (/^(ENOENT|EACCES|EISDIR)$/.test(code) && said.includes(', open')) {
    return 'a file of sslrootcert, sslcert or sslkey cannot be read';
  }
  return null;
}

type Target = { readonly server: string; readonly user: string; readonly name: string };

/** The server, user and name of an address, without the password, as the driver reads it. */
function targetOf(connectionString: string): Target {
  const { host, port, user, database } = readBy(connectionString);
  const who = user || 'of this system';
  const server = host.startsWith('/') ? host : `${host || 'localhost'}:${port}`;
  return { server, user: who, name: database || who };
}

function readBy(connectionString: string): Pick<pg.Client, 'host' | 'port' | 'user' | 'database'> {
  try {
    return new pg.Client({ connectionString });
  } catch {
    // It lacks a file that it names, and reads no further.
    return { host: 'its host', port: 5432, user: '', database: '' };
  }
}
