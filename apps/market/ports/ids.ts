// Identifiers: UUIDv7 (RFC 9562), so that ids sort by creation. Time and chance are arguments.

export type RandomBytes = (count: number) => Uint8Array;

/** Ids and nonces take so many at most; secrets take more, and never of a store. */
const mostStored = 16;
const storeBytes = 4_096;

/**
 * The same bytes in stock, each given away once: a call for the 16 of an id costs as much as one
 * for 4 096.
 */
export function stocked(randomBytes: RandomBytes): RandomBytes {
  let store: Uint8Array = new Uint8Array(0);
  let used = 0;
  return (count) => {
    if (count > mostStored) return randomBytes(count);
    if (used + count > store.length) {
      store = randomBytes(storeBytes);
      used = 0;
    }
    used += count;
    return store.subarray(used - count, used);
  };
}

export type MakeId = (nowMs: number, randomBytes: RandomBytes) => string;

/** Ids of one millisecond, or of a clock that stepped back, ascend too (RFC 9562, method 1). */
export function idSequence(): MakeId {
  let lastMs = 0;
  let count = 0;
  return (nowMs, randomBytes) => {
    const bytes = randomBytes(16);
    if (nowMs > lastMs) {
      lastMs = nowMs;
      count = (((bytes[6] ?? 0) & 0x07) << 8) | (bytes[7] ?? 0);
    } else {
      count += 1;
      if (count > 0xfff) {
        lastMs += 1;
        count = 0;
      }
    }
    let ms = lastMs;
    for (let i = 5; i >= 0; i -= 1) {
      bytes[i] = ms % 256;
      ms = Math.floor(ms / 256);
    }
    bytes[6] = 0x70 | (count >> 8);
    bytes[7] = count & 0xff;
    bytes[8] = 0x80 | ((bytes[8] ?? 0) & 0x3f);
    return written(bytes);
  };
}

/** The one sequence of a process: with several, ids would not ascend within a millisecond. */
export const uuidv7: MakeId = idSequence();

/** The id that these bytes always give: version 8. */
export function uuidOf(digest: Uint8Array): string {
  const bytes = Uint8Array.from(digest.subarray(0, 16));
  bytes[6] = 0x80 | ((bytes[6] ?? 0) & 0x0f);
  bytes[8] = 0x80 | ((bytes[8] ?? 0) & 0x3f);
  return written(bytes);
}

function written(bytes: Uint8Array): string {
  const hex = Buffer.from(bytes).toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

const shape = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

export function isUuid(text: string): boolean {
  return shape.test(text);
}
