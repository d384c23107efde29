// A screen that failed: what happened, and that no money moved by it.

import type { ErrorComponentProps } from '@tanstack/react-router';
import { messageOf } from '../../sdk/errors.ts';
import { text } from '../texts/texts.ts';

export function Fault({ error, reset }: ErrorComponentProps) {
  return (
    <section role="alert">
      <h1>{text('fault.title')}</h1>
      <p>{text('fault.safe')}</p>
      <pre>{messageOf(error)}</pre>
      <button type="button" onClick={reset}>
        {text('fault.again')}
      </button>
    </section>
  );
}
