// Small things that a browser remembers of a page. One that keeps nothing remembers them as long as
// the page is open.

type Shelf = 'localStorage' | 'sessionStorage';

const here = new Map<string, string>();

export function recalled(shelf: Shelf, name: string): string | null {
  const held = here.get(`${shelf} ${name}`);
  if (held !== undefined) return held;
  try {
    return globalThis[shelf].getItem(name);
  } catch {
    return null;
  }
}

/** null: forgotten. */
export function remember(shelf: Shelf, name: string, value: string | null): void {
  here.delete(`${shelf} ${name}`);
  try {
    if (value === null) globalThis[shelf].removeItem(name);
    else globalThis[shelf].setItem(name, value);
  } catch {
    if (value !== null) here.set(`${shelf} ${name}`, value);
  }
}
