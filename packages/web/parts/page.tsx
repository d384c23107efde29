// The frame of a screen, and an answer of the market in every state: asked, refused, old, there.

import { messageOf, ParleyApiError, StoreError } from '@parley/sdk/errors.ts';
import type { UseQueryResult } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type ReactNode, useEffect } from 'react';
import { config } from '../market/config.ts';
import { formatDuration } from '../texts/people.ts';
import { text } from '../texts/texts.ts';
import { Button, Notice } from './controls.tsx';
import { saidOf } from './fault.ts';
import { signInPath } from './ways/back.ts';

type ScreenProps = {
  title: string;
  children: ReactNode;
  /** One column for reading and forms. */
  narrow?: boolean;
  /** In the place of the title on the screen. */
  heading?: ReactNode;
  /** Beside the heading. */
  aside?: ReactNode;
};

export function Screen({ title, children, narrow = false, heading = title, aside }: ScreenProps) {
  useEffect(() => {
    document.title = `${title} · ${config.productName}`;
  }, [title]);
  return (
    <section className={narrow ? 'screen narrow' : 'screen'}>
      <div className="screen-head">
        <h1 tabIndex={-1}>{heading}</h1>
        {aside}
      </div>
      {children}
    </section>
  );
}

export function Loading() {
  return (
    <p role="status" className="loading">
      {text('common.loading')}
    </p>
  );
}

/** An empty list or page: why that is so, and the next step. */
export function Empty({ children, action }: { children: ReactNode; action?: ReactNode }) {
  return (
    <div className="empty">
      <p>{children}</p>
      {action !== undefined && <div className="actions">{action}</div>}
    </div>
  );
}

/** An error as a person meets it; null draws nothing. The market's words are never taken for markup. */
export function Failed({ error, again }: { error: unknown; again?: (() => void) | undefined }) {
  if (error === null) return null;
  const retry = again && <Button onPress={again}>{text('failed.again')}</Button>;
  if (error instanceof StoreError && storeless.has(error.code)) return <NoStorage retry={retry} />;
  const answer = error instanceof ParleyApiError ? error : null;
  if (answer?.status === 401) {
    return (
      <Notice kind="info" title={text('failed.signed_out')} action={<SignIn />}>
        {text('failed.signed_out.why')}
      </Notice>
    );
  }
  if (answer?.status === 429) {
    const wait = formatDuration(answer.retryAfterSeconds ?? 60);
    return <Notice kind="warn" title={text('failed.too_many', { wait })} action={retry} />;
  }
  if (answer?.status === 404) {
    return (
      <Notice kind="info" title={text('failed.none')} action={retry}>
        {text('failed.none.why', { why: answer.message })}
      </Notice>
    );
  }
  if (answer?.unreachable) {
    return (
      <Notice kind="warn" title={text('failed.unreachable')} action={retry}>
        {text('failed.unreachable.safe')}
      </Notice>
    );
  }
  const { kind, title } = saidOf(error);
  return (
    <Notice kind={kind} title={text(title)} action={retry}>
      <span lang="en">{messageOf(error)}</span>
    </Notice>
  );
}

/** Codes of a browser that keeps nothing; others pass, or want another tab closed. */
const storeless: ReadonlySet<string> = new Set(['unsupported', 'failed', 'full']);

function NoStorage({ retry }: { retry: ReactNode }) {
  return (
    <Notice kind="warn" title={text('no_storage')} action={retry}>
      <p>{text('no_storage.why')}</p>
      <p>{text('no_storage.works')}</p>
      <p>{text('no_storage.mend')}</p>
    </Notice>
  );
}

function SignIn() {
  const { pathname, search } = window.location;
  return (
    <Link className="button" to={signInPath(`${pathname}${search}`)}>
      {text('failed.sign_in')}
    </Link>
  );
}

type AnswerProps<T> = {
  of: Pick<UseQueryResult<T>, 'data' | 'error' | 'refetch'>;
  children: (data: T) => ReactNode;
};

/** Data that is there stays, and is marked as old where it could not be asked again. */
export function Answer<T>({ of, children }: AnswerProps<T>) {
  const { data, error, refetch } = of;
  const again = () => void refetch();
  if (data === undefined)
    return error === null ? <Loading /> : <Failed error={error} again={again} />;
  return (
    <>
      {error !== null && (
        <Notice
          kind="warn"
          title={text('failed.old')}
          action={<Button onPress={again}>{text('failed.again')}</Button>}
        >
          <span lang="en">{messageOf(error)}</span>
        </Notice>
      )}
      {children(data)}
    </>
  );
}
