// Texts of book.

import type { book as english } from '../en/book.ts';
import type { Words } from '../words.ts';

export const book: Words<typeof english> = {
  'book.title': 'Offene Anfragen',
  'book.what':
    'Jede Zeile ist jemand, der tauschen will. Antworte mit deinem Preis; nichts ist verbindlich, bevor beide Seiten annehmen.',
  'book.empty': 'Gerade holt niemand Angebote ein.',
  'book.empty.action': 'Selbst Angebote einholen',
  'book.none': 'Keine offene Anfrage passt zu diesen Filtern.',
  'book.count': '{shown} von {all} offenen Anfragen',
  'book.newest': '{shown} der neuesten {all} offenen Anfragen; ältere sind hier nicht zu sehen',
  'book.chain': 'Chain',
  'book.chain.all': 'Alle Chains',
  'book.word': 'Symbol oder Contract',
  'book.gives': 'Sie geben',
  'book.wants': 'Sie wollen',
  'book.by_quotes': '{asset}, zu deinem Preis',
  'book.unknown': 'ein Coin, der nicht gelistet ist',
  'book.price': 'Verlangter Preis',
  'book.price.of': '{of} für 1 {per}',
  'book.no_price': 'offen',
  'book.closes': 'Endet in',
  'book.answer': 'Antwort',
  'book.go': 'Anbieten',
  'book.go.about': 'Anbieten: sie geben {give} für {want}',
  'book.mine': 'Deine',
};
