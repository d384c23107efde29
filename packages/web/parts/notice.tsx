// A notice to a person: the event, the next step, and the cost of not taking it.

import type { ReactNode } from 'react';
import { text } from '../texts/texts.ts';

type NoticeProps = {
  readonly kind: 'info' | 'good' | 'warn' | 'bad';
  readonly title?: string;
  readonly children?: ReactNode;
  /** A button or link for the next step. */
  readonly action?: ReactNode;
};

/** `bad` and `warn` are said at once by a screen reader when they appear, the others in turn. */
export function Notice({ kind, title, children, action }: NoticeProps) {
  const isUrgent = kind === 'bad' || kind === 'warn';
  return (
    <div className={`notice ${kind}`} role={isUrgent ? 'alert' : 'status'}>
      <span className="unseen">{text(`notice.${kind}`)}</span>
      {title !== undefined && <p className="notice-title">{title}</p>}
      {children !== undefined && <div>{children}</div>}
      {action !== undefined && <div className="actions">{action}</div>}
    </div>
  );
}
