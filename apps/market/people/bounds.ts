// Limits of accounts of people, in one place.

import { codeDays, deviceDays, idleDays } from '../market/bounds.ts';

export const minuteMs = 60_000;
const dayMs = 86_400_000;

export const idleMs = idleDays * dayMs;
export const sessionMs = 90 * dayMs;
/** How long a sign-in counts for what only a fresh session may do. */
export const freshMs = 10 * minuteMs;
/** How long a sign-in that was begun waits for its proof. */
export const ceremonyMs = 10 * minuteMs;
/** Live sessions of an account: the one used longest ago makes room. */
export const mostSessions = 50;
export const mostLogins = 20;
/** Removed logins of an account whose people still hear what happens. */
export const mostFormerChannels = 20;
export const mostWaiting = 10;
/** Between two looks at what waited; and how many in a statement. */
export const passingPauseMs = 30_000;
export const passingPage = 100;
/** Six digits have a million values. */
export const codeTries = 5;
/** Short codes of a mailbox: 100 guesses a day for strangers, half of them to one network. */
export const codeLimits = [
  { most: 10, ofNetwork: 5, ms: 60 * minuteMs },
  { most: 20, ofNetwork: 10, ms: codeDays * dayMs },
] as const;
/**
 * Beyond them nobody is refused, or else a stranger who asks would keep the owner out: the code is
 * one that no guess finds, and good in each browser that asks for it meanwhile. So long it lives,
 * and so long no other one is sent.
 */
export const longCodeMs = 60 * minuteMs;
export const longCodePauseMs = 30 * minuteMs;
/** RFC 5321, 4.5.3.1.3: 256 with its angle brackets. */
export const longestAddress = 254;
export const deviceMs = deviceDays * dayMs;
export const longestLabel = 100;
/** A ticket for the maker feed: long enough to open a socket with it. */
export const ticketMs = 30_000;
/** Tickets of a session that are good at once: the oldest makes room. */
export const mostTickets = 20;
