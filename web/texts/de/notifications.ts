// Texts of notifications.

import type { notifications as english } from '../en/notifications.ts';
import type { Words } from '../words.ts';

export const notifications: Words<typeof english> = {
  'notifications.title': 'Benachrichtigungen',
  'notifications.what':
    'Was du erfährst, und wo. Was dich einen Coin oder dein Konto kosten könnte, kommt auf jedem Kanal. Abschalten geht nicht: wer deine Sitzung stiehlt, täte das zuerst.',
  'notifications.channels': 'Wo du es erfährst',
  'notifications.none': 'Niemand könnte dir etwas sagen',
  'notifications.none.why':
    'Dieses Konto hat keine E-Mail-Adresse und keinen Chat. Eine Frist verstriche ungehört. Füge eine E-Mail-Adresse als Login hinzu.',
  'notifications.add': 'Login hinzufügen',
  'notifications.email': 'E-Mail',
  'notifications.telegram': 'Telegram',
  'notifications.on': 'Nachrichten gehen dorthin',
  'notifications.ended':
    'Nachrichten sind beendet: der Bot wurde blockiert, oder der Chat ist weg. Gib ihn frei und melde dich neu damit an.',
  'notifications.provider': '{label} kann Nachrichten bringen: füge es als Login hinzu.',
  'notifications.kinds': 'Was du erfährst',
  'notifications.kind': 'Was',
  'notifications.when': 'Wann',
  'notifications.deadlines': 'Fristen deiner Swaps',
  'notifications.deadlines.when':
    'eine halbe Stunde, bevor du sperren oder abholen musst, oder zur Hälfte der Zeit, wenn das später ist; wenn du abholen kannst und es nicht getan hast; wenn eine Rückzahlung möglich ist',
  'notifications.payout': 'Deine Auszahlung',
  'notifications.payout.when': 'wenn eine Änderung zu warten beginnt, gilt oder gestoppt wird',
  'notifications.logins': 'Logins und Sitzungen',
  'notifications.logins.when':
    'wenn einer hinzukommt oder geht, und bei einer Anmeldung auf einem neuen Gerät',
  'notifications.keys': 'API-Schlüssel',
  'notifications.keys.when':
    'wenn einer erstellt oder widerrufen wird, und zwei Wochen, bevor einer endet',
  'notifications.end': 'Das Ende eines Kanals oder des Kontos',
  'notifications.end.when': 'wenn ein Chat Nachrichten ablehnt, und wenn das Konto gelöscht wird',
  'notifications.never':
    'Keine Nachricht enthält einen Schlüssel, ein Geheimnis oder einen Betrag, und keine fragt nach Code, Phrase oder Zahlung.',
  'notifications.programs': 'Für Programme gibt es Webhooks.',
};
