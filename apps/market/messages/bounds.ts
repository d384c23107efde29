// Limits of what is told to people, each with its reason. docs/limits.md shows them.

import type { PeopleTopic } from '../db/messages.ts';

/** After each failed attempt: 7 h 13 min in all, longer than most mail servers are away. */
export const retryAfterSeconds = [5, 30, 120, 600, 3_600, 21_600] as const;
/** Under way in a process, each channel: Telegram takes some 30 messages a second of a bot. */
export const mostInHand = 4;
/** The limits of an attempt to mail, and of its parts; those of one to write to a chat. */
type MailLimits = {
  readonly mailMs: number;
  readonly connectMs: number;
  readonly greetingMs: number;
  readonly silentMs: number;
};
export const mailLimits: MailLimits = {
  mailMs: 20_000,
  connectMs: 5_000,
  greetingMs: 5_000,
  silentMs: 10_000,
};
/** An attempt to write in a chat. It is tried again. */
export const botMs = 10_000;
/** Messages of one connection to the mail server, and how long it may lie idle. */
export const mailsOfConnection = 100;
export const idleMs = 10_000;
/** Longer than an attempt can take: a dead process's messages are taken over then. */
export const leaseMs = mailLimits.mailMs + 10_000;
/** The limit of the bot's answer: the message that was sent comes back in it. */
export const mostAnswerBytes = 65_536;
/** How long the bot may ask us to wait before a message is tried again. */
export const mostRetryAfterSeconds = 3_600;
/** And how long all others wait with it: most often it is meant for one chat alone. */
export const mostRestMs = 30_000;
/** Told no more that mail cannot be sent: no process has tried it since. */
export const downMs = 300_000;
/** The limits of a subject and a text: Telegram takes 4 096 characters, and nobody reads more. */
export const longestSubject = 150;
export const longestText = 2_000;
/** Events handed out in a transaction. */
export const handOutBatch = 100;
/** Sign-in codes that wait: some 500 a minute for as long as a code is good. */
export const mostCodes = 5_000;
/** How long a stop waits for what is in hand before it is cut off. */
export const stopMs = 5_000;

/** Messages of an account that wait, and more of what a thief would want to drown. */
export function mostWaiting(topic: PeopleTopic): number {
  switch (topic) {
    case 'key.created':
    case 'key.revoked':
    case 'key.expiring':
    case 'session.created':
    case 'swap.reminder':
    case 'chat.ended':
      return 200;
    case 'login.added':
    case 'login.removed':
      return 250;
    case 'payout.changing':
    case 'payout.changed':
    case 'payout.stopped':
    case 'account.deleted':
      return 300;
  }
}

/**
 * The time before a deadline: so long before it a party is reminded, at the earliest at half of its
 * time.
 */
export const reminderSeconds = 1_800;
/** Before its end the owner of a key is told, if it lives for longer. */
export const keyReminderMs = 14 * 86_400_000;
/** Between two looks at deadlines, and at keys. */
export const deadlinesPauseMs = 30_000;
export const keysPauseMs = 600_000;
/** Reminders looked at in a statement, and statements of a kind in one pass. */
export const reminderPage = 200;
export const mostPages = 10;
