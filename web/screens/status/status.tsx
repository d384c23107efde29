// The chains as the market sees them.

import { text } from '../../texts/texts.ts';

export function Status() {
  return (
    <section>
      <h1>{text('status.title')}</h1>
    </section>
  );
}
