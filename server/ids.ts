// Identifiers: UUIDv7 (RFC 9562), so that ids sort by creation. Time and chance are arguments.

export type RandomBytes = (count: number) => Uint8Array;

let lastMs = 0;
let sequence = 0;

/**
 * A new id for the instant `nowMs`. Ids made by one process in one millisecond ascend: the 12 bits
 * of rand_a count up from a random start (RFC 9562, method 1).
 */
export function uuidv7(nowMs: number, randomBytes: RandomBytes): string {
  const bytes = randomBytes(16);
  if (nowMs > lastMs) {
    lastMs = nowMs;
    sequence = (((bytes[6] ?? 0) & 0x07) << 8) | (bytes[7] ?? 0);
  } else {
    sequence += 1;
    if (sequence > 0xfff) {
      lastMs += 1;
      sequence = 0;
    }
  }
  let ms = lastMs;
  for (let i = 5; i >= 0; i -= 1) {
    bytes[i] = ms % 256;
    ms = Math.floor(ms / 256);
  }
  bytes[6] = 0x70 | (sequence >> 8);
  bytes[7] = sequence & 0xff;
  bytes[8] = 0x80 | ((bytes[8] ?? 0) & 0x3f);
  const hex = Buffer.from(bytes).toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

const shape = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

export function isUuid(text: string): boolean {
  return shape.test(text);
}
