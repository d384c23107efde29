// Why a market did not start, in words for whoever started it: which setting, and what to do. A
// password that a setting holds is never in them.

import { constants } from 'node:fs';
import { access, mkdir } from 'node:fs/promises';
import { createServer } from 'node:net';
import type { Settings } from '../settings/config.ts';

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

/** The result of `work`; what it throws goes through `fault` first. */
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

/** Why nothing could listen there; what is no such error comes back as it is. */
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

/** Why the database of DATABASE_URL could not be opened; other errors come back as they are. */
export function databaseFault(databaseUrl: string, error: unknown): unknown {
  if (error instanceof StartError) return error;
  const { server, user, name } = targetOf(databaseUrl);
  const said = (error as Error).message;
  const away = 'is it running, and let through?';
  const unknown = `the host of ${server} is not known; correct it`;
  const unreachable = `PostgreSQL at ${server} cannot be reached; ${away}`;
  const refused = `PostgreSQL at ${server} refuses user ${user}: correct user and password`;
  const faults: Readonly<Record<string, string>> = {
    ECONNREFUSED: `no PostgreSQL listens at ${server}; start it, or correct host and port`,
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
    ERR_INVALID_URL: 'it is not an address of the form postgres://user:password@host:5432/name',
    timeout: `PostgreSQL at ${server} did not answer in time; ${away}`,
    password: `PostgreSQL at ${server} wants a password for user ${user}`,
  };
  const [word = ''] = /timeout|password(?= must be a string)/i.exec(said) ?? [];
  const fault = faults[codeOf(error)] ?? faults[word.toLowerCase()];
  return fault === undefined ? error : new StartError(`DATABASE_URL: ${fault}`, error);
}

/** Who and what an address names, without the password. */
function targetOf(databaseUrl: string): { server: string; user: string; name: string } {
  const url = URL.canParse(databaseUrl) ? new URL(databaseUrl) : null;
  const plain = (text = '') => {
    try {
      return decodeURIComponent(text);
    } catch {
      return text;
    }
  };
  const host = url === null || url.hostname === '' ? 'localhost' : plain(url.hostname);
  const user = plain(url?.username) || 'of this system';
  return {
    server: `${host}:${url?.port || 5432}`,
    user,
    name: plain(url?.pathname.slice(1)) || user,
  };
}
