// What the feed says, as bytes: each frame is made once and written to every socket as it is. Text
// frames of a server are neither masked nor fragmented (RFC 6455, 5.2).

import type { FeedRow } from '../../db/feed-log.ts';

/** How a maker wants to be told: as specified, or with `seq` and what else it asked for. */
export type Manner = 'plain' | 'resume';

const textFrame = 0x81;
const shortLength = 125;
const length16 = 126;
const length64 = 127;
const most16 = 0xffff;

/** The bytes of one text frame. */
export function encodeFrame(text: string): Buffer {
  const length = Buffer.byteLength(text);
  const head = length <= shortLength ? 2 : length <= most16 ? 4 : 10;
  const frame = Buffer.allocUnsafe(head + length);
  frame[0] = textFrame;
  if (head === 2) frame[1] = length;
  else if (head === 4) {
    frame[1] = length16;
    frame.writeUInt16BE(length, 2);
  } else {
    frame[1] = length64;
    frame.writeBigUInt64BE(BigInt(length), 2);
  }
  frame.write(text, head);
  return frame;
}

/** The frame of an entry of the log; null where this manner says nothing of it. */
export function entryText(entry: FeedRow, manner: Manner): string | null {
  const { kind, rfqId, body, number: seq } = entry;
  if (kind === 'reset') return null;
  if (kind === 'gone') {
    if (manner === 'plain') return null;
    return JSON.stringify({ type: 'gone', rfqId, reason: body, seq });
  }
  const end = manner === 'plain' ? '}' : `,"seq":${seq}}`;
  return `{"type":"rfq","kind":"${kind}","rfq":${body}${end}`;
}

/** Many frames as one piece of bytes, empty where there is nothing to say. */
export function entriesBytes(entries: readonly FeedRow[], manner: Manner): Buffer {
  const frames = entries.flatMap((each) => {
    const text = entryText(each, manner);
    return text === null ? [] : [encodeFrame(text)];
  });
  return frames.length === 1 ? (frames[0] as Buffer) : Buffer.concat(frames);
}
