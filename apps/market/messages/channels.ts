// How each channel stands, as this process has it from its last attempt: whether nothing can be
// sent now, and until when it was asked to wait. The log hears of it once, and of the end.

import type { Channel } from '../db/messages.ts';
import type { Deps } from '../ports/deps.ts';
import { downMs, mostRestMs } from './bounds.ts';
import type { Outcome } from './courier.ts';

type Down = { readonly error: string; readonly at: number };

type ChannelStates = {
  heard(channel: Channel, outcome: Outcome | null): void;
  rests(channel: Channel): boolean;
  isDown(channel: Channel): boolean;
};

export function createChannelStates({
  now,
  log,
  metrics,
}: Pick<Deps, 'now' | 'log' | 'metrics'>): ChannelStates {
  const down = new Map<Channel, Down>();
  const restUntil = new Map<Channel, number>();
  const fell = (channel: Channel, error: string, isOurs: boolean) => {
    const before = down.get(channel);
    metrics.messagesDown.set({ channel }, now() / 1_000);
    down.set(channel, { error, at: now() });
    if (before?.error === error) return;
    const level = isOurs ? 'error' : 'warn';
    log[level]({ channel, reason: error }, 'messages cannot be sent; they are tried again');
  };
  return {
    heard: (channel, outcome) => {
      if (outcome === null) return;
      if (outcome.kind === 'again') {
        const { error, isDown, isOurs = false, afterSeconds } = outcome;
        if (isDown) fell(channel, error, isOurs);
        if (afterSeconds !== undefined) {
          restUntil.set(channel, now() + Math.min(afterSeconds * 1_000, mostRestMs));
        }
        return;
      }
      metrics.messagesTaken.set({ channel }, now() / 1_000);
      if (down.delete(channel)) log.info({ channel }, 'messages are sent again');
    },
    rests: (channel) => (restUntil.get(channel) ?? 0) > now(),
    isDown: (channel) => {
      const fallen = down.get(channel);
      return fallen !== undefined && now() - fallen.at < downMs;
    },
  };
}
