// A part of the screen that is closed at first: its name, its state in a word, and the rest inside.

import type { ReactNode } from 'react';

type FoldProps = {
  title: string;
  /** Beside the name, such as `12 of 12`. */
  status?: string;
  tone?: 'good' | 'warn' | 'bad';
  isOpen?: boolean;
  children: ReactNode;
};

export function Fold({ title, status, tone, isOpen = false, children }: FoldProps) {
  const look = tone === undefined ? 'value' : `value ${tone}-ink`;
  return (
    <details className="fold" open={isOpen}>
      <summary>
        <span>{title}</span>
        {status !== undefined && <span className={look}>{status}</span>}
      </summary>
      <div>{children}</div>
    </details>
  );
}
