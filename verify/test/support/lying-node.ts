// An EVM node that is not of the chain it stands for, in front of one that is.

import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A node that says another hash of every block than the one it asks. */
export async function lyingNode(url: string): Promise<{ url: string; server: Server }> {
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    const headers = { 'content-type': 'application/json' };
    const reply = await fetch(url, { method: 'POST', headers, body });
    const text = await reply.text();
    const lies = text.replace(/"hash":"0x[0-9a-f]{8}/g, '"hash":"0xdeadbeef');
    response.end(body.includes('eth_getBlockByNumber') ? lies : text);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, server };
}
