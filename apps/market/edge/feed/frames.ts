// The frames of the feed as bytes: each frame is made once and written to every socket as it is.
// Text frames of a server are neither masked nor fragmented (RFC 6455, 5.2).

import type { FeedRow } from '../../db/feed-log.ts';

/** How a maker wants its frames: as specified, or with `seq` and what else it asked for. */
export type Manner = 'plain' | 'resume';

const textFrame = 0x81;
const most7 = 125;
const most16 = 0xffff;

/** The bytes of one text frame. */
export function encodeFrame(text: string): Buffer {
  const length = Buffer.byteLength(text);
  const head = length <= most7 ? 2 : length <= most16 ? 4 : 10;
  const frame = Buffer.alloc(head + length);
  frame[0] = textFrame;
  frame[1] = head === 2 ? length : head === 4 ? 126 : 127;
  if (head === 4) frame.writeUInt16BE(length, 2);
  if (head === 10) frame.writeUInt32BE(length, 6);
  frame.write(text, head);
  return frame;
}

/** The frame of an entry of the log; null where this manner says nothing of it. */
export function entryText(entry: FeedRow, manner: Manner): string | null {
  const { kind, rfqId, body, number: seq } = entry;
  const isPlain = manner === 'plain';
  if (kind === 'reset' || (kind === 'gone' && isPlain)) return null;
  if (kind === 'gone') return JSON.stringify({ type: 'gone', rfqId, reason: body, seq });
  return `{"type":"rfq","kind":"${kind}","rfq":${body}${isPlain ? '}' : `,"seq":${seq}}`}`;
}

/** Many frames as one piece of bytes, empty where there is nothing to say. */
export function entriesBytes(entries: readonly FeedRow[], manner: Manner): Buffer {
  const frames = entries.flatMap((each) => {
    const text = entryText(each, manner);
    return text === null ? [] : [encodeFrame(text)];
  });
  return frames.length === 1 ? (frames[0] as Buffer) : Buffer.concat(frames);
}
