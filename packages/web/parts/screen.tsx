// The beginning of every screen: its heading, which takes the focus when one comes to it.

import { type ReactNode, useEffect } from 'react';
import { config } from '../market/config.ts';

export type ScreenProps = {
  readonly title: string;
  readonly children: ReactNode;
  /** One column for reading and forms. */
  readonly narrow?: boolean;
  /** Beside the heading. */
  readonly aside?: ReactNode;
};

export function Screen({ title, children, narrow = false, aside }: ScreenProps) {
  useEffect(() => {
    document.title = `${title} · ${config.productName}`;
  }, [title]);
  return (
    <section className={narrow ? 'screen narrow' : 'screen'}>
      <div className="screen-head">
        <h1 tabIndex={-1}>{title}</h1>
        {aside}
      </div>
      {children}
    </section>
  );
}
