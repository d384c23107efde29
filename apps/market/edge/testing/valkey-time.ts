// Lets time pass in a Valkey: every key is brought nearer to its end by so much.

import type { Valkey } from '../../ports/valkey.ts';

export async function passInValkey(client: Valkey, prefix: string, ms: number): Promise<void> {
  for (const key of await client.keys(`${prefix}*`)) {
    const left = await client.pttl(key);
    if (left > ms) await client.pexpire(key, left - ms);
    else await client.del(key);
  }
}
