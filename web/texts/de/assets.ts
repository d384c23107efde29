// Texts of assets: what is traded, and asking for a token to be listed.

import type { assets as english } from '../en/assets.ts';
import type { Words } from '../words.ts';

export const assets: Words<typeof english> = {
  'assets.title': 'Coins',
  'assets.what':
    'Was hier gehandelt werden kann. Zwei Token können dasselbe Symbol haben: welcher es ist, sagt der Contract.',
  'assets.search': 'Suche',
  'assets.search.hint': 'Symbol, Chain oder Contract',
  'assets.symbol': 'Symbol',
  'assets.chain': 'Chain',
  'assets.contract': 'Contract',
  'assets.native': 'der eigene Coin der Chain',
  'assets.kind': 'Gelistet',
  'assets.kind.verified': 'von diesem Markt gewählt',
  'assets.kind.api': 'auf Wunsch, nach Prüfungen',
  'assets.kind.launchpad': 'vom Launchpad {name}, nach Prüfungen',
  'assets.open': 'Handel',
  'assets.open.yes': 'offen',
  'assets.open.no': 'vorerst geschlossen',
  'assets.none': 'Nichts passt zu deiner Suche.',
  'assets.count': '{shown} von {all} Coins',
  'assets.more': 'Mehr zeigen',
  'listing.title': 'Einen Token listen lassen',
  'listing.what':
    'Das darf jeder. Der Token wird auf seiner Chain geprüft: kommt der ganze Betrag an, kann ihn jemand sperren oder wegnehmen, kann sein Code ersetzt werden. Was besteht, wird sofort gelistet und jeden Tag neu geprüft.',
  'listing.chain': 'Chain',
  'listing.address': 'Contract oder Mint des Tokens',
  'listing.go': 'Prüfen und listen',
  'listing.going': 'Er wird auf seiner Chain geprüft. Das dauert bis zu einer halben Minute.',
  'listing.again': 'Noch einmal fragen',
  'listing.again.label': 'Noch einmal fragen: {address}',
  'listing.forget': 'Vergessen',
  'listing.forget.label': 'Vergessen: {address}',
  'listing.asked': 'Was du in diesem Browser gefragt hast',
  'listing.at': 'Gefragt',
  'listing.listed': '{symbol} ist gelistet und kann gehandelt werden.',
  'listing.pending':
    'Jetzt nicht. Er wird sieben Tage lang jede Stunde neu geprüft; frag dann noch einmal.',
  'listing.pending.slow':
    'Die Prüfung dauert länger als eine Anfrage und läuft weiter. Frag in einer Minute noch einmal.',
  'listing.closed':
    'Er ist gelistet und vorerst geschlossen. Er öffnet von selbst, wenn er wieder besteht.',
  'listing.refused': 'Er kann hier nie gehandelt werden.',
  'listing.found': 'Was die Prüfungen gefunden haben',
  'listing.not_checked': 'Hier nicht geprüft, weil niemand zu fragen ist: {checks}',
};
