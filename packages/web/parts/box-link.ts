// Links that fill in the swap box: one that a stranger wrote is warned of, and each fills the form in
// once a press, since the form is drawn anew after a sign-in.

import { recalled, remember } from '../texts/remembered.ts';

const taken = 'parley.link';
const own = 'parley.own-link';

/** The person may have typed other amounts since this tab took the link. */
export function isLinkTaken(hash: string): boolean {
  return hash !== '' && recalled('sessionStorage', taken) === hash;
}

export function takeLink(hash: string): void {
  remember('sessionStorage', taken, hash);
}

/** The person pressed a button of this app that fills the form in. */
export function ownLink(hash: string): void {
  remember('sessionStorage', own, hash);
  remember('sessionStorage', taken, null);
}

export function isOwnLink(hash: string): boolean {
  return recalled('sessionStorage', own) === hash;
}
