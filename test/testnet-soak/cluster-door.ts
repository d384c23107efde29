// A door before a Solana validator of one's own. It says another hash of the first block, which
// nobody can give a validator; every other question goes through as it is.

import { createServer, request } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { closeServer, listen } from '../../devnet/listening.ts';
import { loopback } from '../../devnet/processes.ts';

type Call = { readonly id?: unknown; readonly method?: string };
type Said = { readonly id?: unknown; readonly result?: unknown };

export async function clusterDoor(rpcUrl: string, genesisHash: string) {
  const server = createServer(async (asked, answer) => {
    const body = await buffer(asked);
    const headers = { 'content-type': 'application/json' };
    const onward = request(rpcUrl, { method: 'POST', headers }, async (got) => {
      const said = await buffer(got);
      answer.writeHead(got.statusCode ?? 502, headers);
      answer.end(withGenesis(body, said, genesisHash));
    });
    onward.on('error', () => answer.destroy());
    onward.end(body);
  });
  const port = await listen(server, loopback, 0);
  return { url: `http://${loopback}:${port}`, close: () => closeServer(server) };
}

/** Numbers stay as they stand: JSON would round those that a double cannot hold. */
function withGenesis(asked: Buffer, said: Buffer, genesisHash: string): string | Buffer {
  if (!asked.includes('getGenesisHash')) return said;
  const calls = [JSON.parse(asked.toString())].flat() as readonly Call[];
  const ids = calls.flatMap(({ id, method }) => (method === 'getGenesisHash' ? [id] : []));
  const one = (each: Said): Said =>
    each.result !== undefined && ids.includes(each.id) ? { ...each, result: genesisHash } : each;
  const all = JSON.parse(said.toString()) as Said | readonly Said[];
  return JSON.stringify(Array.isArray(all) ? all.map(one) : one(all as Said));
}
