// What stands where no screen is.

import { Link } from '@tanstack/react-router';
import { text } from '../texts/texts.ts';

export function Missing() {
  return (
    <section>
      <h1>{text('missing.title')}</h1>
      <Link to="/">{text('missing.back')}</Link>
    </section>
  );
}
