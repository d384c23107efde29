// A part of a screen that is closed at first: its name, its state in a word, and the rest inside.

import type { ReactNode } from 'react';

type FoldProps = {
  title: ReactNode;
  /** Beside the name, such as `12 of 12`. */
  value?: ReactNode;
  tone?: 'good' | 'warn' | 'bad';
  /** It is open as long as that holds. */
  isOpen?: boolean;
  children: ReactNode;
};

export function Fold({ title, value, tone, isOpen = false, children }: FoldProps) {
  const look = tone === undefined ? 'value' : `value ${tone}-ink`;
  return (
    <details className="fold" open={isOpen}>
      <summary>
        <span>{title}</span>
        {value !== undefined && <span className={look}>{value}</span>}
      </summary>
      <div>{children}</div>
    </details>
  );
}
