// A maker on the feed by bare frames: it resumes where it was, and every public entry comes once.

import { setTimeout as sleep } from 'node:timers/promises';
import WebSocket from 'ws';

type Frame = {
  readonly type: string;
  readonly kind?: string;
  readonly seq?: number;
  readonly rfq?: { readonly id: string };
  readonly error?: string;
};

const againMs = { least: 50, more: 400 } as const;

export type Listener = {
  /** Ids of RFQs that were told as created. */
  readonly created: Set<string>;
  /** Public entries that were told. */
  entries: number;
  resumed: number;
  /** Begun anew instead, and not wanted. */
  reset: number;
  /** Numbers that were left out or came again. */
  readonly gaps: string[];
  readonly codes: Map<number, number>;
  close(): void;
};

/** All RFQs are public ones of others, so that each entry has the next number. */
export function startListener(url: string, key: string): Listener {
  let since: number | null = null;
  let isOver = false;
  let open: WebSocket | null = null;
  const listener: Listener = {
    created: new Set(),
    entries: 0,
    resumed: 0,
    reset: 0,
    gaps: [],
    codes: new Map(),
    close: () => {
      isOver = true;
      open?.close();
    },
  };
  const take = (frame: Frame) => {
    const { type, seq } = frame;
    if (type === 'resumed') listener.resumed += 1;
    if (type === 'reset') listener.reset += 1;
    const isEntry = type === 'rfq' || type === 'gone';
    if (isEntry && since !== null && seq !== since + 1) listener.gaps.push(`${since} → ${seq}`);
    if (isEntry) listener.entries += 1;
    if (type === 'rfq' && frame.kind === 'created') listener.created.add(frame.rfq?.id ?? '');
    if (isEntry || type === 'snapshot' || type === 'ready') since = seq ?? since;
  };
  const run = async () => {
    while (!isOver) {
      const socket = new WebSocket(`${url.replace(/^http/, 'ws')}/v1/ws`);
      open = socket;
      socket.on('error', () => {});
      socket.on('open', () => {
        const where = since === null ? {} : { since };
        socket.send(JSON.stringify({ apiKey: key, resume: true, ...where }));
      });
      socket.on('message', (data) => take(JSON.parse(String(data)) as Frame));
      const code = await new Promise<number>((resolve) => socket.on('close', resolve));
      if (!isOver) listener.codes.set(code, (listener.codes.get(code) ?? 0) + 1);
      await sleep(againMs.least + Math.random() * againMs.more);
    }
  };
  void run();
  return listener;
}
