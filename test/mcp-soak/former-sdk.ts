// The official SDK 1.x, which most agents embed: it holds what is structured in an answer against
// the tool's output schema, also where the tool has refused. Asks the registry of this machine's npm.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { install } from '../package-soak/install.ts';
import type { Answer, Served } from '../support/agents.ts';

const name = '@modelcontextprotocol/sdk';
const version = '1.32.2';

/** Every tool refuses in words that the client shows, and those that only read answer it. */
export async function triesFormerSdk(folder: string, { url, token }: Served): Promise<string> {
  await install(folder, [`${name}@${version}`]);
  const part = async (path: string): Promise<Answer> =>
    import(pathToFileURL(join(folder, 'node_modules', name, 'dist/esm/client', path)).href);
  const { Client } = await part('index.js');
  const http = await part('streamableHttp.js');
  const client = new Client({ name: 'agent', version: '1' });
  const requestInit = { headers: { authorization: `Bearer ${token}` } };
  await client.connect(new http.StreamableHTTPClientTransport(new URL(url), { requestInit }));
  const { tools } = await client.listTools();
  let answers = 0;
  for (const { name: tool, inputSchema, annotations } of tools) {
    const { isError, content } = await client.callTool({ name: tool, arguments: { zzz: 1 } });
    assert.equal(isError, true, tool);
    assert.equal(JSON.parse(content[0].text).error.code, 'usage');
    if (annotations.readOnlyHint !== true || (inputSchema.required ?? []).length > 0) continue;
    const said = await client.callTool({ name: tool, arguments: {} });
    assert.notEqual(said.isError, true, `${tool}: ${JSON.stringify(said.content)}`);
    assert.ok(said.structuredContent !== undefined, tool);
    answers += 1;
  }
  await client.close();
  return `${name} ${version}: ${tools.length} refusals shown, ${answers} answers`;
}
