// Tickets for the maker feed. A browser cannot send a header with a WebSocket, and a cookie would
// go along with any page's: so a page asks for a ticket first, which is shown in the first frame.

import { insertTicket, takeTicket } from '../db/feed-tickets.ts';
import type { Session } from '../db/sessions.ts';
import { base62 } from '../market/keys.ts';
import type { Deps } from '../ports/deps.ts';
import { mostTickets, ticketMs } from './bounds.ts';
import { hashOf } from './sessions.ts';

const ticketBytes = 32;

function ticketPrefix(shortName: string): string {
  return `${shortName}_ticket_`;
}

/** Whether a text has the form of one, so that a key is never looked for among them. */
export function isTicket({ shortName }: { readonly shortName: string }, text: string): boolean {
  const start = ticketPrefix(shortName);
  return text.startsWith(start) && /^[0-9A-Za-z]{43}$/.test(text.slice(start.length));
}

type Ticket = { readonly ticket: string; readonly expiresAt: Date };

export async function issueTicket(
  { db, settings, now, randomBytes }: Pick<Deps, 'db' | 'settings' | 'now' | 'randomBytes'>,
  session: Session,
): Promise<Ticket> {
  const ticket = ticketPrefix(settings.shortName) + base62(randomBytes(ticketBytes));
  const expiresAt = new Date(now() + ticketMs);
  await insertTicket(db, { hash: hashOf(ticket), sessionId: session.id, expiresAt }, mostTickets);
  return { ticket, expiresAt };
}

/** Uses it up; the hash of its session's token, or null where it is good no more. */
export function useTicket(
  { db, now }: Pick<Deps, 'db' | 'now'>,
  ticket: string,
): Promise<Buffer | null> {
  return takeTicket(db, hashOf(ticket), new Date(now()));
}
