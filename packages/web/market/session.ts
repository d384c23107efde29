// The account that is signed in. A screen of an account asks `useSession`, or stands inside
// `parts/signed-in.tsx`, which shows the other states. Requests name the account that is shown
// (own-site.ts). Where another tab has signed out, or in as somebody else, all that was read for
// the former account is forgotten. Then the session is asked for again.

import { ParleyApiError } from '@parley/sdk/errors.ts';
import { queryOptions, useQuery } from '@tanstack/react-query';
import { held } from '../live.ts';
import { type Account, account } from './account.ts';
import { market, onGone, queries, show } from './site.ts';

export type SignedInAccount = Account & {
  readonly id: string;
  /** The name that a person knows the account by: its e-mail address, else its first login. */
  readonly name: string;
};

type SessionState =
  | { readonly status: 'loading' }
  | { readonly status: 'none' }
  /** Unknown: no answer came, or a refusal. */
  | { readonly status: 'failed'; readonly error: Error; readonly again: () => void }
  | { readonly status: 'account'; readonly account: SignedInAccount };

async function look(signal: AbortSignal): Promise<Account | null> {
  try {
    const found = await account.me(signal);
    show(found.accountId);
    return found;
  } catch (error) {
    if (!(error instanceof ParleyApiError) || error.status !== 401) throw error;
    show(null);
    return null;
  }
}

const session = queryOptions({
  queryKey: ['session'],
  queryFn: ({ signal }) => look(signal),
});

/** For a press that comes before the session is known: waits for it. null: signed out. */
export function knownSession(): Promise<Account | null> {
  return queries.ensureQueryData(session);
}

export function useSession(): SessionState {
  const { data, error, refetch } = useQuery({
    ...session,
    staleTime: 30_000,
    // A tab that was left asks for the session again when a person comes back to it.
    refetchOnWindowFocus: 'always',
  });
  if (data === null) return { status: 'none' };
  if (data !== undefined) {
    return { status: 'account', account: { ...data, id: data.accountId, name: nameOf(data) } };
  }
  if (error === null) return { status: 'loading' };
  return { status: 'failed', error, again: () => void refetch() };
}

function nameOf({ logins }: Pick<Account, 'logins'>): string {
  const mail = logins.find(({ way }) => way === 'email');
  return (mail ?? logins[0])?.label ?? '';
}

/** After a sign-in, a sign-out, and every change of the account: it is looked again. */
export async function lookAgain(): Promise<void> {
  await queries.invalidateQueries({ queryKey: session.queryKey });
}

/** Windows that stand side by side: one that shows nobody hears of a sign-in beside it. */
const others = 'document' in globalThis ? new BroadcastChannel('parley session') : null;
others?.addEventListener('message', () => {
  if (queries.getQueryData(session.queryKey) === null) void lookAgain();
});

/**
 * Called after a sign-out, and where another account is signed in to: it removes all data of the
 * former.
 */
export async function startAnew(): Promise<void> {
  show(null);
  await queries.cancelQueries();
  await queries.resetQueries();
  others?.postMessage('changed');
}

/** Ends the session of this browser. */
export async function signOut(): Promise<void> {
  await account.signOut();
  await startAnew();
}

/**
 * Whether the account that was displayed has been signed out of elsewhere, or another one was
 * signed in to.
 */
export const replaced = held(false);

onGone(() => {
  replaced.set(true);
  void startAnew();
});

export function useMe(enabled = true) {
  return useQuery({ queryKey: ['me'], queryFn: ({ signal }) => market.me({ signal }), enabled });
}

export function usePayouts() {
  return useQuery({ queryKey: ['payouts'], queryFn: ({ signal }) => account.payouts(signal) });
}
