// Metaplex's account of a mint's name, as its program writes it: it is in no VM of the tests.

import { solanaAddressBytes } from '../address.ts';

const authority = new Uint8Array(32).fill(7);

function text(value: string | Uint8Array, padded: number): Buffer {
  const bytes = Buffer.from(value);
  const field = Buffer.concat([bytes, Buffer.alloc(Math.max(0, padded - bytes.length))]);
  const length = Buffer.alloc(4);
  length.writeUInt32LE(field.length);
  return Buffer.concat([length, field]);
}

/** Padded with zeros, as it is on chain. */
export function metaplexAccount(
  mint: string,
  { name, symbol }: { readonly name: string | Uint8Array; readonly symbol: string | Uint8Array },
): Uint8Array {
  const head = [Uint8Array.of(4), authority, solanaAddressBytes(mint)];
  const texts = [text(name, 32), text(symbol, 10), text('', 200)];
  return Uint8Array.from(Buffer.concat([...head, ...texts, Buffer.alloc(300)]));
}
