// The faults of a database's URL, found in its text alone and said without any of it: where a
// character of a password ends the authority, the rest of the password would be read as host, port
// or name, and be shown.

import { isUrlEncoded } from './networks.ts';

export const databaseForm = 'postgres://user:password@host:5432/name';

/** In a password of a URL; others may stand there as well. */
export const percentEncoding =
  'in a user or password % / ? # @ : are written %25 %2F %3F %23 %40 %3A';

const modes = ['disable', 'prefer', 'require', 'verify-ca', 'verify-full', 'no-verify'];

/** A sentence without its subject, such as `it stands in quotes`; null: the form is right. */
export function databaseUrlFault(text: string): string | null {
  if (/^["'`]|["'`]$/.test(text)) return 'it stands in quotes: take them away';
  if (/^\s|\s$/.test(text)) return 'it begins or ends with white space: take that away';
  if (text.startsWith('/')) {
    return `it is a folder: write ${folderForm}`;
  }
  if (/^(jdbc:|postgres(ql)?\+\w+:)/i.test(text)) {
    return `it is of another language's driver: it must be ${databaseForm}`;
  }
  if (/^\w+ *=/.test(text)) {
    return `it is of libpq's form key=value, which is not read here: it must be ${databaseForm}`;
  }
  // The URL class takes these for a path.
  if (!/^postgres(ql)?:\/\//i.test(text)) {
    return `it is not an address of the form ${databaseForm}`;
  }
  return faultOfParts(text.slice(text.indexOf('//') + 2));
}

/** Parameters whose values may hold an @: behind any other a password goes on. */
const mayHaveAt = /^(?:user|password|host|options|application_name|ssl(?:rootcert|cert|key))=/;

const folderForm = 'postgres://user:password@localhost/name?host=/var/run/postgresql';

function faultOfParts(rest: string): string | null {
  const [, authority = '', path = '', query = ''] =
    /^([^/?#]*)(\/[^?#]*)?(\?[^#]*)?/.exec(rest) ?? [];
  const hasUser = authority.includes('@');
  const params = query.slice(1).split('&');
  const isCutInQuery = params.some((each) => each.includes('@') && !mayHaveAt.test(each));
  const isCut = rest.includes('#') || path.includes('@') || isCutInQuery;
  // A host, or the beginning of a password behind its user?
  const hosts = authority.slice(authority.lastIndexOf('@') + 1);
  const isEncoded = isUrlEncoded(authority) && isUrlEncoded(path) && isUrlEncoded(query);
  if (isCut || (!hasUser && rest.includes('@') && path === '') || !isEncoded) {
    return `it holds a character that has to be percent-encoded: ${percentEncoding}`;
  }
  const read = new URLSearchParams(query);
  if (hosts.includes(',') || (read.get('host') ?? '').includes(',')) {
    return 'it names several hosts: name one, or a name or proxy that follows the primary';
  }
  const port = /^(?:\[[^\]]*\]|[^:[\]]*)(?::(\d{0,5}))?$/.exec(hosts);
  if (port === null || Number(port[1] ?? 0) > 65_535) {
    const shape = `it is not an address of the form ${databaseForm}`;
    return `${shape}; the port is a number, and ${percentEncoding}`;
  }
  const mode = read.get('sslmode');
  return mode === null || modes.includes(mode)
    ? null
    : `its sslmode must be one of ${modes.join(', ')}`;
}
