// The public requests for quotes, live: a part of the market, for makers. Each one is quoted on its
// own screen.

import { Link } from '@tanstack/react-router';
import { useAssets } from '../../market/answers.ts';
import { useLiveBook } from '../../market/live-book.ts';
import { BookTable } from '../../parts/book-table.tsx';
import { Answer, Screen } from '../../parts/page.tsx';
import { SignedIn } from '../../parts/signed-in.tsx';
import { text } from '../../texts/texts.ts';

export function Book() {
  return (
    <Screen title={text('book.title')} aside={<Link to="/markets">{text('market.all')}</Link>}>
      <p className="soft">{text('book.what')}</p>
      <SignedIn>{() => <Open />}</SignedIn>
    </Screen>
  );
}

function Open() {
  const assets = useAssets();
  const live = useLiveBook();
  return <Answer of={assets}>{(known) => <BookTable live={live} assets={known} />}</Answer>;
}
