// The page at an address without a screen.

import { Link } from '@tanstack/react-router';
import { Screen } from '../parts/screen.tsx';
import { text } from '../texts/texts.ts';

export function Missing() {
  return (
    <Screen title={text('missing.title')} narrow>
      <p>{text('missing.why')}</p>
      <Link to="/">{text('missing.back')}</Link>
    </Screen>
  );
}
