// What stands around every screen.

import { Link, Outlet } from '@tanstack/react-router';
import { text } from '../texts/texts.ts';

export function Layout() {
  return (
    <>
      <a className="skip" href="#screen">
        {text('layout.skip')}
      </a>
      <header className="top">
        <Link to="/" className="brand">
          {text('layout.product')}
        </Link>
        <nav aria-label={text('layout.navigation')}>
          <Link to="/">{text('layout.book')}</Link>
          <Link to="/status">{text('layout.status')}</Link>
        </nav>
      </header>
      <main id="screen" tabIndex={-1}>
        <Outlet />
      </main>
    </>
  );
}
