// Tests only: a real SMTP server on loopback that keeps what it is sent, and refuses what it is
// told to refuse.

import { SMTPServer, type SMTPServerOptions } from 'smtp-server';

export type Arrived = {
  readonly from: string;
  /** As SMTP named them. */
  readonly to: readonly string[];
  readonly raw: string;
  /** By name in small letters; the first of several of a name. */
  readonly headers: ReadonlyMap<string, string>;
  readonly text: string;
};

/** The answer to the next commands; null = as usual. */
export type Refusal = { readonly at: 'MAIL' | 'RCPT' | 'DATA'; readonly answer: string };

export type MailServer = {
  readonly port: number;
  readonly url: string;
  readonly arrived: readonly Arrived[];
  /** Connections that were opened so far. */
  readonly connections: () => number;
  refuse(refusal: Refusal | null): void;
  stop(): Promise<void>;
};

export async function startMailServer(
  port = 0,
  options: SMTPServerOptions = {},
): Promise<MailServer> {
  const arrived: Arrived[] = [];
  let connections = 0;
  let refusal: Refusal | null = null;
  const refused = (at: Refusal['at']): Error | null => {
    if (refusal?.at !== at) return null;
    const { answer } = refusal;
    return Object.assign(new Error(answer.slice(4)), { responseCode: Number(answer.slice(0, 3)) });
  };
  const server = new SMTPServer({
    disabledCommands: ['STARTTLS', 'AUTH'],
    disableReverseLookup: true,
    // The time for connections that a failed test left.
    closeTimeout: 300,
    logger: false,
    onConnect: (_, done) => {
      connections += 1;
      done();
    },
    onMailFrom: (_, __, done) => done(refused('MAIL')),
    onRcptTo: (_, __, done) => done(refused('RCPT')),
    onData: (stream, session, done) => {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        const error = refused('DATA');
        const { mailFrom, rcptTo } = session.envelope;
        const from = mailFrom === false ? '' : mailFrom.address;
        const to = rcptTo.map(({ address }) => address);
        if (error === null) arrived.push({ from, to, ...read(Buffer.concat(chunks)) });
        done(error);
      });
    },
    ...options,
  });
  server.on('error', () => {});
  const { promise, resolve } = Promise.withResolvers<void>();
  server.listen(port, '127.0.0.1', resolve);
  await promise;
  const taken = (server.server.address() as { port: number }).port;
  return {
    port: taken,
    url: `smtp://127.0.0.1:${taken}`,
    arrived,
    connections: () => connections,
    refuse: (given) => {
      refusal = given;
    },
    stop: () => new Promise((done) => server.close(() => done())),
  };
}

function read(bytes: Buffer): Pick<Arrived, 'raw' | 'headers' | 'text'> {
  const raw = bytes.toString('latin1');
  const end = raw.indexOf('\r\n\r\n');
  const headers = new Map<string, string>();
  for (const line of raw
    .slice(0, end)
    .replace(/\r\n[ \t]+/g, ' ')
    .split('\r\n')) {
    const colon = line.indexOf(':');
    const name = line.slice(0, colon).toLowerCase();
    if (!headers.has(name)) headers.set(name, line.slice(colon + 1).trim());
  }
  return { raw, headers, text: textOf(raw.slice(end + 4), headers) };
}

function textOf(body: string, headers: ReadonlyMap<string, string>): string {
  const encoding = headers.get('content-transfer-encoding') ?? '7bit';
  const decode = () => {
    if (encoding === 'base64') return Buffer.from(body, 'base64');
    if (encoding !== 'quoted-printable') return Buffer.from(body, 'latin1');
    const bytes = body
      .replace(/=\r\n/g, '')
      .replace(/=([0-9A-F]{2})/g, (_, hex: string) =>
        String.fromCharCode(Number.parseInt(hex, 16)),
      );
    return Buffer.from(bytes, 'latin1');
  };
  return decode().toString('utf8').replaceAll('\r\n', '\n').trim();
}
