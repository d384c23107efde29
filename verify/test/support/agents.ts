// Agents: the protocol's own client at a server of `parley-mcp`, as a process over stdio, or in
// this process over HTTP.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { runMcp } from '@parley/mcp/main.ts';
import type { Io } from '@parley/trader/io.ts';

const bin = join(import.meta.dirname, '../../../packages/mcp/bin.ts');

// biome-ignore lint/suspicious/noExplicitAny: a test names the fields that it asks for
export type Answer = any;

export type Agent = {
  readonly client: Client;
  /** All that its tools answered, and its process wrote to standard error. */
  heard(): string;
  /** Throws what the tool refused with, as JSON. */
  call(name: string, args?: object): Promise<Answer>;
  /** The error of a tool that must refuse. */
  refused(name: string, args?: object): Promise<Answer>;
  /** A plan and then its act. */
  trade(name: string, args: object): Promise<Answer>;
  /** kill -9 of a process. */
  kill(): void;
  close(): Promise<void>;
};

/** The client's own minute is short on a machine that does ten things. */
const patient = { timeout: 300_000 } as const;

const homeEnv = (home: string) => ({
  HOME: home,
  XDG_CONFIG_HOME: join(home, 'config'),
  XDG_DATA_HOME: join(home, 'data'),
});

/** `command`: default this repository's. */
export async function stdioAgent(
  home: string,
  args: readonly string[],
  command: readonly string[] = [process.execPath, '--conditions=@parley/source', bin],
): Promise<Agent> {
  const [file = '', ...before] = command;
  const { NODE_OPTIONS: _, NODE_TEST_CONTEXT: __, ...env } = process.env;
  const transport = new StdioClientTransport({
    command: file,
    args: [...before, ...args],
    stderr: 'pipe',
    cwd: home,
    env: { ...(env as Record<string, string>), ...homeEnv(home) },
  });
  let said = '';
  transport.stderr?.on('data', (chunk: Buffer) => {
    said += chunk;
  });
  const client = new Client({ name: 'agent', version: '1' });
  await client.connect(transport, patient).catch((cause: unknown) => {
    throw new Error(`the server did not answer: ${said}`, { cause });
  });
  const kill = () => void process.kill(transport.pid ?? assert.fail('no process'), 'SIGKILL');
  const agent = agentOf(client);
  const heard = () => agent.heard() + said;
  return { ...agent, heard, kill, close: () => client.close() };
}

export type Served = { readonly url: string; readonly token: string; stop(): Promise<number> };

/** In this process. Resolves once it serves; throws with what it said instead. */
export async function serveMcp(home: string, args: readonly string[]): Promise<Served> {
  const stop = new AbortController();
  const { promise, resolve, reject } = Promise.withResolvers<readonly [string, string]>();
  let said = '';
  const ended = runMcp(['--http', '0', ...args], {
    ...quietIo(home, stop.signal),
    err: (text) => {
      said += text;
      const [, url, file] = /serves (\S+); its token is in (\S+)/.exec(said) ?? [];
      if (url !== undefined && file !== undefined) resolve([url, file]);
    },
  });
  ended.then((status) => reject(new Error(`ended with ${status}: ${said}`)), reject);
  const [url, file] = await promise;
  const token = (await readFile(file, 'utf8')).trim();
  return {
    url,
    token,
    stop: () => {
      stop.abort(new Error('stopped'));
      return ended;
    },
  };
}

export function quietIo(home: string, signal: AbortSignal): Io {
  const nobody = async () => assert.fail('nobody can be asked');
  return {
    out: () => {},
    err: () => {},
    isAsked: false,
    signal,
    env: homeEnv(home),
    cwd: home,
    ask: nobody,
    askHidden: nobody,
    readDescriptor: async (number) => assert.fail(`descriptor ${number}`),
  };
}

export async function httpAgent({ url, token }: Pick<Served, 'url' | 'token'>): Promise<Agent> {
  const client = new Client({ name: 'agent', version: '1' });
  const requestInit = { headers: { authorization: `Bearer ${token}` } };
  const transport = new StreamableHTTPClientTransport(new URL(url), { requestInit });
  await client.connect(transport, patient);
  const kill = () => assert.fail('it is no process');
  return { ...agentOf(client), kill, close: () => client.close() };
}

function agentOf(client: Client): Pick<Agent, 'client' | 'heard' | 'call' | 'refused' | 'trade'> {
  let all = '';
  const asked = async (name: string, args: object): Promise<Answer> => {
    const asking = { name, arguments: args as Record<string, unknown> };
    const said = await client.callTool(asking, patient);
    all += JSON.stringify(said);
    return said;
  };
  const call = async (name: string, args: object = {}) => {
    const { isError, structuredContent, content } = await asked(name, args);
    assert.ok(isError !== true, `${name}: ${JSON.stringify(content)}`);
    return structuredContent;
  };
  return {
    client,
    call,
    heard: () => all,
    refused: async (name, args = {}) => {
      const { isError, content } = await asked(name, args);
      assert.equal(isError, true, `${name}: ${JSON.stringify(content)}`);
      return JSON.parse(content[0].text).error;
    },
    trade: async (name, args) => {
      const { plan } = await call(name, args);
      return (await call(name, { ...args, digest: plan.digest })).done;
    },
  };
}
