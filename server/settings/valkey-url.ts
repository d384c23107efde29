// The address of a Valkey or Redis server, as VALKEY_URL says it.

export type ValkeyAddress = {
  readonly host: string;
  readonly port: number;
  readonly tls: boolean;
  readonly username: string | null;
  readonly password: string | null;
  readonly database: number;
};

const schemes = ['redis:', 'rediss:', 'valkey:', 'valkeys:'];

/** `redis://[user:password@]host[:port][/database]`; null when it is not of that form. */
export function parseValkeyUrl(text: string): ValkeyAddress | null {
  if (!URL.canParse(text)) return null;
  const { protocol, hostname, port, username, password, pathname, search, hash } = new URL(text);
  const database = /^\/?(\d{0,5})$/.exec(pathname)?.[1];
  if (!schemes.includes(protocol) || hostname === '' || search !== '' || hash !== '') return null;
  if (database === undefined || port === '0') return null;
  try {
    return {
      host: decodeURIComponent(hostname).replace(/^\[|\]$/g, ''),
      port: port === '' ? 6_379 : Number(port),
      tls: protocol === 'rediss:' || protocol === 'valkeys:',
      username: decodeURIComponent(username) || null,
      password: decodeURIComponent(password) || null,
      database: Number(database),
    };
  } catch {
    return null;
  }
}
