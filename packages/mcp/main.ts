// Serves until its client leaves or a signal comes. On stdio nothing but the protocol is written to
// standard output.

import { join } from 'node:path';
import type { McpServer } from '@modelcontextprotocol/server';
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio';
import { bytesToHex, randomBytes } from '@noble/hashes/utils.js';
import { Failure, statuses, toldOf } from '@parley/trader/failures.ts';
import type { Cli, Io } from '@parley/trader/io.ts';
import { mustBePrivate, placesOf, readUpTo, writePrivate } from '@parley/trader/places.ts';
import { oneLine } from '@parley/trader/show.ts';
import { help, type Serve, understood } from './arguments.ts';
import { type Desk, openDesk } from './desk.ts';
import { prepareDev } from './dev.ts';
import { type HttpServer, serveHttp } from './http.ts';
import { busOf, telling } from './resources.ts';
import { type Offered, serverOf } from './server.ts';
import { openGate } from './tool.ts';
import { version } from './version.ts';

/** Resolves to the exit status. `io.signal` ends it. */
export async function runMcp(args: readonly string[], io: Io): Promise<number> {
  try {
    const asked = understood(args);
    switch (asked.is) {
      case 'help':
        io.out(`${help}\n`);
        return statuses.done;
      case 'version':
        io.out(`${version}\n`);
        return statuses.done;
      case 'serve':
        return await serve(io, asked.serve);
    }
  } catch (error) {
    if (io.signal.aborted) return statuses.interrupted;
    const told = toldOf(error);
    io.err(`parley-mcp: ${oneLine(told.sentence)}\n`);
    if (told.class === 'usage') io.err(help.slice(0, help.indexOf('\n') + 1));
    return statuses[told.class];
  }
}

async function serve(io: Io, wanted: Serve): Promise<number> {
  const note = (text: string) => io.err(`parley-mcp: ${oneLine(text)}\n`);
  const cli = cliOf(io, wanted);
  const limitsFile = wanted.dev
    ? (wanted.limits ?? (await prepareDev(cli, wanted)))
    : wanted.limits;
  const { keys: withKeys, apiKeyFile } = wanted;
  const desk = await openDesk(cli, { withKeys, limitsFile, apiKeyFile, note });
  try {
    const offered = { readOnly: wanted.readOnly || (await mayOnlyRead(desk)) };
    const { market } = desk.session.profile;
    const keys = desk.held === null ? 'without keys' : 'with keys and limits';
    note(`${market}, account ${desk.userId}, ${offered.readOnly ? 'read only' : keys}`);
    if (wanted.port === null) await overStdio(io, desk, offered, note);
    else await overHttp(io, desk, offered, { ...wanted, port: wanted.port }, note);
    return statuses.done;
  } finally {
    await desk.close();
  }
}

/** The server asks no person: standard input is the protocol's. */
function cliOf(io: Io, { profile, passphraseFile, passphraseFd }: Serve): Cli {
  const nobody = async (): Promise<never> => {
    const sentence =
      'the keystore wants a passphrase: give --passphrase-file FILE or --passphrase-fd N';
    throw new Failure('needs_you', 'not_asked', sentence);
  };
  const fromFile = async () => {
    const text = await readUpTo(passphraseFile ?? '', mostPassphraseBytes);
    if (text === null)
      throw new Failure('local', 'no_passphrase', `there is no file ${passphraseFile}`);
    await mustBePrivate(passphraseFile ?? '');
    return text;
  };
  return {
    ...io,
    profile,
    json: false,
    yes: true,
    isAsked: false,
    ask: nobody,
    askHidden: nobody,
    // A number that is no descriptor: the file is read in its place.
    passphraseFd: passphraseFile === null ? passphraseFd : -1,
    readDescriptor: (number) => (number === -1 ? fromFile() : io.readDescriptor(number)),
    out: io.err,
  };
}

const mostPassphraseBytes = 4_096;

/** A key of scope `read` could agree for the account all the same: no tool here lets it. */
async function mayOnlyRead(desk: Desk): Promise<boolean> {
  try {
    const scopes = await desk.scopes();
    return !scopes.includes('taker') && !scopes.includes('maker');
  } catch {
    // Claims and refunds go on without a market. Each trade tool asks again.
    return false;
  }
}

type Note = (text: string) => void;

async function overStdio(io: Io, desk: Desk, offered: Offered, note: Note): Promise<void> {
  const gate = openGate();
  const told: { server: McpServer | null; stop: (() => void) | null } = {
    server: null,
    stop: null,
  };
  const serve = () => {
    told.server = serverOf(desk, offered, gate);
    return told.server;
  };
  const listened = () => {
    if (told.server !== null) told.stop ??= telling(told.server, desk);
  };
  const server = serveStdio(serve, {
    transport: listenedWire(listened),
    onerror: (error) => note(`stdio: ${error.message}`),
  });
  const left = new Promise<void>((resolve) => {
    process.stdin.once('end', resolve).once('close', resolve);
  });
  await Promise.race([left, aborted(io.signal)]);
  told.stop?.();
  await server.close();
  const { held } = desk;
  if (held === null || io.signal.aborted) return;
  // Coins may be in escrows: a driven swap is not left because a client closed its window.
  await Promise.race([held.driver.idle(), aborted(io.signal)]);
}

/** The library serves a subscription of protocol 2026-07-28 itself, and says so to the client alone. */
function listenedWire(listened: () => void): StdioServerTransport {
  const wire = new StdioServerTransport();
  const send = wire.send.bind(wire);
  wire.send = async (message) => {
    const { method } = message as { readonly method?: string };
    if (method === 'notifications/subscriptions/acknowledged') listened();
    await send(message);
  };
  return wire;
}

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

type Http = Serve & { readonly port: number };

async function overHttp(
  io: Io,
  desk: Desk,
  offered: Offered,
  wanted: Http,
  note: Note,
): Promise<void> {
  const { port, hosts, origins } = wanted;
  const gate = openGate();
  const { file, token } = await tokenIn(desk, wanted);
  const served = () => serverOf(desk, offered, gate);
  const bus = busOf(desk);
  const how = { port, token, hosts, origins, serve: served, note, bus };
  const server: HttpServer = await serveHttp(how);
  note(`serves ${server.url}; its token is in ${file}`);
  await aborted(io.signal);
  await server.close();
}

const leastToken = 32;

async function tokenIn(desk: Desk, { tokenFile }: Serve) {
  const { places } = desk.session;
  const file = tokenFile ?? join(placesOf(desk.cli.env, places.profile).data, 'mcp', 'token');
  const text = (await readUpTo(file, mostPassphraseBytes))?.trim() ?? null;
  if (text === null && tokenFile === null) {
    const token = bytesToHex(randomBytes(32));
    await writePrivate(file, `${token}\n`);
    return { file, token };
  }
  if (text === null) throw new Failure('local', 'no_token', `there is no file ${file}`);
  await mustBePrivate(file);
  if (new RegExp(`^\\S{${leastToken},200}$`).test(text)) return { file, token: text };
  const sentence = `${file} must hold one word of ${leastToken} to 200 characters, such as 64 hex digits`;
  throw new Failure('local', 'bad_token', sentence);
}
