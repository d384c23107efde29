import type { Rfq } from '../types.ts';

export type ServerFrame =
  | { type: 'snapshot'; rfqs: Rfq[]; addressed?: Rfq[]; seq: number }
  | { type: 'ready' | 'resumed' | 'reset' | 'pong'; seq: number }
  | { type: 'rfq'; kind: 'created' | 'cancelled'; rfq: Rfq; seq: number }
  | { type: 'gone'; rfqId: string; reason: 'expired' | 'agreed'; seq: number }
  | { type: 'quoted'; rfqId: string; threadId: string; idempotencyKey?: string; seq: number }
  | (Refused & { type: 'error'; error: string; seq?: number });

type Refused = { code?: string; rfqId?: string; idempotencyKey?: string };

const types = [
  'snapshot',
  'ready',
  'resumed',
  'reset',
  'pong',
  'rfq',
  'gone',
  'quoted',
  'error',
] as const;

/** Null for what is no frame, or one of a kind not known here. */
export function parseFrame(data: unknown): ServerFrame | null {
  if (typeof data !== 'string') return null;
  let frame: Record<string, unknown> | null;
  try {
    frame = JSON.parse(data) as typeof frame;
  } catch {
    return null;
  }
  if (typeof frame !== 'object' || frame === null) return null;
  if (!(types as readonly unknown[]).includes(frame.type)) return null;
  return isWhole(frame) ? (frame as ServerFrame) : null;
}

function isWhole(frame: Record<string, unknown>): boolean {
  const isText = (name: string) => typeof frame[name] === 'string';
  const isTextOrNone = (name: string) => frame[name] === undefined || isText(name);
  const isList = (list: unknown) => Array.isArray(list) && list.every(isRfq);
  switch (frame.type) {
    case 'rfq':
      return isRfq(frame.rfq) && (frame.kind === 'created' || frame.kind === 'cancelled');
    case 'snapshot':
      return isList(frame.rfqs) && (frame.addressed === undefined || isList(frame.addressed));
    case 'gone':
      return isText('rfqId') && (frame.reason === 'expired' || frame.reason === 'agreed');
    case 'quoted':
      return isText('rfqId') && isText('threadId') && isTextOrNone('idempotencyKey');
    case 'error':
      return isText('error') && ['code', 'rfqId', 'idempotencyKey'].every(isTextOrNone);
    default:
      return true;
  }
}

function isRfq(value: unknown): boolean {
  return typeof (value as Rfq | null)?.id === 'string';
}
