// Texts of activity: the account's swaps.

import type { activity as english } from '../en/activity.ts';
import type { Words } from '../words.ts';

export const activity: Words<typeof english> = {
  'activity.title': 'Verlauf',
  'activity.what': 'Jeder Swap dieses Kontos, der neueste zuerst.',
  'activity.none': 'Es gibt noch keinen Swap.',
  'activity.none.found': 'Kein Swap passt zu deiner Suche.',
  'activity.clear': 'Alle zeigen',
  'activity.search': 'Suche',
  'activity.search.hint': 'Nummer, Coin, Adresse, Transaktion',
  'activity.status': 'Stand',
  'activity.status.all': 'Alle',
  'activity.status.open': 'Offen',
  'activity.status.settled': 'Erledigt',
  'activity.status.refunded': 'Zurückgezahlt',
  'activity.status.expired': 'Abgelaufen',
  'activity.chain': 'Chain',
  'activity.chain.any': 'Jede Chain',
  'activity.from': 'Vereinbart von',
  'activity.to': 'Vereinbart bis',
  'activity.at': 'Vereinbart',
  'activity.gave': 'Du gibst',
  'activity.got': 'Du bekommst',
  'activity.state': 'Stand',
  'activity.swap': 'Swap',
  'activity.count': '{shown} von {all} Swaps',
  'activity.cut': 'Die neuesten {most} sind zu sehen; es gibt mehr.',
  'activity.csv': 'Als CSV speichern',
  'activity.csv.done': {
    one: '{count} Swap gespeichert als {name}.',
    other: '{count} Swaps gespeichert als {name}.',
  },
  'activity.agreed': 'vereinbart, nichts gesperrt',
  'activity.initiator_funded': 'eine Seite gesperrt',
  'activity.counterparty_funded': 'beide Seiten gesperrt',
  'activity.initiator_claimed': 'Geheimnis öffentlich, eine Seite abgeholt',
  'activity.counterparty_claimed': 'erledigt',
  'activity.refunded': 'zurückgezahlt',
  'activity.half_settled': 'eine Seite abgeholt, eine zurückgezahlt',
  'activity.expired': 'abgelaufen, nichts gesperrt',
};
